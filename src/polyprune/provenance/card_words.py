"""Names and numbers as a card writes them."""

from ..model.history import ModelSize
from .card_facts import CardFacts
from .markdown import code, plain

PRECISIONS = {"float32": "single", "float16": "half", "bfloat16": "half"}


def is_cut(facts: CardFacts) -> bool:
    """Whether the encoder is smaller than it was."""
    before, size = facts.story.before, facts.size
    if facts.gating or before is None:
        return False
    return (before.heads, before.units, before.rank) != (size.heads, size.units, size.rank)


def base_of(facts: CardFacts) -> str:
    """The original's name."""
    return facts.story.base or facts.name


def named(facts: CardFacts) -> str:
    """The original's name, as it would be typed."""
    return code(base_of(facts))


def several(facts: CardFacts, codes: tuple[str, ...]) -> str:
    """Languages by name, or by code where nobody knows names."""
    listed = ", ".join(language(facts, each) for each in codes)
    return listed if len(codes) < 4 else f"{len(codes)} languages: {listed}"


def language(facts: CardFacts, each: str) -> str:
    """A language by name and code."""
    name = facts.names.get(each)
    return plain(each) if name is None or name == each else f"{plain(name)} ({plain(each)})"


def layers(size: ModelSize) -> str:
    """How many there are."""
    return f"{len(size.heads)} layer{'' if len(size.heads) == 1 else 's'}"


def precision(facts: CardFacts) -> str:
    """What a number takes: ` in half precision`."""
    word = PRECISIONS.get(facts.precision)
    return f" in {word} precision" if word else ""


def millions(count: int) -> str:
    """A number of parameters as people say it."""
    return f"{count / 1e6:.1f} million" if count >= 1e5 else f"{count:,}"


def megabytes(count: int) -> str:
    """A size in MB."""
    return f"{count / 1e6:,.1f} MB"
