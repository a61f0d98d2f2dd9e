"""Read one language's text endlessly: a lane's share of its documents, shuffled in windows."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ..errors import DataError
from .held_out import is_held_out
from .positions import CursorPosition, SourcePosition
from .text_sources import Document, Line, TextSource

BEGINNING: CursorPosition = {"epoch": 0, "start": None, "window": 0, "next": 0}


@dataclass(frozen=True, slots=True)
class Lane:
    """One of several equal shares of every language's documents."""

    number: int = 0
    lanes: int = 1

    def owns(self, document: int, epoch: int) -> bool:
        """Return whether a document belongs to this lane in an epoch.

        Documents move on by one lane per epoch, so that a language with fewer documents than there
        are lanes reaches all of them in turn.
        """
        return (document + epoch) % self.lanes == self.number


@dataclass(frozen=True, slots=True)
class Cursor:
    """An endless reader of a lane's share of one language, in a new order every epoch."""

    source: TextSource
    code: str
    """The language's code."""
    lane: Lane = Lane()
    window: int = 4096
    """The number of documents that are shuffled together and held in memory."""
    seed: int = 0
    held_out: int = 0
    """The number of the document before which every tenth is held out."""

    def lines(self, start: CursorPosition | None = None) -> Iterator[tuple[Line, CursorPosition]]:
        """Yield the lines from a position on, each with the position after it."""
        start = start or BEGINNING
        epoch, place = start["epoch"], start["start"]
        number, taken = start["window"], start["next"]
        empty_epochs = 0
        while empty_epochs < self.lane.lanes:
            empty_epochs += 1
            for number, begin, documents in self._windows(epoch, place, number):  # noqa: B020
                empty_epochs = 0
                lines = self._shuffled(documents, epoch, number)
                for i, line in islice(enumerate(lines, 1), taken, None):
                    yield line, {"epoch": epoch, "start": begin, "window": number, "next": i}
                taken = 0
            epoch, place, number = epoch + 1, None, 0
        raise DataError(f"There is no text in {self.source.name}. Leave {self.code} out.")

    def _windows(
        self, epoch: int, begin: SourcePosition | None, number: int
    ) -> Iterator[tuple[int, SourcePosition | None, list[Document]]]:
        """The rest of an epoch: each window's number, where it begins, and its documents."""
        window: list[Document] = []
        for document, after in self.source.documents(begin):
            if not self._takes(after["document"] - 1, epoch):
                continue
            window.append(document)
            if len(window) == self.window:
                yield number, begin, window
                window.clear()  # before the next is read: never two at a time
                begin, number = after, number + 1
        if window:
            yield number, begin, window

    def _takes(self, document: int, epoch: int) -> bool:
        return self.lane.owns(document, epoch) and not is_held_out(document, self.held_out)

    def _shuffled(self, documents: list[Document], epoch: int, window: int) -> Iterator[Line]:
        """The lines of a window, its documents in random order."""
        # Not `hash`, which is another one in every process.
        code = zlib.crc32(self.code.encode())
        seeds = np.random.SeedSequence([self.seed, code, epoch, window, self.lane.number])
        order = np.random.Generator(np.random.Philox(seeds)).permutation(len(documents))
        return (line for i in order.tolist() for line in documents[i])
