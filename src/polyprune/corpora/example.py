"""A training example: what a stream yields and a collator takes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """One training example."""

    number: int
    """Its number in the whole run, the same for any number of processes."""
    language: str
    ids: list[int]
    pair: list[int] | None = None
    """The tokens of the translation, if there is one."""
    text: str | None = None
    """The text of a line, without the prefix; None for blocks."""
    types: list[int] | None = None
    """The types of its tokens, where it is an input of a model that has any."""
