"""Dynamic Sparsification: one set of gates for every size (Eqs. 14–16, App. D)."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ...model.network.components import PerComponent
from ...model.network.tensor_types import Float
from ..selection.ranking import (
    ComponentWeights,
    Minimum,
    Scores,
    counts_of,
    size_when_kept,
    unflatten,
)
from .hard_concrete import HardConcrete

TENTHS = tuple(i / 10 for i in range(11))
"""The sizes of the paper: 0, 10 %, …, 100 %."""


def closed_form(
    boundary: Float[Tensor, "*n"],
    share: Float[Tensor, "*n"],
    distribution: HardConcrete | None = None,
) -> tuple[Float[Tensor, "*n"], Float[Tensor, "*n"]]:
    """α and θ such that f(α + tθ) is 1 at the boundary and 0 one share below it (Eq. 16)."""
    d = distribution or HardConcrete()
    slope = (d.edge_open - d.edge_closed) / share
    return d.edge_open - boundary * slope, slope


class Boundaries(NamedTuple):
    """When each component opens as the size grows (App. D), one row per row of scores."""

    boundary: PerComponent[Tensor]
    """t̂: the size at which it is open."""
    share: PerComponent[Tensor]
    """δ: the size that it adds."""


def boundaries(
    scores: Scores,
    weights: ComponentWeights | None = None,
    grid: Sequence[float] | None = None,
    minimum: Minimum | None = None,
) -> Boundaries:
    """t̂ and δ of every component (App. D): the size at which it opens, and the size it adds.

    t̂ is the cumulative weight of the ranking, most important first, over the total; with a `grid`
    of sizes it moves up to the next of them, so that every size of the grid is met exactly.
    """
    weights = weights or ComponentWeights.like(scores)
    counts = counts_of(scores)
    total = weights.total(counts)
    boundary = size_when_kept(scores, weights, minimum).double() / total
    if grid is not None:
        edges = torch.tensor(sorted(grid), dtype=torch.float64)
        boundary = edges[torch.searchsorted(edges, boundary - 1e-9).clamp(max=len(edges) - 1)]
    cost = torch.cat(weights.spread(counts).leaves()).expand_as(boundary)
    return Boundaries(unflatten(boundary, counts), unflatten(cost.double() / total, counts))


def logits(
    boundary: Float[Tensor, "rows n"],
    share: Float[Tensor, "#rows n"],
    density: float,
    distribution: HardConcrete,
) -> Float[Tensor, "rows n"]:
    """α + tθ of the closed form, in double precision.

    Evaluated as edge + (t − t̂) θ: for one of XLM-R's hidden units θ is 267,000, and the printed
    sum of two such numbers would lose the digits that matter.
    """
    steps = (density - boundary.double()) / share.double()  # 0 at the boundary, −1 a share below
    return distribution.edge_open + (distribution.edge_open - distribution.edge_closed) * steps


def moved_by_offsets(
    boundary: Float[Tensor, "rows n"],
    share: Float[Tensor, "#rows n"],
    alpha: Float[Tensor, "rows n"],
    slope: Float[Tensor, "rows n"],
    distribution: HardConcrete,
) -> Float[Tensor, "rows n"]:
    """The boundary at which the closed form is open once offsets are added to its α and θ."""
    share = share.double().expand_as(boundary)
    start, theta = closed_form(boundary.double(), share, distribution)
    return (distribution.edge_open - start - alpha.double()) / (theta + slope.double())


def snap(gate: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """The gate, exactly 0 or 1 where it is within rounding of it."""
    return torch.where(gate < 1e-6, 0.0, torch.where(gate > 1 - 1e-6, 1.0, gate))
