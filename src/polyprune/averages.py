"""Numbers that may be missing, and the one definition of their mean.

Scores are averaged over seeds and over languages. Every package takes both means from here, so
that a table, a figure and a page cannot disagree. A missing number is None, never 0.
"""

import math
from collections.abc import Iterable, Mapping
from statistics import fmean, stdev
from typing import Any

Value = float | None
"""A finite number, or None where there is none."""

Scores = Mapping[str, Value]
"""Scores in percent by name: `{"accuracy": 71.3}`, or `{"f1": 60.1, "exact": 45.2}`."""


def number(value: Any) -> Value:
    """Return a finite number as a float, and None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def numbers(values: Any) -> dict[str, Value]:
    """Return the numbers of a mapping by name; an empty dict if it is no mapping."""
    if not isinstance(values, Mapping):
        return {}
    return {str(name): number(value) for name, value in values.items()}


def mean(values: Iterable[Value]) -> Value:
    """Return the mean of the finite numbers among `values`; None if there are none."""
    known = [value for value in map(number, values) if value is not None]
    return fmean(known) if known else None


def spread(values: Iterable[Value]) -> Value:
    """Return the standard deviation of the finite numbers; None if there are fewer than two."""
    known = [value for value in map(number, values) if value is not None]
    return stdev(known) if len(known) > 1 else None


def mean_over_seeds(seeds: Iterable[Scores | None]) -> dict[str, float]:
    """Return the mean of each score over the seeds that have all of their scores as numbers."""
    known = [complete for scores in seeds if (complete := complete_scores(scores))]
    return (
        {name: fmean(each[name] for each in known if name in each) for name in known[0]}
        if known
        else {}
    )


def mean_over_languages(languages: Mapping[str, Scores | None]) -> dict[str, float]:
    """Return the mean of each score over the languages that have one."""
    return mean_over_seeds(languages.values())


def complete_scores(scores: Scores | None) -> dict[str, float]:
    """Return the scores if all of them are numbers, else an empty dict."""
    known = {
        name: value for name, each in (scores or {}).items() if (value := number(each)) is not None
    }
    return known if scores and len(known) == len(scores) else {}
