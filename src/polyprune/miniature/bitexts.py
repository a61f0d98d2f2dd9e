"""Sentences of two languages, some or all of which are translations of each other."""

from dataclasses import dataclass
from random import Random

from .events import Split
from .lexicon import Lexicon
from .sayings import Saying, sayings, written

_FACTS = 0.3


@dataclass(frozen=True, slots=True)
class Mined:
    """What two sides of a comparable corpus say, in the order in which they say it."""

    source: tuple[Saying, ...]
    target: tuple[Saying, ...]


def aligned(seed: str, split: Split, count: int) -> list[Saying]:
    """Sentences to be found in two languages."""
    return sayings(seed, split, count, facts=_FACTS)


def comparable(seed: str, split: Split, pairs: int, others: int) -> Mined:
    """Two sides with some sentences in common, and others of their own among them."""
    said = sayings(seed, split, pairs + 2 * others, facts=_FACTS)
    both, mine, yours = said[:pairs], said[pairs : pairs + others], said[pairs + others :]
    source, target = [*both, *mine], [*both, *yours]
    Random(f"{seed} {split} source").shuffle(source)
    Random(f"{seed} {split} target").shuffle(target)
    return Mined(tuple(source), tuple(target))


def side(lexicon: Lexicon, said: tuple[Saying, ...]) -> str:
    """A file with an id and a sentence a line."""
    return "".join(
        f"{_id(lexicon.code, i)}\t{written(lexicon, saying)}\n" for i, saying in enumerate(said)
    )


def gold(mined: Mined, code: str) -> str:
    """A file with the ids of translations."""
    places = {saying: i for i, saying in enumerate(mined.target)}
    return "".join(
        f"{_id(code, i)}\t{_id('en', places[saying])}\n"
        for i, saying in enumerate(mined.source)
        if saying in places
    )


def _id(code: str, number: int) -> str:
    return f"{code}-{number + 1:09d}"
