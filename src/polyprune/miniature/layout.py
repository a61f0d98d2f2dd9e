"""Which languages and how many examples each task has, as XTREME's folders hold them."""

from dataclasses import dataclass


def _codes(text: str) -> tuple[str, ...]:
    return tuple(text.split())


LANGUAGES: dict[str, tuple[str, ...]] = {
    "xnli": _codes("ar bg de el en es fr hi ru sw th tr ur vi zh"),
    "pawsx": _codes("de en es fr zh"),
    "udpos": _codes("ar bg de el en es fr hi ru th tr ur vi zh"),
    "panx": _codes("ar bg de el en es fr hi ru sw th tr ur vi zh"),
    "xquad": _codes("ar de el en es hi ru th tr vi zh"),
    "mlqa": _codes("ar de en es hi vi zh"),
    "tydiqa": _codes("ar en ru sw"),
    "bucc2018": _codes("de fr ru zh"),
    "tatoeba": _codes("ar bg de el es fr hi ru sw th tr ur vi zh"),
}
"""The languages of each task: those of XTREME for which the miniature may have a lexicon."""


@dataclass(frozen=True, slots=True)
class TaskSizes:
    """The number of examples of each task."""

    xnli: int = 3000
    pawsx: int = 2000
    tagged: int = 1500
    """Training sentences of each tagging task."""
    passages: int = 750
    """Training passages, with two questions each."""
    held_out: int = 200
    """Examples of dev and of test; half as many passages."""
    tatoeba: int = 300
    bucc: int = 150
    """Pairs of translations."""
    bucc_others: int = 350
    """Sentences on each side that have no translation."""

    def of(self, training: int, split: str) -> int:
        """Return the number of examples in a split."""
        return training if split == "train" else self.held_out
