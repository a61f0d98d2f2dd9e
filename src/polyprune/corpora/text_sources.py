"""The text of one language as a stream of documents, which can be picked up at any of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from .text_files import Damaged, read_lines_from

Line = str | tuple[str, str]
"""A line of text, or one with its translation."""

Document = tuple[Line, ...]
"""Its lines, none of them blank; a line with its translation is a document of its own."""

Position = dict[str, Any]
"""Where a stream has come to, as JSON."""

LONGEST = 32
"""Lines after which a document is continued as the next one, so that memory stays constant."""


@runtime_checkable
class TextSource(Protocol):
    """One language's text."""

    @property
    def size(self) -> int:
        """Bytes, of which the language's share of all text is made."""
        ...

    @property
    def name(self) -> str:
        """What messages call it: a path, or `cc100/sw`."""
        ...

    @property
    def paired(self) -> bool:
        """Whether every line comes with its translation."""
        ...

    def documents(self, start: Position | None = None) -> Iterator[tuple[Document, Position]]:
        """The documents from a position on, each with the position at which the next one begins.

        A position's `document` is the number of the document that begins there.
        """
        ...


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file in CC-100's format: a line a sentence or paragraph, a blank one between documents."""

    path: Path
    damaged: Damaged = "stop"
    """What a damaged file, or a line that is not UTF-8, leads to."""

    @property
    def size(self) -> int:
        """As it is on disk, compressed or not."""
        return self.path.stat().st_size

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    @property
    def paired(self) -> bool:
        """Lines stand alone."""
        return False

    def documents(self, start: Position | None = None) -> Iterator[tuple[Document, Position]]:
        """The documents from a position on, each with the position of the next."""
        byte, line, number = _place(start)
        lines: list[str] = []
        for text, byte, line in read_lines_from(self.path, byte, line, self.damaged):  # noqa: B020
            if text is None:
                continue
            blank = not text or text.isspace()
            if not blank:
                lines.append(text)
            if lines and (blank or len(lines) == LONGEST):
                number += 1
                yield tuple(lines), {"byte": byte, "line": line, "document": number}
                lines = []
        if lines:
            yield tuple(lines), {"byte": byte, "line": line, "document": number + 1}


@dataclass(frozen=True, slots=True)
class TranslatedFiles:
    """Two files of which each line of one translates the line at its place in the other."""

    path: Path
    pivot_path: Path
    damaged: Damaged = "stop"
    """What a damaged file, or a line that is not UTF-8, leads to."""

    @property
    def size(self) -> int:
        """Of the first file as it is on disk."""
        return self.path.stat().st_size

    @property
    def name(self) -> str:
        """Its paths."""
        return f"{self.path} and {self.pivot_path}"

    @property
    def paired(self) -> bool:
        """Every line has its translation."""
        return True

    def documents(self, start: Position | None = None) -> Iterator[tuple[Document, Position]]:
        """The pairs from a position on, those with a blank side left out."""
        byte, line, number = _place(start)
        pivot_byte = start["pivot_byte"] if start else 0
        both = zip(
            read_lines_from(self.path, byte, line, self.damaged),
            read_lines_from(self.pivot_path, pivot_byte, line, self.damaged),
            strict=False,
        )
        for (text, byte, line), (pivot, pivot_byte, _) in both:
            if text and pivot and not text.isspace() and not pivot.isspace():
                number += 1
                place = {"byte": byte, "line": line, "document": number, "pivot_byte": pivot_byte}
                yield ((text, pivot),), place


def _place(start: Position | None) -> tuple[int, int, int]:
    """The bytes, lines and documents before a position."""
    return (start["byte"], start["line"], start["document"]) if start else (0, 0, 0)
