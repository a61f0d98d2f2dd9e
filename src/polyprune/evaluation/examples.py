"""What tasks are made of: pairs of sentences, tagged words, questions, translations."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Two sentences, and what is between them."""

    first: str
    second: str
    label: str | None = None
    """None where the file does not tell."""


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """A sentence of words, each with a tag."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    """None where the file does not tell."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Where in a context an answer is."""

    text: str
    start: int
    """Of its first character."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a text that contains its answer."""

    id: str
    question: str
    context: str
    answers: tuple[Answer, ...] = ()
    """None where the file does not tell."""


@dataclass(frozen=True, slots=True)
class Bitext:
    """Sentences of a language and of English, some of which are translations of each other."""

    sources: tuple[str, ...]
    """Of the language."""
    targets: tuple[str, ...]
    """Of English."""
    source_ids: tuple[str, ...]
    target_ids: tuple[str, ...]
    gold: tuple[tuple[str, str], ...] | None = None
    """Source and target ids of the translations; None where the files do not tell."""


TaskExample = SentencePair | TaggedSentence | Question | Bitext
