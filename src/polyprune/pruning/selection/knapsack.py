"""The exact alternative to a ranking: the most valuable components that fit a budget."""

import torch
from torch import Tensor

from ...model.network.components import Gates, PerComponent
from ...model.network.tensor_types import Bool, Float, Int
from .ranking import (
    ComponentWeights,
    Minimum,
    Scores,
    check_minimum,
    counts_of,
    flatten,
    unflatten,
    weight_limit,
)


def keep_most(
    scores: Scores,
    density: float,
    weights: ComponentWeights | None = None,
    minimum: Minimum | None = None,
) -> Gates:
    """Gates that keep the largest total score within `density` of the weight: an exact knapsack.

    Components of one kind weigh the same, so that of each kind the best stay, and all there is to
    find is how many: for every number of heads, the best split between units and ranks.
    """
    weights = weights or ComponentWeights.like(scores)
    counts = counts_of(scores)
    limit = weight_limit(density, weights, counts)
    check_minimum(scores, minimum, weights, limit)
    forced = (minimum or Minimum()).forced(scores)
    flat, kinds = flatten(scores), _kinds(counts)
    rows = zip(flat, forced, strict=True)
    kept = torch.stack([_knapsack(row, must, kinds, weights, limit) for row, must in rows])
    return unflatten(kept.float(), counts)


def _kinds(counts: PerComponent[int]) -> Int[Tensor, " components"]:
    """0 for a head, 1 for a unit, 2 for a rank."""
    numbers = torch.tensor([sum(counts.heads), sum(counts.units), counts.rank])
    return torch.arange(3).repeat_interleave(numbers)


def _knapsack(
    scores: Float[Tensor, " components"],
    forced: Bool[Tensor, " components"],
    kinds: Int[Tensor, " components"],
    weights: ComponentWeights,
    limit: int,
) -> Bool[Tensor, " components"]:
    """Which components of one row to keep."""
    costs = (weights.head, weights.unit, weights.rank)
    best, gains = [], []  # of each kind, what may be chosen, best first, and what so many are worth
    for kind, cost in enumerate(costs):
        limit -= cost * int((forced & (kinds == kind)).sum())
        free = (~forced & (kinds == kind)).nonzero()[:, 0]
        free = free[scores[free].argsort(descending=True, stable=True)]
        free = free[scores[free] > 0]  # what is worth nothing takes no room
        best.append(free)
        gains.append(torch.cat([torch.zeros(1).double(), scores[free].double().cumsum(0)]))
    most, best_counts = -torch.inf, (0, 0, 0)
    units = torch.arange(len(gains[1]))
    for head in range(len(gains[0])):
        left = limit - costs[0] * head - costs[1] * units
        ranks = (left // costs[2]).clamp(0, len(gains[2]) - 1)
        worth = (gains[0][head] + gains[1] + gains[2][ranks]).where(left >= 0, -torch.inf)
        unit = int(worth.argmax())
        if float(worth[unit]) > most:
            most, best_counts = float(worth[unit]), (head, unit, int(ranks[unit]))
    kept = forced.clone()
    for free, count in zip(best, best_counts, strict=True):
        kept[free[:count]] = True
    return kept
