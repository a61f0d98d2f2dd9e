"""What a model reads of an example: tokens, and what it is to say about them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class EncodedInput:
    """One input of a model: an example, or a part of one that is too long."""

    example: int
    """Its number among those that were encoded."""
    ids: list[int]
    types: list[int] | None = None
    """0 for a first sentence, 1 for a second, for models that were trained with them."""
    labels: tuple[int, ...] = ()
    """Of a pair one; of words one a token; of a span its first and last token; none if unknown."""
    about: Any = None
    """What is needed to read a prediction back."""
