"""A log, line by line, as what is worth showing of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from .tail import Trace

Value = float | None


def number(value: Any) -> Value:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) else None


def numbers(values: Any) -> dict[str, Value]:
    """The same of a mapping; nothing of anything else."""
    if not isinstance(values, Mapping):
        return {}
    return {str(name): number(value) for name, value in values.items()}


@dataclass(slots=True)
class Course:
    """What the lines of a log come to; it does not grow with them."""

    step: int = 0
    phase: str = ""
    losses: dict[str, Value] = field(default_factory=dict)
    traces: dict[str, Trace] = field(default_factory=dict)
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
        self.losses = numbers(entry.get("losses"))
        for name, value in self.losses.items():
            self.traces.setdefault(name, Trace()).add(value)
        self.density = number(entry.get("density"))
        self.expected_density = number(entry.get("expected_density"))
        if held_out := numbers(entry.get("held_out")):
            self.held_out, self.held_out_step = held_out, step
            self.sizes = numbers(entry.get("sizes"))
        self.tokens += number(entry.get("tokens")) or 0.0
        self.lines += 1

    @property
    def tokens_a_step(self) -> float:
        """Mean over all steps."""
        return self.tokens / self.lines if self.lines else 0.0
