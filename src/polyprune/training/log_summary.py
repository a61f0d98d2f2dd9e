"""A log, line by line, as what is worth showing of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from .log_tail import DownsampledSeries

Value = float | None


def finite_number(value: Any) -> Value:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) else None


def finite_numbers(values: Any) -> dict[str, Value]:
    """The same of a mapping; nothing of anything else."""
    if not isinstance(values, Mapping):
        return {}
    return {str(name): finite_number(value) for name, value in values.items()}


@dataclass(slots=True)
class LogSummary:
    """What the lines of a log come to; it does not grow with them."""

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
        """One more line, if it is one of a step."""
        step = entry.get("step")
        if not isinstance(step, int) or isinstance(step, bool):
            return
        self.step, self.phase = step, str(entry.get("phase") or "")
        self.losses = finite_numbers(entry.get("losses"))
        for name, value in self.losses.items():
            self.traces.setdefault(name, DownsampledSeries()).add(value)
        self.density = finite_number(entry.get("density"))
        self.expected_density = finite_number(entry.get("expected_density"))
        if held_out := finite_numbers(entry.get("held_out")):
            self.held_out, self.held_out_step = held_out, step
            self.sizes = finite_numbers(entry.get("sizes"))
        self.tokens += finite_number(entry.get("tokens")) or 0.0
        self.lines += 1

    @property
    def tokens_per_step(self) -> float:
        """Mean over all steps."""
        return self.tokens / self.lines if self.lines else 0.0
