"""The text of one language as a stream of documents that can be resumed at any document."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

from .positions import SourcePosition
from .text_files import Damaged, read_lines_from

Line = str | tuple[str, str]
"""A line of text, or one with its translation."""

Document = tuple[Line, ...]
"""The lines of a document, none blank; a line with its translation is a document of its own."""

Documents = Iterator[tuple[Document, SourcePosition]]
"""Documents, each with the position of the next."""

LONGEST = 32
"""Longer documents are split after this many lines, so that memory stays constant."""


@runtime_checkable
class TextSource(Protocol):
    """One language's text as a stream of documents."""

    paired: ClassVar[bool]
    """Whether every line has a translation."""

    @property
    def size(self) -> int:
        """The number of bytes, which decides the language's share of all text."""
        ...

    @property
    def name(self) -> str:
        """The name in messages: a path, or `cc100/sw`."""
        ...

    def documents(self, start: SourcePosition | None = None) -> Documents:
        """Yield the documents from a position on, each with the position of the next.

        A position's `document` is the number of the document that begins there.
        """
        ...


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file in CC-100's format: one paragraph per line, blank lines between documents."""

    paired: ClassVar[bool] = False
    path: Path
    damaged: Damaged = "stop"
    """What to do with a damaged file or a line that is not UTF-8."""
    longest: int = LONGEST
    """The most lines of a document; with 1, each line is one."""

    @property
    def size(self) -> int:
        """The size of the file on disk, compressed or not."""
        return self.path.stat().st_size

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self.path)

    def documents(self, start: SourcePosition | None = None) -> Documents:
        """Yield the documents from a position on, each with the position of the next."""
        byte, line, number = _place(start)
        lines: list[str] = []
        for text, byte, line in read_lines_from(self.path, byte, line, self.damaged):  # noqa: B020
            if text is None:
                continue
            blank = not text or text.isspace()
            if not blank:
                lines.append(text)
            if lines and (blank or len(lines) == self.longest):
                number += 1
                yield tuple(lines), {"byte": byte, "line": line, "document": number}
                lines = []
        if lines:
            yield tuple(lines), {"byte": byte, "line": line, "document": number + 1}


@dataclass(frozen=True, slots=True)
class TranslatedFiles:
    """Two files whose lines translate each other."""

    paired: ClassVar[bool] = True
    path: Path
    pivot_path: Path
    damaged: Damaged = "stop"
    """What to do with a damaged file or a line that is not UTF-8."""

    @property
    def name(self) -> str:
        """The paths of both files."""
        return f"{self.path} and {self.pivot_path}"

    @property
    def size(self) -> int:
        """The size of the first file on disk."""
        return self.path.stat().st_size

    def documents(self, start: SourcePosition | None = None) -> Documents:
        """Yield the pairs from a position on, without those that have a blank side."""
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
                after = SourcePosition(byte=byte, line=line, document=number, pivot_byte=pivot_byte)
                yield ((text, pivot),), after


def _place(start: SourcePosition | None) -> tuple[int, int, int]:
    """Return the number of bytes, lines and documents before a position."""
    return (start["byte"], start["line"], start["document"]) if start else (0, 0, 0)
