"""Sentences of two languages, some or all of which are translations of each other."""

from dataclasses import dataclass
from random import Random

from .events import Split
from .lexicon import Lexicon
from .statements import Statement, draw_statements, text_of

_FACTS = 0.3


@dataclass(frozen=True, slots=True)
class ComparableCorpus:
    """The statements of both sides of a comparable corpus, in order."""

    source: tuple[Statement, ...]
    target: tuple[Statement, ...]


def aligned_statements(seed: str, split: Split, count: int) -> list[Statement]:
    """Draw statements to be retrieved in two languages."""
    return draw_statements(seed, split, count, facts=_FACTS)


def comparable_corpus(seed: str, split: Split, pairs: int, others: int) -> ComparableCorpus:
    """Draw two sides that share some statements and have others of their own."""
    said = draw_statements(seed, split, pairs + 2 * others, facts=_FACTS)
    both, mine, yours = said[:pairs], said[pairs : pairs + others], said[pairs + others :]
    source, target = [*both, *mine], [*both, *yours]
    Random(f"{seed} {split} source").shuffle(source)
    Random(f"{seed} {split} target").shuffle(target)
    return ComparableCorpus(tuple(source), tuple(target))


def corpus_file(lexicon: Lexicon, said: tuple[Statement, ...]) -> str:
    """Return a file with one id and sentence per line."""
    return "".join(
        f"{_id(lexicon.code, i)}\t{text_of(lexicon, saying)}\n" for i, saying in enumerate(said)
    )


def gold_file(mined: ComparableCorpus, code: str) -> str:
    """Return a file with the ids of translations."""
    places = {saying: i for i, saying in enumerate(mined.target)}
    return "".join(
        f"{_id(code, i)}\t{_id('en', places[saying])}\n"
        for i, saying in enumerate(mined.source)
        if saying in places
    )


def _id(code: str, number: int) -> str:
    return f"{code}-{number + 1:09d}"
