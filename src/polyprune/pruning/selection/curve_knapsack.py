"""The widths that cost least within a budget: a multiple-choice knapsack over removal curves.

Curves bend both ways: the last heads of a layer may cost less together than one by one. A ranking
follows their convex hulls; this finds the best numbers of components themselves, by dynamic
programming over the weight that may stay, one sublayer after the other.
"""

import math

import numpy as np
import torch
from torch import Tensor

from ...model.network.components import Gates, PerComponent
from ..second_order.curves import RemovalCurves
from .ranking import (
    ComponentWeights,
    Minimum,
    check_minimum,
    counts_of,
    weight_limit,
)

MOST_WIDTHS = 512
"""Widths that are tried for a sublayer; of a wider one, every second, third, …"""


def keep_cheapest(
    curves: RemovalCurves,
    density: float,
    weights: ComponentWeights,
    minimum: Minimum | None = None,
) -> Gates:
    """Gates that lose least by the curves within `density` of the weight, one row for each."""
    counts, least = counts_of(curves.steps), minimum or Minimum()
    limit = weight_limit(density, weights, counts)
    check_minimum(curves.scores(), minimum, weights, limit)
    layers = len(counts.heads)
    each = [*[weights.head] * layers, *[weights.unit] * layers, weights.rank]
    floors = [*[least.heads] * layers, *[least.units] * layers, least.rank]
    rows = []
    for row in range(len(curves.steps.rank)):
        losses = [_losses(steps[row]) for steps in curves.steps.leaves()]
        kept = best_widths(losses, each, floors, limit)
        orders = [order[min(row, len(order) - 1)] for order in curves.order.leaves()]
        gates = [_gate(order, width) for order, width in zip(orders, kept, strict=True)]
        rows.append(
            PerComponent(tuple(gates[:layers]), tuple(gates[layers : 2 * layers]), gates[-1])
        )
    return rows[0].map(lambda *own: torch.stack(own), *rows[1:])


def best_widths(
    losses: list[np.ndarray], weights: list[int], floors: list[int], limit: int
) -> list[int]:
    """How many of each sublayer stay, so that the sum of losses is least.

    `losses[i][k]` is what is lost where k components of sublayer i stay, each of `weights[i]`; no
    fewer than `floors[i]` may. What has to stay fits the limit. Where not all widths were tried,
    those around the best are, once more.
    """
    floors = [min(floor, len(loss) - 1) for floor, loss in zip(floors, losses, strict=True)]
    steps = [-(-(len(loss) - 1) // MOST_WIDTHS) or 1 for loss in losses]
    some = [
        sorted({*range(floor, len(loss), step), len(loss) - 1})
        for floor, loss, step in zip(floors, losses, steps, strict=True)
    ]
    kept = _solve(losses, weights, some, limit)
    if max(steps) == 1:
        return kept
    around = [
        tried if step == 1 else list(range(max(floor, k - step), min(k + step + 1, len(loss))))
        for tried, floor, k, step, loss in zip(some, floors, kept, steps, losses, strict=True)
    ]
    return _solve(losses, weights, around, limit)


def _solve(
    losses: list[np.ndarray], weights: list[int], widths: list[list[int]], limit: int
) -> list[int]:
    """The best of these widths, by dynamic programming over the room that is left."""
    unit = math.gcd(*weights)
    room = limit // unit
    best, choices = np.zeros(room + 1), []
    for loss, weight, some in zip(losses, weights, widths, strict=True):
        cost = weight // unit
        new, which = np.full(room + 1, np.inf), np.zeros(room + 1, dtype=np.int32)
        for width in some:
            start = width * cost
            if start > room:
                break
            tried = best[: room + 1 - start] + loss[width]
            better = tried < new[start:]
            new[start:][better], which[start:][better] = tried[better], width
        best = new
        choices.append((which, cost))
    kept = []
    for which, cost in reversed(choices):
        kept.append(int(which[room]))
        room -= kept[-1] * cost
    return kept[::-1]


def _losses(steps: Tensor) -> np.ndarray:
    """What is lost where so many stay, from none of them on."""
    gone = torch.cat([torch.zeros(1).double(), steps.double().cumsum(0)])
    return gone.flip(0).numpy()


def _gate(order: Tensor, kept: int) -> Tensor:
    """The last so many to go, open."""
    return torch.zeros(len(order)).index_fill(0, order[len(order) - kept :], 1.0)
