"""Whether the gates of a run have converged, as its log tells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Any

CONVERGED = 0.01
"""The share of gates that settling may open or close in a run that has converged."""

MOSTLY = 0.95
"""The share of gates at 0 or 1 that a run should end with."""


@dataclass(frozen=True, slots=True)
class GateConvergence:
    """How far the learned gates of a run have come."""

    expected: float | None
    """The expected density, mean over rows."""
    open: float
    """The density of what is open at inference, before settling."""
    at_zero: float
    at_one: float
    settled: float
    """The share of gates that settling opened or closed."""
    folded: bool
    """Whether gates between 0 and 1 were folded into the weights, rather than made 0 or 1."""
    missing_steps: int | None
    """How many more steps of training gates seem to be needed; 0 if none, None if not known."""

    @property
    def converged(self) -> bool:
        """Whether settling was a last touch."""
        return self.settled <= CONVERGED

    def describe(self) -> str:
        """One or two sentences about the gates."""
        decided = self.at_zero + self.at_one
        told = (
            f"Gates: {decided:.1%} were 0 or 1, the open size was {self.open:.1%}; settling "
            f"changed {self.settled:.1%} of them."
        )
        if self.folded:
            told += " Those between 0 and 1 were folded into the weights."
        if self.converged:
            return told
        more = (
            f"about {self.missing_steps:,} more steps of training gates seem to be missing"
            if self.missing_steps
            else "train the gates for longer"
        )
        return f"{told} They have not converged: {more}, or a larger sharpness of the last phase."


def gate_convergence(lines: Sequence[Mapping[str, Any]]) -> GateConvergence | None:
    """Read it from the lines of a log; None if no gates were learned."""
    steps = [line for line in lines if "settled" in (line.get("gates") or {})]
    if not steps:
        return None
    last, shares = steps[-1], steps[-1]["gates"]
    before = [line for line in lines if line["step"] <= last["step"]]
    return GateConvergence(
        expected=last.get("expected_density"),
        open=shares["open"],
        at_zero=shares["at_zero"],
        at_one=shares["at_one"],
        settled=shares["settled"],
        folded=bool(shares["folded"]),
        missing_steps=_missing_steps(before),
    )


def _missing_steps(lines: Sequence[Mapping[str, Any]]) -> int | None:
    """Extrapolate when 95 % of gates will be 0 or 1, from how fast the rest fell of late."""
    rest = {
        line["step"]: 1 - line["gates"]["at_zero"] - line["gates"]["at_one"]
        for line in lines
        if line.get("gates")
    }
    last, goal = max(rest), 1 - MOSTLY
    if rest[last] <= goal:
        return 0
    earlier = min(rest, key=lambda step: abs(step - last / 2))
    if earlier == last or rest[earlier] <= rest[last]:
        return None
    fall = log(rest[earlier] / rest[last]) / (last - earlier)
    return ceil(log(rest[last] / goal) / fall)
