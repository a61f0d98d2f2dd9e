"""Confidence intervals of measured ratios: one number per round, their median, its interval.

Two calls of one round meet the same machine, so what is looked at is the logarithm of their ratio,
round by round: whatever slowed both down is gone from it. What is left may still hang together from
round to round, and an interval that takes rounds for independent is then too narrow. Two ways
around that, each at 99 %, and the wider end of both on either side:

- a bootstrap that draws whole blocks of rounds, as long as Politis and White (2004; corrected by
  Patton, Politis and White, 2009) find that the rounds hang together;
- the order statistics of the sign test, for as many rounds as there would be if they were
  independent.

It is told as an interval of 95 %, which is what it keeps on noise like that of real machines, where
either way alone at 95 % does not: tests/measuring/test_intervals.py counts.
"""

import math
from statistics import NormalDist

import numpy as np

from ..errors import ConfigError

PROMISED = 0.95
"""The nominal coverage of an interval."""

TAKEN = 0.99
"""The level that it is computed for: thirty rounds never show all of their correlation."""

DRAWS = 2000
"""The number of bootstrap samples."""

BLOCKS = 4
"""The minimum number of blocks in a bootstrap sample."""

MOST_CORRELATED = 0.95
"""Above this correlation rounds say almost nothing; the interval then spans all of them."""

PERCENTILES = (50, 90, 95, 99)

BEYOND = 5
"""The minimum number of calls beyond a percentile for it to be reported."""

Interval = tuple[float, float, float]
"""The median, the low end and the high end."""


def ratio(a: np.ndarray, b: np.ndarray, *, draws: int = DRAWS, seed: int = 0) -> Interval:
    """Return how many times longer a takes than b, round by round, with its interval."""
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if first.shape != second.shape or first.ndim != 1 or not len(first):
        raise ConfigError(
            f"Ratios are of pairs of rounds, one or more; got {first.shape} and "
            f"{second.shape}. Measure both in the same rounds."
        )
    if min(first.min(), second.min()) <= 0:
        raise ConfigError("A round took no time at all. Measure with a clock that moves.")
    middle, low, high = median_interval(np.log(first / second), draws=draws, seed=seed)
    return math.exp(middle), math.exp(low), math.exp(high)


def median_interval(values: np.ndarray, *, draws: int = DRAWS, seed: int = 0) -> Interval:
    """Return the median of values, given in the order of measurement, with its interval."""
    middle = float(np.median(values))
    medians = _block_medians(values, draws, np.random.default_rng(seed))
    tail = (1 - TAKEN) / 2
    low, high = np.quantile(medians, [tail, 1 - tail])
    first, last = _order_statistics(values)
    return middle, float(min(low, first, middle)), float(max(high, last, middle))


def block_length(values: np.ndarray) -> int:
    """Return the block length for a circular block bootstrap.

    The rule of Politis and White, with the constant that Patton corrected: lags count up to where
    five or more in a row are no longer seen, under a window that is flat and then falls.
    """
    rounds = len(values)
    if rounds < 2 * BLOCKS or np.ptp(values) == 0:
        return 1
    ahead = max(5, math.ceil(math.sqrt(math.log10(rounds))))
    longest = min(rounds - 1, math.ceil(math.sqrt(rounds)) + ahead)
    covariance = _covariance(values, longest)
    seen = np.abs(covariance / covariance[0]) >= 2 * math.sqrt(math.log10(rounds) / rounds)
    quiet = (lag for lag in range(longest - ahead + 1) if not seen[lag + 1 : lag + ahead + 1].any())
    window = min(2 * max(1, next(quiet, longest)), longest)
    lags = np.arange(-window, window + 1)
    weighted = np.clip(2 * (1 - np.abs(lags) / window), 0, 1) * covariance[np.abs(lags)]
    spectrum, bend = weighted.sum(), (np.abs(lags) * weighted).sum()
    if spectrum <= 0:
        return 1
    best = (1.5 * (bend / spectrum) ** 2 * rounds) ** (1 / 3)
    return min(max(1, math.ceil(best)), rounds // BLOCKS)


def percentiles(seconds: np.ndarray) -> dict[int, float]:
    """Return the percentiles of single calls for which there are enough calls."""
    beyond = {p: len(seconds) * (100 - p) / 100 for p in PERCENTILES}
    return {p: float(np.percentile(seconds, p)) for p in PERCENTILES if beyond[p] >= BEYOND}


def _block_medians(values: np.ndarray, draws: int, chance: np.random.Generator) -> np.ndarray:
    """Medians of rounds drawn in blocks, with the last round followed by the first."""
    rounds, block = len(values), block_length(values)
    starts = chance.integers(0, rounds, (draws, math.ceil(rounds / block)))
    drawn = (starts[:, :, None] + np.arange(block)) % rounds  # (draws, blocks, block)
    return np.median(values[drawn.reshape(draws, -1)[:, :rounds]], axis=1)


def _order_statistics(values: np.ndarray) -> tuple[float, float]:
    """The sign test's interval for the median of correlated rounds."""
    rounds = len(values)
    z = NormalDist().inv_cdf((1 + TAKEN) / 2)
    below = math.floor(rounds / 2 - z / 2 * rounds / math.sqrt(effective(values)))
    ordered = np.sort(values)
    place = min(max(0, below), (rounds - 1) // 2)
    return float(ordered[place]), float(ordered[rounds - 1 - place])


def effective(values: np.ndarray) -> float:
    """Return the effective number of independent rounds.

    The correlation of a round with the next is that of their ranks, so that no single round that
    took long hides it; what is found in few rounds is too small by about (1 + 3 r) / n (Kendall).
    """
    rounds = len(values)
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable") - (rounds - 1) / 2
    size = float(ranks @ ranks)
    found = float(ranks[1:] @ ranks[:-1]) / size if size else 0.0
    correlation = min(max(0.0, found + (1 + 3 * found) / rounds), MOST_CORRELATED)
    return rounds * (1 - correlation) / (1 + correlation)


def _covariance(values: np.ndarray, longest: int) -> np.ndarray:
    """Return the autocovariance at lags 0, 1, 2, …."""
    rounds, centred = len(values), values - values.mean()
    each = [centred[: rounds - lag] @ centred[lag:] for lag in range(longest + 1)]
    return np.array(each) / rounds
