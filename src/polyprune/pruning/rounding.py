"""Layers whose number of units the hardware likes."""

import torch
from torch import Tensor

from ..errors import ConfigError
from ..model.components import Gates, PerComponent
from .budget import ComponentWeights, Scores


def round_units(
    gates: Gates, scores: Scores, multiple: int, limit: int, weights: ComponentWeights
) -> Gates:
    """Gates whose layers keep a multiple of so many units, which matrix products prefer.

    Each layer gives up its worst few; whole groups then come back, best first, while they fit
    the budget of `limit`.
    """
    if multiple < 1:
        raise ConfigError(f"Units are rounded to a multiple of 1 or more, not {multiple}.")
    rows = []
    for i in range(len(gates.rank)):
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
    waiting = [  # the next whole group of each layer, if it has one
        (float(scores.units[i][order[n : n + multiple]].mean()), -i)
        for i, (order, n) in enumerate(zip(orders, numbers, strict=True))
        if n + multiple <= len(order)
    ]
    for _, i in sorted(waiting, reverse=True):
        if weights.unit * multiple <= left:
            numbers[-i] += multiple
            left -= weights.unit * multiple
    units = tuple(
        torch.zeros_like(gate).index_fill(0, order[:n], 1.0)
        for gate, order, n in zip(gates.units, orders, numbers, strict=True)
    )
    return PerComponent(gates.heads, units, gates.rank)
