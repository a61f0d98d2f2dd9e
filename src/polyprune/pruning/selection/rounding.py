"""Layers whose number of units the hardware likes."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ...errors import ConfigError
from ...model.network.components import Gates, PerComponent
from .ranking import ComponentWeights, Scores


def round_units(
    gates: Gates,
    scores: Scores,
    multiple: int,
    limits: Sequence[int],
    weights: ComponentWeights,
) -> Gates:
    """Gates whose layers keep a multiple of so many units, which matrix products prefer.

    Each layer gives up its worst few; whole groups then come back, best first, while they fit
    the row's own limit.
    """
    if multiple < 1:
        raise ConfigError(f"Units are rounded to a multiple of 1 or more, not {multiple}.")
    rows = []
    for i, limit in enumerate(limits):
        gate, score = gates.map(lambda g, i=i: g[i]), scores.map(lambda s, i=i: s[i])
        rows.append(_round_row(gate, score, multiple, limit, weights))
    return rows[0].map(lambda *row: torch.stack(row), *rows[1:])


def _round_row(
    gates: PerComponent[Tensor],
    scores: PerComponent[Tensor],
    multiple: int,
    limit: int,
    weights: ComponentWeights,
) -> PerComponent[Tensor]:
    orders = [score.argsort(descending=True, stable=True) for score in scores.units]
    numbers = [int(gate.count_nonzero()) // multiple * multiple for gate in gates.units]
    left = limit - weights.head * sum(int(g.count_nonzero()) for g in gates.heads)
    left -= weights.rank * int(gates.rank.count_nonzero()) + weights.unit * sum(numbers)
    while left >= weights.unit * multiple:
        layer = _best_waiting(orders, numbers, scores, multiple)
        if layer is None:
            break
        numbers[layer] += multiple
        left -= weights.unit * multiple
    units = tuple(
        torch.zeros_like(gate).index_fill(0, order[:n], 1.0)
        for gate, order, n in zip(gates.units, orders, numbers, strict=True)
    )
    return PerComponent(gates.heads, units, gates.rank)


def _best_waiting(
    orders: list[Tensor], numbers: list[int], scores: PerComponent[Tensor], multiple: int
) -> int | None:
    """The layer whose next whole group of units is the best; None where no layer has one."""
    waiting = {
        layer: float(scores.units[layer][order[n : n + multiple]].mean())
        for layer, (order, n) in enumerate(zip(orders, numbers, strict=True))
        if n + multiple <= len(order)
    }
    return max(waiting, key=waiting.__getitem__, default=None)
