"""What pruning left of each language: how much, where, and how much of it is shared."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ..corpora.languages import Language, same_family
from ..model.network.components import Gates, PerComponent
from ..model.network.tensor_types import Bool, Float
from .selection.ranking import ComponentWeights


def union(gates: Gates) -> Gates:
    """One row that keeps whatever any row keeps: the subnetwork for a set of languages."""
    return gates.map(lambda gate: gate.amax(0, keepdim=True))


def kind_sparsity(gates: Gates) -> dict[str, Float[Tensor, " rows"]]:
    """The fraction of heads, of units and of ranks that each row closes."""
    return {
        "heads": _closed(torch.cat(gates.heads, 1)),
        "units": _closed(torch.cat(gates.units, 1)),
        "rank": _closed(gates.rank),
    }


def layer_sparsity(
    gates: Gates, weights: ComponentWeights | None = None
) -> Float[Tensor, "rows layers"]:
    """Closed weight over all weight of each layer, heads and units together."""
    weights = weights or ComponentWeights.like(gates)
    layers = []
    for heads, units in zip(gates.heads, gates.units, strict=True):
        total = weights.head * heads.shape[1] + weights.unit * units.shape[1]
        closed = weights.head * (heads == 0).sum(1) + weights.unit * (units == 0).sum(1)
        layers.append(closed / max(total, 1))
    return torch.stack(layers, 1)


def hamming(gates: Gates) -> Float[Tensor, "rows rows"]:
    """The fraction of gates that are open in one row and closed in the other, unweighted."""
    flat = _open(gates).float()
    both = flat @ flat.T
    opened = flat.sum(1)
    return (opened[:, None] + opened[None] - 2 * both) / flat.shape[1]


def overlap(gates: Gates) -> Float[Tensor, "rows rows"]:
    """Open in both rows over open in either (Jaccard): 1 for equal rows, 0 for disjoint ones."""
    flat = _open(gates).float()
    both = flat @ flat.T
    opened = flat.sum(1)
    either = opened[:, None] + opened[None] - both
    return torch.where(either > 0, both / either.clamp(min=1), 1.0)


class Band(NamedTuple):
    """A matrix over several seeds, entry by entry."""

    mean: Float[Tensor, "rows rows"]
    least: Float[Tensor, "rows rows"]
    greatest: Float[Tensor, "rows rows"]


class Kinship(NamedTuple):
    """The mean of a matrix over pairs of languages; None where there is no such pair."""

    within: float | None
    """Pairs of one family."""
    between: float | None
    """Pairs of two families."""


def band(matrices: Sequence[Float[Tensor, "rows rows"]]) -> Band:
    """The mean, least and greatest of each entry over seeds: how much of an overlap is chance."""
    stacked = torch.stack(list(matrices))
    return Band(stacked.mean(0), stacked.amin(0), stacked.amax(0))


def by_family(matrix: Float[Tensor, "rows rows"], languages: Sequence[Language]) -> Kinship:
    """The mean entry between languages of one family of App. C, and between those of two.

    Languages of unknown family are kin to nobody.
    """
    kin = torch.tensor([[same_family(a, b) for b in languages] for a in languages])
    other = ~torch.eye(len(languages), dtype=torch.bool)

    def mean(pairs: Tensor) -> float | None:
        return float(matrix[pairs].mean()) if pairs.any() else None

    return Kinship(mean(kin & other), mean(~kin & other))


def _open(gates: PerComponent[Tensor]) -> Bool[Tensor, "rows components"]:
    return torch.cat(gates.leaves(), 1) > 0


def _closed(gate: Tensor) -> Tensor:
    return (gate == 0).float().mean(1)
