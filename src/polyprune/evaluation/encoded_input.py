"""One encoded input of a model: its tokens, and its labels."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class EncodedInput:
    """One input of a model: an example, or a part of a long one."""

    example: int
    """The index of the example it comes from."""
    ids: list[int]
    types: list[int] | None = None
    """Token types: 0 in a first sentence, 1 in a second, for models that were trained with them."""
    labels: tuple[int | float, ...] = ()
    """The labels: one for a pair, one per token for words, first and last token for a span, 1 or 0
    for each of several, a number itself; may be empty.
    """
    about: Any = None
    """What decoding needs to turn a prediction back into an answer."""
