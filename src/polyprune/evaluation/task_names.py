"""The names of XTREME's nine tasks and their regimes: what is known without a model."""

from dataclasses import dataclass

from ..errors import Spellings, UnknownName


@dataclass(frozen=True, slots=True)
class TaskName:
    """How a task is called, and whether models are fine-tuned for it."""

    title: str
    """The name in papers."""
    also: tuple[str, ...] = ()
    """Alternative names."""
    fine_tuned: bool = True


TASK_NAMES = {
    "xnli": TaskName("XNLI"),
    "pawsx": TaskName("PAWS-X"),
    "udpos": TaskName("POS", ("pos", "ud-pos")),
    "panx": TaskName("NER", ("ner", "wikiann", "pan-x")),
    "xquad": TaskName("XQuAD"),
    "mlqa": TaskName("MLQA"),
    "tydiqa": TaskName("TyDiQA", ("tydiqa-goldp", "tydi")),
    "bucc2018": TaskName("BUCC", ("bucc",), fine_tuned=False),
    "tatoeba": TaskName("Tatoeba", fine_tuned=False),
}
"""The tasks by the names of XTREME's folders, in the order of the paper's tables."""


REGIMES = {
    "transfer": "English alone, evaluated in every language",
    "translate-train-all": "all languages together: translations or, for POS and NER, people's own",
}
"""What models are fine-tuned on."""


def find_task_name(name: str) -> str:
    """Return the name of the task with this name, title or alternative name."""
    spellings = Spellings()
    for own, task in TASK_NAMES.items():
        for spelling in (own, task.title, *task.also):
            spellings.setdefault(spelling.casefold(), own)
    found = spellings.get(name.casefold())
    if found is None:
        raise UnknownName("task", name, spellings, "All nine: polyprune ls tasks.")
    return found
