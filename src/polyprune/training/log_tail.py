"""Follow a log while another process writes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from ..averages import Value, number, numbers
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


@dataclass(slots=True)
class LogSummary:
    """The state of a run as its log tells it, in constant memory."""

    step: int = 0
    phase: str = ""
    losses: dict[str, Value] = field(default_factory=dict)
    traces: dict[str, DownsampledSeries] = field(default_factory=dict)
    density: Value = None
    expected_density: Value = None
    held_out: dict[str, Value] = field(default_factory=dict)
    held_out_step: int | None = None
    sizes: dict[str, Value] = field(default_factory=dict)
    tokens: float = 0.0
    lines: int = 0

    def add(self, entry: Mapping[str, Any]) -> None:
        """Add one log line; lines that describe no step are ignored."""
        step = entry.get("step")
        if not isinstance(step, int) or isinstance(step, bool):
            return
        self.step, self.phase = step, str(entry.get("phase") or "")
        self.losses = numbers(entry.get("losses"))
        for name, value in self.losses.items():
            self.traces.setdefault(name, DownsampledSeries()).add(value)
        self.density = number(entry.get("density"))
        self.expected_density = number(entry.get("expected_density"))
        if held_out := numbers(entry.get("held_out")):
            self.held_out, self.held_out_step = held_out, step
            self.sizes = numbers(entry.get("sizes"))
        self.tokens += number(entry.get("tokens")) or 0.0
        self.lines += 1

    @property
    def tokens_per_step(self) -> float:
        """The mean number of tokens per step."""
        return self.tokens / self.lines if self.lines else 0.0
