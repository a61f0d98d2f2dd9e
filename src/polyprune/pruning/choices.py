"""How many components of each sublayer: the most valuable numbers within seconds and parameters.

Widths do not cost what their components cost one by one: an emptied sublayer costs nothing at all,
and some widths are as fast as smaller ones. So this is no ranking but a multiple-choice knapsack:
one number for each group, solved exactly in time by dynamic programming, and for parameters by a
price on each of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

BUCKETS = 10_000
"""Steps that the seconds are divided into; each group is rounded up by less than one of them."""

HALVINGS = 40
"""Of the price of a parameter."""


@dataclass(frozen=True, slots=True)
class Group:
    """A sublayer, or the words: how many components may stay, and what each number means."""

    counts: np.ndarray
    values: np.ndarray
    seconds: np.ndarray
    parameters: np.ndarray


@dataclass(frozen=True, slots=True)
class Chosen:
    """An option of each group, and what makes them no better."""

    options: tuple[int, ...]
    seconds: float
    parameters: int
    binds: tuple[str, ...]
    """`time`, `parameters`, both, or neither where everything fits."""


def best_choices(
    groups: Sequence[Group], seconds: float = np.inf, parameters: int | None = None
) -> Chosen | None:
    """The options with the largest sum of values within both limits; None where nothing fits."""
    if least_seconds(groups) > seconds:
        return None
    free = _within_time(groups, seconds, price=0.0)
    if parameters is None or _sum(groups, free, "parameters") <= parameters:
        binds = ("time",) if _sum(groups, _dearest(groups, 0.0), "seconds") > seconds else ()
        return _chosen(groups, free, binds)
    low, high = 0.0, _highest_price(groups)
    options = _within_time(groups, seconds, high)
    if _sum(groups, options, "parameters") > parameters:
        return None  # what is fast enough is too large, at any price
    for _ in range(HALVINGS):
        price = (low + high) / 2
        tried = _within_time(groups, seconds, price)
        if _sum(groups, tried, "parameters") <= parameters:
            high, options = price, tried
        else:
            low = price
    slow = _sum(groups, _dearest(groups, high), "seconds") > seconds
    filled = _filled(groups, options, seconds, parameters)
    return _chosen(groups, filled, ("time", "parameters") if slow else ("parameters",))


def least_seconds(groups: Sequence[Group]) -> float:
    """The fewest that any choice takes."""
    return float(sum(group.seconds.min() for group in groups))


def least_parameters(groups: Sequence[Group]) -> int:
    """The fewest that any choice has."""
    return int(sum(group.parameters.min() for group in groups))


def _within_time(groups: Sequence[Group], seconds: float, price: float) -> list[int]:
    """The best options by value less price, exactly, with seconds in buckets."""
    unhurried = _dearest(groups, price)
    if _sum(groups, unhurried, "seconds") <= seconds:
        return unhurried
    room = seconds - least_seconds(groups)
    bucket = max(room / BUCKETS, 1e-12)
    best, chosen, costs = np.zeros(BUCKETS + 1), [], []
    for group in groups:
        over = (group.seconds - group.seconds.min()) / bucket
        cost = np.minimum(np.ceil(over - 1e-9), BUCKETS + 1).astype(int)
        worth = group.values - price * group.parameters
        new, which = np.full(BUCKETS + 1, -np.inf), np.zeros(BUCKETS + 1, dtype=int)
        for option in np.argsort(cost, kind="stable"):  # among equals, the cheapest
            start = cost[option]
            if start > BUCKETS:
                break
            tried = best[: BUCKETS + 1 - start] + worth[option]
            better = tried > new[start:]
            new[start:][better], which[start:][better] = tried[better], option
        best = new
        chosen.append(which)
        costs.append(cost)
    options, left = [], BUCKETS
    for which, cost in zip(reversed(chosen), reversed(costs), strict=True):
        options.append(int(which[left]))
        left -= cost[options[-1]]
    return options[::-1]


def _dearest(groups: Sequence[Group], price: float) -> list[int]:
    """The best option of each group by itself: what there would be if time were no matter."""
    return [int(np.argmax(group.values - price * group.parameters)) for group in groups]


def _highest_price(groups: Sequence[Group]) -> float:
    """At which no component is worth its parameters."""
    steepest = [
        np.ptp(group.values) / np.diff(np.unique(group.parameters)).min()
        for group in groups
        if np.ptp(group.parameters)
    ]
    return 2 * float(max(steepest, default=0.0)) + 1e-30


def _filled(
    groups: Sequence[Group], options: list[int], seconds: float, parameters: int
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


def _gain(group: Group, option: int, time: float, room: float) -> tuple[float, int]:
    """The best other option of a group that fits, and what it is worth more."""
    fits = (group.seconds - group.seconds[option] <= time) & (
        group.parameters - group.parameters[option] <= room
    )
    more = np.where(fits, group.values - group.values[option], -np.inf)
    best = int(np.argmax(more))
    return float(more[best]), best


def _chosen(groups: Sequence[Group], options: list[int], binds: tuple[str, ...]) -> Chosen:
    seconds, parameters = (_sum(groups, options, name) for name in ("seconds", "parameters"))
    return Chosen(tuple(options), float(seconds), int(parameters), binds)


def _sum(groups: Sequence[Group], options: Sequence[int], name: str) -> float:
    return float(sum(getattr(g, name)[o] for g, o in zip(groups, options, strict=True)))
