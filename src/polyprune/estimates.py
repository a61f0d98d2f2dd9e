"""Means and shares with the interval that holds the true one; scipy is imported where it is used.

A value that cannot be computed, such as the interval of one number, is None.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

from .averages import Value

CERTAINTY = 0.95
"""Intervals hold the true mean with this probability."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the interval that holds the true one."""

    mean: float
    low: Value = None
    high: Value = None


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the mean with its 95 % interval by Student's t; without one if there is one value."""
    mean = fmean(values)
    if len(values) < 2:
        return Interval(mean)
    from scipy.stats import t

    half = float(t.ppf((1 + CERTAINTY) / 2, len(values) - 1)) * stdev(values) / len(values) ** 0.5
    return Interval(mean, mean - half, mean + half)


def share_interval(right: Sequence[int], asked: Sequence[int]) -> Interval | None:
    """Return the share of right answers with its 95 % interval by Wilson's score.

    `right[i]` of the `asked[i]` answers about sentence i are right. Answers about one sentence hang
    together, so that they count for as many as would vary that much if they were independent. With
    one answer each, these are all of them. None where nothing was asked.
    """
    pairs = [(r, a) for r, a in zip(right, asked, strict=True) if a]
    total = sum(a for _, a in pairs)
    if not total:
        return None
    share = sum(r for r, _ in pairs) / total
    variance = sum((r - share * a) ** 2 for r, a in pairs) / total**2
    # Where all answers are alike they show no variance: a sentence then counts for one answer.
    independent = share * (1 - share) / variance if 0 < share < 1 and variance else len(pairs)
    return wilson(share, min(independent, total))


def wilson(share: float, count: int | float) -> Interval:
    """Return a share of so many independent answers with its 95 % interval by Wilson's score."""
    z = NormalDist().inv_cdf((1 + CERTAINTY) / 2)
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    spread = share * (1 - share) / count + (z / (2 * count)) ** 2
    half = z * spread**0.5 / (1 + z * z / count)
    return Interval(share, min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half)))
