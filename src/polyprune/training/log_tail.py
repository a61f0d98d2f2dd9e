"""Follow a log while another process writes it."""

from pathlib import Path
from typing import Any, BinaryIO

from ..jsonl import parse_object

MOST = 512
"""The maximum number of points in a series; it keeps at least half as many."""


class LogTail:
    """Reads a growing file of JSON lines; parses each line once."""

    def __init__(self, path: Path):
        self.path = path
        self._offset = 0
        self._last = b""

    def read(self) -> tuple[bool, list[dict[str, Any]]]:
        """Return whether the file was replaced or truncated, and the new complete lines.

        Who goes on from a checkpoint cuts the log first, and may have written more than was there
        by the time one looks again: so the end of what was read is looked at once more.
        """
        try:
            with self.path.open("rb") as file:
                anew = not self._goes_on(file)
                file.seek(0 if anew else self._offset)
                text = file.read()
        except OSError:  # not there yet, or no longer
            anew, text = self._offset > 0, b""
        whole = text[: text.rfind(b"\n") + 1]  # the last line may be half-written
        self._offset = len(whole) + (0 if anew else self._offset)
        self._last = whole[-200:] if anew or whole else self._last
        return anew, [
            entry for line in whole.splitlines() if (entry := parse_object(line)) is not None
        ]

    def _goes_on(self, file: BinaryIO) -> bool:
        file.seek(self._offset - len(self._last))
        return file.read(len(self._last)) == self._last


class DownsampledSeries:
    """The values of a quantity over any number of steps, in a bounded number of points."""

    def __init__(self) -> None:
        self._points: list[tuple[float, int]] = []
        self._each = 1
        self._sum, self._numbers, self._steps = 0.0, 0, 0

    def add(self, value: float | None) -> None:
        """Add one step's value; None if it is not a number."""
        if value is not None:
            self._sum, self._numbers = self._sum + value, self._numbers + 1
        self._steps += 1
        if self._steps < self._each:
            return
        self._points.append((self._sum, self._numbers))
        self._sum, self._numbers, self._steps = 0.0, 0, 0
        if len(self._points) == MOST:
            pairs = zip(self._points[::2], self._points[1::2], strict=True)
            self._points = [(a + b, n + m) for (a, n), (b, m) in pairs]
            self._each *= 2

    @property
    def values(self) -> tuple[float | None, ...]:
        """Return means over intervals of equal length; None where no value was a number."""
        rest = [(self._sum, self._numbers)] if self._steps else []
        return tuple(total / count if count else None for total, count in [*self._points, *rest])
