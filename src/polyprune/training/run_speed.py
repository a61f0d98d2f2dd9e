"""The speed of a run, from the times at which its files were written."""

from collections.abc import Sequence
from dataclasses import dataclass

STRETCH = 30.0
"""The speed is measured over at least this many seconds, so that one slow step does not decide it.
"""


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A step, and the time at which it was done."""

    seconds: float
    step: int


def recent_speed(marks: Sequence[Timestamp]) -> float | None:
    """Return the recent steps per second; None before there are two timestamps.

    Lately, because a run may have been stopped for a night in between.
    """
    if not marks:
        return None
    last = max(marks, key=lambda mark: (mark.step, mark.seconds))
    before = sorted(mark for mark in marks if mark.step < last.step and mark < last)
    if not before:
        return None
    long_ago = [mark for mark in before if last.seconds - mark.seconds >= STRETCH]
    since = long_ago[-1] if long_ago else before[0]
    passed = last.seconds - since.seconds
    return (last.step - since.step) / passed if passed > 0 else None
