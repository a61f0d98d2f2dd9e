"""How large a network is in the paper's units (App. B), and which components fit a budget."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..model.axes import Float, Int
from ..model.components import Gates, PerComponent
from ..model.shape import EncoderShape

Scores = PerComponent[Float[Tensor, "rows n"]]
"""How much each component matters; a row a language, or one for all."""


@dataclass(frozen=True, slots=True)
class ComponentWeights:
    """What a component counts for in a budget, in units of `width` parameters (App. B).

    A policy, not a count: a rank counts for its row of P alone, not for its column of Ê.
    """

    head: int = 256
    """Four matrices of `head_width` rows or columns: 4 · 64 in XLM-R."""
    unit: int = 2
    rank: int = 1

    @classmethod
    def of(cls, shape: EncoderShape) -> "ComponentWeights":
        """The paper's weights, scaled to the width of this encoder's heads."""
        return cls(head=4 * shape.head_width)

    @classmethod
    def like(cls, scores: PerComponent[Tensor]) -> "ComponentWeights":
        """The paper's weights for the dense encoder that has as many components as `scores`."""
        return cls(head=4 * (scores.rank.shape[-1] // max(h.shape[-1] for h in scores.heads)))

    def spread(self, counts: PerComponent[int]) -> PerComponent[Tensor]:
        """The weight of every single component."""
        return PerComponent(
            tuple(torch.full((n,), self.head) for n in counts.heads),
            tuple(torch.full((n,), self.unit) for n in counts.units),
            torch.full((counts.rank,), self.rank),
        )

    def total(self, counts: PerComponent[int]) -> int:
        """The weight of all components: 111,360 for XLM-R base."""
        return (
            self.head * sum(counts.heads) + self.unit * sum(counts.units) + self.rank * counts.rank
        )


def keep_best(scores: Scores, density: float, weights: ComponentWeights | None = None) -> Gates:
    """Gates that keep the longest prefix of one global ranking within `density` of the weight.

    Each row has its own ranking, most important first; among equals the one that comes first in
    heads, units, rank wins, on every machine.
    """
    if not 0 <= density <= 1:
        raise ValueError(f"A density is a fraction between 0 and 1, got {density}.")
    weights = weights or ComponentWeights.like(scores)
    counts = scores.map(lambda score: score.shape[-1])
    # The slack is for products such as 0.1 · 111,360, which is a little less than it should be.
    fits = size_when_kept(scores, weights) <= int(density * weights.total(counts) + 1e-6)
    return unflatten(fits.float(), counts)


def size_when_kept(scores: Scores, weights: ComponentWeights) -> Int[Tensor, "rows components"]:
    """The weight of each component and of all that rank before it, most important first.

    In integers, so that no rounding decides what fits.
    """
    flat = torch.cat(scores.leaves(), dim=1)
    if not flat.isfinite().all():
        raise ValueError("Scores must be finite numbers; there are NaN or infinite ones.")
    counts = scores.map(lambda score: score.shape[-1])
    cost = torch.cat(weights.spread(counts).leaves()).expand_as(flat)
    order = flat.argsort(dim=1, descending=True, stable=True)
    return torch.empty_like(cost).scatter(1, order, cost.gather(1, order).cumsum(1))


def unflatten(flat: Float[Tensor, "rows components"], counts: PerComponent[int]) -> Gates:
    """Rows over all components, in the order of `leaves`, taken apart again."""
    parts = list(flat.split(list(counts.leaves()), dim=1))
    layers = len(counts.heads)
    return PerComponent(tuple(parts[:layers]), tuple(parts[layers:-1]), parts[-1])


def density_of(gates: Gates, weights: ComponentWeights | None = None) -> Float[Tensor, " rows"]:
    """Kept weight over total weight, row by row: 1 − the paper's sparsity."""
    weights = weights or ComponentWeights.like(gates)
    counts = gates.map(lambda gate: gate.shape[-1])
    cost = torch.cat(weights.spread(counts).leaves())
    kept = torch.cat(gates.leaves(), dim=1) > 0
    return (kept * cost).sum(1) / weights.total(counts)
