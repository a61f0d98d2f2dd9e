"""The terms that L0 pruning adds to the loss: λ₁ L_L0 + λ₂ L_diag of Eq. 13."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn

from ..corpora.languages import language
from ..errors import ConfigError
from ..model.network.tensor_types import Float
from ..pruning.gates.penalties import (
    diversity,
    expected_density,
    family_prior,
    lagrangian,
    native_l0,
    sparsity_constraint,
)

GAIN = 10.0
"""How much stronger λ₁ is while its search misses the size: by e to this times the gap."""


@dataclass(frozen=True, slots=True)
class PenaltyConfig:
    """`[penalties]`: the penalties on learned gates, and their weights."""

    sparsity: float = 0.0
    """λ₁; the paper's is 8, with Dynamic Sparsification 128."""
    kind: Literal["constraint", "native", "lagrangian", "exact"] = "constraint"
    """Pull towards the target size (Eq. 11), or down without one (Eq. 10), or with multipliers;
    or hold the expected size of learned gates exactly there, which needs no λ₁.
    """
    search: bool = field(default=False, metadata={"absent": False})
    """Search the λ₁ of `native` that ends in the target size, from the one given."""
    mean: bool = False
    """Take the mean over languages, not the sum as printed."""
    diversity: float = 0.0
    """λ₂; the paper's is 1."""
    prior: Literal["family", "none"] = "family"
    """Whether languages of one family may be alike."""
    missing_is_a_family: bool = True
    """Whether languages without a family in App. C count as kin, as printed."""
    overlap: Literal["languages", "pairs"] = field(
        default="languages", metadata={"absent": "pairs"}
    )
    """Sum over languages their mean overlap with others, or take the mean over all pairs, which is
    smaller by the number of languages and was so in version 0.1.
    """
    literal: bool = False
    """Eq. 12's sum as printed, not divided by gates and other languages."""

    def __post_init__(self):
        if self.sparsity < 0 or self.diversity < 0:
            raise ConfigError("Penalties weigh 0 or more.")
        if self.search and not (self.kind == "native" and self.sparsity):
            raise ConfigError(
                'penalties.search is for kind = "native" with a sparsity to start from, such as 8.'
            )

    @property
    def any(self) -> bool:
        """Whether any penalty has a weight."""
        return self.sparsity > 0 or self.diversity > 0 or self.kind == "exact"

    @property
    def aims_at_size(self) -> bool:
        """Whether gates are trained for a size, which native L0 without a search is not."""
        if self.kind == "native":
            return self.search
        return self.kind == "exact" or self.sparsity > 0


class GateRegularizer(nn.Module):
    """The penalties on a bank of gates, with the Lagrangian multipliers if there are any."""

    weights: Tensor
    prior: Tensor

    def __init__(
        self, penalties: PenaltyConfig, weights: Float[Tensor, " components"], rows: Sequence[str]
    ):
        super().__init__()
        self.penalties = penalties
        self.register_buffer("weights", weights, persistent=False)
        self.register_buffer("prior", self._prior(rows), persistent=False)
        # To be maximized; see `lagrangian` and `_native`.
        shape = {"lagrangian": (2, len(rows)), "native": (1,) if penalties.search else None}
        wanted = shape.get(penalties.kind)
        self.multipliers = None if wanted is None else nn.Parameter(torch.zeros(wanted))

    def forward(
        self,
        expected_open: Float[Tensor, "rows components"],
        gates: Float[Tensor, "rows components"],
        density: float,
    ) -> dict[str, Tensor]:
        """Return each penalty by its name, unweighted."""
        losses = {}
        if self.penalties.sparsity and self.penalties.kind != "exact":
            losses["sparsity"] = self._sparsity(expected_open, density)
        if self.penalties.diversity and len(gates) > 1:
            losses["diversity"] = self._diversity(gates)
        return losses

    def _diversity(self, gates: Tensor) -> Tensor:
        penalty = diversity(gates, self.prior, self.penalties.literal)
        pairs = self.penalties.overlap == "pairs" and not self.penalties.literal
        return penalty / len(gates) if pairs else penalty

    def _sparsity(self, expected_open: Tensor, density: float) -> Tensor:
        kind, mean = self.penalties.kind, self.penalties.mean
        if kind == "constraint":
            return sparsity_constraint(expected_open, self.weights, density, mean)
        if kind == "native":
            return self._native(expected_open, density)
        assert self.multipliers is not None
        first, second = self.multipliers
        return lagrangian(expected_open, self.weights, density, first, second)

    def _native(self, expected_open: Tensor, density: float) -> Tensor:
        # As a fraction of the total weight, so that λ₁ means the same for every model.
        total = native_l0(expected_open, self.weights) / self.weights.sum()
        rows = len(expected_open)
        if self.multipliers is None:
            return total / rows if self.penalties.mean else total
        # The factor of λ₁ grows while the size is above its target, and falls below it; the further
        # away, the stronger at once, since gates take their time to follow.
        above = total / rows - density
        factor = self.multipliers.exp() * (GAIN * above.detach()).exp()
        return (factor * above * (1 if self.penalties.mean else rows)).sum()

    @property
    def searched_weight(self) -> float | None:
        """The λ₁ that a search has come to; None if there is no search."""
        if self.penalties.kind != "native" or self.multipliers is None:
            return None
        return self.penalties.sparsity * float(self.multipliers.detach().exp())

    def sizes(self, expected_open: Float[Tensor, "rows components"]) -> Float[Tensor, " rows"]:
        """Return the expected density ‖Gⁱ‖₀ of every row."""
        return expected_density(expected_open, self.weights)

    def _prior(self, rows: Sequence[str]) -> Tensor:
        if len(rows) < 2 or self.penalties.prior == "none":
            return torch.ones(len(rows), len(rows))
        known = [language(code) for code in rows]
        return family_prior(known, self.penalties.missing_is_a_family)
