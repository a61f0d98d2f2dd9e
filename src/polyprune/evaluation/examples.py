"""The examples of tasks: sentence pairs, tagged sentences, questions, translations."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Two sentences and the label of their relation, or one text and its label."""

    first: str
    second: str | None
    """None if there is one text only."""
    label: str | float | tuple[str, ...] | None = None
    """A number in regression, several labels where there may be any number; None if the file has
    none.
    """


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """A sentence of words, each with a tag."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    """None if the file has none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and its position in the context."""

    text: str
    start: int
    """The index of its first character."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a text that contains its answer."""

    id: str
    question: str
    context: str
    answers: tuple[Answer, ...] = ()
    """None if the file has none."""


@dataclass(frozen=True, slots=True)
class Bitext:
    """Sentences of a language and of English, some of which are translations of each other."""

    sources: tuple[str, ...]
    """The sentences of the language."""
    targets: tuple[str, ...]
    """The sentences of English."""
    source_ids: tuple[str, ...]
    target_ids: tuple[str, ...]
    gold: tuple[tuple[str, str], ...] | None = None
    """Source and target ids of the translations; None if the files have none."""

    @classmethod
    def aligned(cls, pairs: Sequence[tuple[str, str]]) -> "Bitext":
        """Return sentences with their translations, the latter in the order of the alphabet."""
        numbers = tuple(map(str, range(len(pairs))))
        order = sorted(range(len(pairs)), key=lambda i: pairs[i][1])
        return cls(
            sources=tuple(source for source, _ in pairs),
            targets=tuple(pairs[i][1] for i in order),
            source_ids=numbers,
            target_ids=numbers,
            gold=tuple(zip(map(str, order), numbers, strict=True)),
        )


TaskExample = SentencePair | TaggedSentence | Question | Bitext


class UniqueIds:
    """Makes ids unique: the second occurrence of an id gets `#2`, and so on."""

    def __init__(self):
        self._times = Counter[str]()

    def __call__(self, name: str) -> str:
        """Return the unique id."""
        self._times[name] += 1
        count = self._times[name]
        return name if count == 1 else f"{name}#{count}"
