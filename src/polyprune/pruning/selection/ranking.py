"""How large a network is in the paper's units (App. B), and which components fit a budget."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ...errors import ConfigError
from ...model.network.attention import ATTENTIONS
from ...model.network.components import Gates, PerComponent
from ...model.network.embedding import Embedding
from ...model.network.feed_forward import FEED_FORWARDS
from ...model.network.shape import EncoderShape
from ...model.network.tensor_types import Bool, Float, Int

Scores = PerComponent[Float[Tensor, "rows n"]]
"""How much each component matters; one row per language, or one for all."""


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
        heads, rank = {h.shape[-1] for h in scores.heads}, scores.rank.shape[-1]
        if len(heads) != 1 or 0 in heads or rank % max(heads):
            raise ValueError(
                "How wide a head is does not follow from components that were pruned before: give "
                "weights=ComponentWeights.of(model.network.shape)."
            )
        return cls(head=4 * rank // max(heads))

    @classmethod
    def in_parameters(cls, shape: EncoderShape) -> "ComponentWeights":
        """What a component really holds, biases and its column of Ê included."""
        return cls(
            head=ATTENTIONS[shape.attention].parameters_each(shape),
            unit=FEED_FORWARDS[shape.feed_forward].parameters_each(shape),
            rank=Embedding.parameters_each(shape),
        )

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


@dataclass(frozen=True, slots=True)
class Minimum:
    """What stays whatever its score: the best so many heads and units of each layer, and ranks."""

    heads: int = 0
    units: int = 0
    rank: int = 0

    def __post_init__(self):
        if min(self.heads, self.units, self.rank) < 0:
            raise ValueError(f"What has to stay is a number of components, got {self}.")

    def forced(self, scores: Scores) -> Bool[Tensor, "rows components"]:
        """Whether each component is among those that must stay."""
        counts = PerComponent(
            (self.heads,) * len(scores.heads), (self.units,) * len(scores.units), self.rank
        )
        return torch.cat(scores.map(_among_best, counts).leaves(), dim=1)


def keep_best(
    scores: Scores,
    density: float,
    weights: ComponentWeights | None = None,
    minimum: Minimum | None = None,
) -> Gates:
    """Gates that keep the longest prefix of one global ranking within `density` of the weight.

    Each row has its own ranking, most important first; among equals the one that comes first in
    heads, units, rank wins, on every machine. What `minimum` demands ranks before all else.
    """
    weights = weights or ComponentWeights.like(scores)
    counts = counts_of(scores)
    limit = weight_limit(density, weights, counts)
    check_minimum(scores, minimum, weights, limit)
    return unflatten((size_when_kept(scores, weights, minimum) <= limit).float(), counts)


def size_when_kept(
    scores: Scores, weights: ComponentWeights, minimum: Minimum | None = None
) -> Int[Tensor, "rows components"]:
    """The weight of each component and of all that rank before it, most important first.

    In integers, so that no rounding decides what fits.
    """
    flat = flatten(scores)
    cost = torch.cat(weights.spread(counts_of(scores)).leaves()).expand_as(flat)
    order = ranking(scores, minimum)
    return torch.empty_like(cost).scatter(1, order, cost.gather(1, order).cumsum(1))


def ranking(scores: Scores, minimum: Minimum | None = None) -> Int[Tensor, "rows components"]:
    """The components of each row in order, most important first."""
    order = flatten(scores).argsort(dim=1, descending=True, stable=True)
    if minimum is None:
        return order
    forced = minimum.forced(scores).gather(1, order)
    return order.gather(1, forced.int().argsort(dim=1, descending=True, stable=True))


def weight_limit(density: float, weights: ComponentWeights, counts: PerComponent[int]) -> int:
    """The weight that may stay at this density."""
    if not 0 <= density <= 1:
        raise ValueError(f"A density is a fraction between 0 and 1, got {density}.")
    # The slack is for products such as 0.1 · 111,360, which is a little less than it should be.
    return int(density * weights.total(counts) + 1e-6)


def unflatten(flat: Float[Tensor, "rows components"], counts: PerComponent[int]) -> Gates:
    """Rows over all components, in the order of `leaves`, taken apart again."""
    parts = list(flat.split(list(counts.leaves()), dim=1))
    layers = len(counts.heads)
    return PerComponent(tuple(parts[:layers]), tuple(parts[layers:-1]), parts[-1])


def density_of(gates: Gates, weights: ComponentWeights | None = None) -> Float[Tensor, " rows"]:
    """Kept weight over total weight, row by row: 1 − the paper's sparsity."""
    weights = weights or ComponentWeights.like(gates)
    return weight_kept(gates, weights).double() / weights.total(counts_of(gates))


def weight_kept(gates: Gates, weights: ComponentWeights) -> Int[Tensor, " rows"]:
    """The weight of what each row keeps."""
    cost = torch.cat(weights.spread(counts_of(gates)).leaves())
    return ((torch.cat(gates.leaves(), dim=1) > 0) * cost).sum(1)


def counts_of(values: PerComponent[Tensor]) -> PerComponent[int]:
    """How many components of each kind and layer there are values for."""
    return values.map(lambda value: value.shape[-1])


def flatten(scores: Scores) -> Float[Tensor, "rows components"]:
    """Rows over all components, in the order of `leaves`."""
    flat = torch.cat(scores.leaves(), dim=1)
    if not flat.isfinite().all():
        raise ValueError("Scores must be finite numbers; there are NaN or infinite ones.")
    return flat


def _among_best(scores: Tensor, count: int) -> Tensor:
    order = scores.argsort(dim=1, descending=True, stable=True)
    return torch.zeros_like(scores, dtype=torch.bool).scatter(1, order[:, :count], True)


def check_minimum(
    scores: Scores, minimum: Minimum | None, weights: ComponentWeights, limit: int
) -> None:
    """Raise if what has to stay does not fit."""
    if minimum is None:
        return
    counts = counts_of(scores)
    total = weights.total(counts)
    cost = torch.cat(weights.spread(counts).leaves())
    least = int((minimum.forced(scores)[0] * cost).sum())
    if least > limit:
        largest = (total - least) * 10_000 // total / 10_000  # rounded to what is possible
        raise ConfigError(
            f"A density of {limit / total:.4g} is less than the {least / total:.4g} of what has to "
            f"stay ({minimum.heads} heads and {minimum.units} units per layer, rank "
            f"{minimum.rank}). The largest sparsity possible is {largest:.4g}."
        )
