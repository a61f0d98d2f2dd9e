"""XTREME's nine tasks, each one record."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

from ..errors import UnknownName
from .examples import TaskExample
from .prediction_formats import ANSWERS, LABELS, LINES, PAIRS, TAGS, PredictionFormat
from .readers import bitext_files, pair_files, question_files, tagged_files
from .readers.language_codes import LANGUAGES
from .readers.splits import Split
from .retrieval_types import BitextMining, TranslationSearch
from .score_functions import accuracy_score, chunk_score, mlqa_score, pair_score, squad_score
from .task_names import TASK_NAMES, find_task_name
from .task_types import FineTunedTask, PairClassification, SpanExtraction, TaskType, TokenTagging


@runtime_checkable
class TaskReader(Protocol):
    """What reads a task's examples: XTREME's own `Reader`, or that of a task of one's own."""

    def read(self, data: str, split: Split, language: str) -> Iterator[TaskExample]:
        """Read the examples of one language lazily."""
        ...

    def languages(self, data: str, split: Split, known: Sequence[str]) -> list[str]:
        """Return which of these languages have data."""
        ...

    def looked_for(self, data: str, split: Split, language: str) -> list[str]:
        """Return where the data of a language is searched, in order."""
        ...


Group = Literal["classification", "tagging", "question answering", "retrieval"]


@dataclass(frozen=True, slots=True)
class TaskDefaults:
    """A task's default hyperparameters: the paper's, or XTREME's where the paper gives none."""

    epochs: int = 5
    """Epochs on English alone; on all languages there are three."""
    learning_rate: float = 2e-5
    weight_decay: float = 0.0
    warmup: int = 0
    """Warmup steps, at most a tenth of all."""
    every: int = 500
    """Steps between evaluations on dev, at most an epoch."""
    final: Literal["best", "last"] = "best"
    """Which model is kept: the best on dev, or the last."""
    search: bool = True
    """Whether hyperparameters may be chosen on dev: not if it is the test set as well."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task: its type, data, metric and defaults."""

    name: str
    """The name of XTREME's folder, or of one's own."""
    title: str
    """The name in papers."""
    group: Group
    kind: TaskType
    reader: TaskReader
    languages: tuple[str, ...]
    """The languages that the task is scored in."""
    score: Callable[[Any, Any, str], dict[str, float]]
    """Maps gold, predictions and language to scores in percent, the main one first."""
    format: PredictionFormat
    """The format of prediction files."""
    labels: tuple[str, ...] = ()
    defaults: TaskDefaults | None = None
    """The default hyperparameters; None if nothing is trained."""
    version: int | str = 1
    """Increased whenever scores change: results of different versions cannot be compared."""
    regime: str = "transfer"
    """What models are fine-tuned on unless something else is asked for."""
    check_gold: Callable[[Any, str], None] | None = None
    """Raises if labels cannot be scored; it is given their place for the message."""
    metric: str = ""
    """What the main score is called, where tables do not know."""
    data: str = ""
    """Where its data is, if not where that of all tasks is."""

    def record(self) -> dict[str, Any]:
        """Return what is known of the task, as JSON."""
        return {
            "task": self.name,
            "title": self.title,
            "group": self.group,
            "readout": self.kind.readout.name,
            "languages": self.languages,
            "labels": self.labels,
            "trained": self.defaults is not None,
            "version": self.version,
        }

    @property
    def option(self) -> str:
        """How the task is named on the command line."""
        return f"--data {self.data}" if self.data else f"--task {self.name}"

    def identity(self) -> dict[str, Any]:
        """Return what makes a task of one's own another one, as JSON; nothing for XTREME's."""
        return {} if not self.metric else {"labels": self.labels, "metric": self.metric}

    def find(self, data: str, split: Any, languages: Sequence[str] | None) -> list[str]:
        """Return the languages to read: those named, or all of the task that have data."""
        if languages is None:
            # If there is none at all, reading the first says where it was looked for.
            return self.reader.languages(data, split, self.languages) or [self.languages[0]]
        for code in languages:
            if code not in self.languages:
                known = ", ".join(self.languages)
                raise UnknownName(
                    f"language of {self.title}", code, self.languages, f"There are: {known}."
                )
        return list(dict.fromkeys(languages))


UPOS = (
    "O", "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON",
    "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X", "_",
)  # fmt: skip
"""`O` is there because the official scripts add it; `_` is the tag of words left out."""

IOB2 = ("B-LOC", "B-ORG", "B-PER", "I-LOC", "I-ORG", "I-PER", "O")

_QA = TaskDefaults(learning_rate=3e-5, weight_decay=1e-4, warmup=500, every=1000, final="last")


def _xtreme(name: str, **rest: Any) -> Task:
    """Return a task of XTREME, with its title and its languages."""
    return Task(name, TASK_NAMES[name].title, languages=LANGUAGES[name], **rest)


_ALL = (
    _xtreme(
        name="xnli",
        group="classification",
        kind=PairClassification(),
        reader=pair_files.XNLI,
        score=accuracy_score,
        format=LABELS,
        labels=("contradiction", "entailment", "neutral"),
        defaults=TaskDefaults(every=100),
    ),
    _xtreme(
        name="pawsx",
        group="classification",
        kind=PairClassification(),
        reader=pair_files.PAWSX,
        score=accuracy_score,
        format=LABELS,
        labels=("0", "1"),
        defaults=TaskDefaults(every=200),
    ),
    _xtreme(
        name="udpos",
        group="tagging",
        kind=TokenTagging(),
        reader=tagged_files.UDPOS,
        score=chunk_score,
        format=TAGS,
        labels=UPOS,
        defaults=TaskDefaults(epochs=10, every=500),
    ),
    _xtreme(
        name="panx",
        group="tagging",
        kind=TokenTagging(),
        reader=tagged_files.PANX,
        score=chunk_score,
        format=TAGS,
        labels=IOB2,
        defaults=TaskDefaults(epochs=10, every=1000),
    ),
    _xtreme(
        name="xquad",
        group="question answering",
        kind=SpanExtraction(),
        reader=question_files.XQUAD,
        score=squad_score,
        format=ANSWERS,
        defaults=_QA,
    ),
    _xtreme(
        name="mlqa",
        group="question answering",
        kind=SpanExtraction(),
        reader=question_files.MLQA,
        score=mlqa_score,
        format=ANSWERS,
        defaults=_QA,
    ),
    _xtreme(
        name="tydiqa",
        group="question answering",
        kind=SpanExtraction(),
        reader=question_files.TYDIQA,
        score=squad_score,
        format=ANSWERS,
        defaults=replace(_QA, search=False),
    ),
    _xtreme(
        name="bucc2018",
        group="retrieval",
        kind=BitextMining(),
        reader=bitext_files.BUCC,
        score=pair_score,
        format=PAIRS,
    ),
    _xtreme(
        name="tatoeba",
        group="retrieval",
        kind=TranslationSearch(),
        reader=bitext_files.TATOEBA,
        score=accuracy_score,
        format=LINES,
    ),
)

TASKS = {each.name: each for each in _ALL}
"""The tasks by name, in the order of the paper's tables."""


def find_task(name: str) -> Task:
    """Return the task with this name or alternative name."""
    return TASKS[find_task_name(name)]


def fine_tuned_type(task: Task) -> FineTunedTask:
    """Return a task's type, which must be one that a model is fine-tuned for."""
    assert isinstance(task.kind, FineTunedTask)
    return task.kind
