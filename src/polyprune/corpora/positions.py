"""Positions in text, from which reading can be resumed; as JSON they are parts of a checkpoint."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypedDict

SourcePosition = dict[str, Any]
"""A position in one source, whose keys are its own; `document` is the next document's number."""


class CursorPosition(TypedDict):
    """A position in a lane's share of one language."""

    epoch: int
    start: SourcePosition | None
    window: int
    next: int


class PackerPosition(TypedDict):
    """A cursor's position, and how many tokens of the line there are in earlier examples."""

    cursor: CursorPosition
    offset: int


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """A position in a run's examples: how many were read, and where in the text each lane is."""

    number: int
    lanes: int = 1
    packers: Mapping[str, PackerPosition] = field(default_factory=dict)
    """The position of each `lane/language`; empty for examples that are found by number."""

    def as_dict(self) -> dict[str, Any]:
        """Return the position as JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "StreamPosition":
        """Return the position that a checkpoint records."""
        return cls(record["number"], record["lanes"], record["packers"])
