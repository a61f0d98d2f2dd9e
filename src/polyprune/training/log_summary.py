"""Summarize a run's log for display, line by line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..averages import Value, number, numbers
from .log_tail import DownsampledSeries


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
