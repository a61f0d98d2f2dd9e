"""Tests of paired differences, from scipy: could the mean difference be 0?

A value that cannot be computed, such as the interval of one number, is None.
"""

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

from ..averages import Value

LEVEL = 0.05
"""A difference with a smaller p is none by chance."""

ROUNDING = 1e-9
"""Points by which equal scores may differ."""


def effect_size(differences: Sequence[float]) -> Value:
    """Return the mean difference in standard deviations (Cohen's d of paired values)."""
    if len(differences) < 2 or _are_alike(differences):
        return None
    return fmean(differences) / stdev(differences)


def t_test(differences: Sequence[float]) -> Value:
    """Return the two-sided p of a paired t-test; None if there are fewer than two differences."""
    if len(differences) < 2:
        return None
    if _are_alike(differences):  # as if there were no noise at all
        return 0.0 if abs(fmean(differences)) > ROUNDING else 1.0
    from scipy.stats import ttest_1samp

    found: Any = ttest_1samp(differences, 0.0)
    return float(found.pvalue)


def signed_rank_test(differences: Sequence[float]) -> Value:
    """Return the two-sided p of Wilcoxon's signed-rank test; None for fewer than two differences.

    It asks for the signs and the order of differences only: one language far off does not decide.
    """
    if len(differences) < 2:
        return None
    other = [each for each in differences if abs(each) > ROUNDING]
    if not other:
        return 1.0
    from scipy.stats import wilcoxon

    found: Any = wilcoxon(other)
    return float(found.pvalue)


def _are_alike(differences: Sequence[float]) -> bool:
    return max(differences) - min(differences) <= ROUNDING


def holm(values: Sequence[Value]) -> list[Value]:
    """Return p-values corrected for how many were asked for (Holm); None stays None."""
    known = sorted((value, i) for i, value in enumerate(values) if value is not None)
    corrected: list[Value] = [None] * len(values)
    least = 0.0
    for rank, (value, i) in enumerate(known):
        least = max(least, min(1.0, (len(known) - rank) * value))
        corrected[i] = least
    return corrected
