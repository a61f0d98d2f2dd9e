"""How many components of each sublayer: the most valuable numbers within seconds and parameters.

Widths do not cost what their components cost one by one: an emptied sublayer costs nothing at all,
and some widths are as fast as smaller ones. So this is no ranking but a multiple-choice knapsack:
one number for each group. Time is solved exactly, by dynamic programming over steps of it.
Parameters have a price, of which many are tried; and since the words hold most of them and take
next to no time, every rank is tried with every price.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

BUCKETS = 5_000
"""Most steps that the seconds are divided into; a group is rounded up by less than one step."""

PRICES, NEARER = 24, 12
"""Prices of a parameter to try: over all magnitudes, then around the best."""


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    """A sublayer, or the words: how many components may stay, and what each number means."""

    counts: np.ndarray
    values: np.ndarray
    seconds: np.ndarray
    parameters: np.ndarray


@dataclass(frozen=True, slots=True)
class Solution:
    """One option for each group, and the limits that keep it from being better."""

    options: tuple[int, ...]
    seconds: float
    parameters: int
    binds: tuple[str, ...]
    """`time`, `parameters`, both, or neither where everything fits."""


def solve(
    groups: Sequence[ChoiceGroup], seconds: float = np.inf, parameters: int | None = None
) -> Solution | None:
    """The options with the largest sum of values within both limits; None where nothing fits.

    The last group is the one that prices serve worst: most of the parameters, hardly any time.
    """
    if least_seconds(groups) > seconds:
        return None
    free = _best_of(groups, seconds, None, [0.0])
    assert free is not None
    slow = _sum(groups, _unhurried(groups, 0.0), "seconds") > seconds
    if parameters is None or _sum(groups, free.options, "parameters") <= parameters:
        return _chosen(groups, free.options, ("time",) if slow else ())
    highest = _highest_price(groups)
    prices = [0.0, *np.geomspace(1e-9 * highest, highest, PRICES)]
    best = _best_of(groups, seconds, parameters, prices)
    if best is None:
        return None  # what is fast enough is too large, at any price
    place = prices.index(best.price)
    around = prices[max(0, place - 1)], prices[min(place + 1, PRICES)]
    best = (
        _best_of(groups, seconds, parameters, [best.price, *np.linspace(*around, NEARER)]) or best
    )
    slow = _sum(groups, _unhurried(groups, best.price), "seconds") > seconds
    options = fill(groups, best.options, seconds, parameters)
    return _chosen(groups, options, ("time", "parameters") if slow else ("parameters",))


def least_seconds(groups: Sequence[ChoiceGroup]) -> float:
    """The fewest seconds that any choice takes."""
    return float(sum(group.seconds.min() for group in groups))


def least_parameters(groups: Sequence[ChoiceGroup]) -> int:
    """The fewest parameters that any choice has."""
    return int(sum(group.parameters.min() for group in groups))


@dataclass(frozen=True, slots=True)
class _Priced:
    """Options found at a price of a parameter."""

    options: list[int]
    price: float


def _best_of(
    groups: Sequence[ChoiceGroup], seconds: float, parameters: int | None, prices: Iterable[float]
) -> _Priced | None:
    """The best options, at any of the prices, within both limits."""
    *layers, last = groups
    most, best = -np.inf, None
    for price in map(float, prices):
        timed = _Timed(layers, seconds - float(last.seconds.min()), price)
        for option in range(len(last.counts)):
            left = seconds - float(last.seconds[option])
            if left < least_seconds(layers):
                continue
            options = [*timed.within(left), option]
            fits = parameters is None or _sum(groups, options, "parameters") <= parameters
            if fits and (worth := _sum(groups, options, "values")) > most:
                most, best = worth, _Priced(options, price)
    return best


class _Timed:
    """The best options by value less price, for every time up to a limit at once."""

    def __init__(self, groups: Sequence[ChoiceGroup], seconds: float, price: float):
        self.groups, self.price = groups, price
        self.unhurried = _unhurried(groups, price)
        self.least = least_seconds(groups)
        self.bucket = _bucket(groups, seconds - self.least)
        self.steps: list[tuple[np.ndarray, np.ndarray]] = []
        """For each group, what its options cost, and which is best with so much time left."""

    def within(self, seconds: float) -> list[int]:
        """The best options for so much time, no more than the limit."""
        if _sum(self.groups, self.unhurried, "seconds") <= seconds:
            return self.unhurried
        if not self.steps:
            best = np.zeros(BUCKETS + 1)
            for group in self.groups:
                best = self._add(group, best)
        left = min(BUCKETS, int((seconds - self.least) / self.bucket + 1e-9))
        options = []
        for cost, which in reversed(self.steps):
            options.append(int(which[left]))
            left -= cost[options[-1]]
        return options[::-1]

    def _add(self, group: ChoiceGroup, best: np.ndarray) -> np.ndarray:
        over = (group.seconds - group.seconds.min()) / self.bucket
        cost = np.minimum(np.ceil(over - 1e-9), BUCKETS + 1).astype(int)
        worth = group.values - self.price * group.parameters
        new, which = np.full(BUCKETS + 1, -np.inf), np.zeros(BUCKETS + 1, dtype=int)
        for option in np.argsort(cost, kind="stable"):  # among equals, the cheapest
            start = cost[option]
            if start > BUCKETS:
                break
            tried = best[: BUCKETS + 1 - start] + worth[option]
            better = tried > new[start:]
            new[start:][better], which[start:][better] = tried[better], option
        self.steps.append((cost, which))
        return new


def _bucket(groups: Sequence[ChoiceGroup], room: float) -> float:
    """The smallest step of time; where all times are whole, as of parameters, in whole shares."""
    step = max(room / BUCKETS, 1e-12)
    over = np.concatenate([[0.0], *(group.seconds - group.seconds.min() for group in groups)])
    if np.any(over % 1):
        return step
    shared = max(1, int(np.gcd.reduce(over.astype(np.int64))))
    return float(shared * np.ceil(step / shared))


def _unhurried(groups: Sequence[ChoiceGroup], price: float) -> list[int]:
    """The best option of each group by itself: what there would be if time were no matter."""
    return [int(np.argmax(group.values - price * group.parameters)) for group in groups]


def _highest_price(groups: Sequence[ChoiceGroup]) -> float:
    """At which no component is worth its parameters."""
    steepest = [
        np.ptp(group.values) / np.diff(np.unique(group.parameters)).min()
        for group in groups
        if np.ptp(group.parameters)
    ]
    return 2 * float(max(steepest, default=0.0)) + 1e-30


def fill(
    groups: Sequence[ChoiceGroup], options: Sequence[int], seconds: float, parameters: int
) -> list[int]:
    """With better options while they fit: a price leaves a little room."""
    options = list(options)
    while True:
        time = seconds - _sum(groups, options, "seconds")
        room = parameters - _sum(groups, options, "parameters")
        gains = [
            _gain(group, option, time, room) for group, option in zip(groups, options, strict=True)
        ]
        place = max(range(len(gains)), key=lambda i: gains[i][0])
        if gains[place][0] <= 0:
            return options
        options[place] = gains[place][1]


def _gain(group: ChoiceGroup, option: int, time: float, room: float) -> tuple[float, int]:
    """The best other option of a group that fits, and what it is worth more."""
    fits = (group.seconds - group.seconds[option] <= time) & (
        group.parameters - group.parameters[option] <= room
    )
    more = np.where(fits, group.values - group.values[option], -np.inf)
    best = int(np.argmax(more))
    return float(more[best]), best


def _chosen(groups: Sequence[ChoiceGroup], options: list[int], binds: tuple[str, ...]) -> Solution:
    seconds, parameters = (_sum(groups, options, name) for name in ("seconds", "parameters"))
    return Solution(tuple(options), float(seconds), int(parameters), binds)


def _sum(groups: Sequence[ChoiceGroup], options: Sequence[int], name: str) -> float:
    return float(sum(getattr(g, name)[o] for g, o in zip(groups, options, strict=True)))
