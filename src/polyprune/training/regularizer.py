"""The terms that L0 pruning adds to the loss: λ₁ L_L0 + λ₂ L_diag of Eq. 13."""

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class PenaltyConfig:
    """`[penalties]`: the penalties on learned gates, and their weights."""

    sparsity: float = 0.0
    """λ₁; the paper's is 8, with Dynamic Sparsification 128."""
    kind: Literal["constraint", "native", "lagrangian"] = "constraint"
    """Pull towards the target size (Eq. 11), or down without one (Eq. 10), or with multipliers."""
    mean: bool = False
    """Take the mean over languages, not the sum as printed."""
    diversity: float = 0.0
    """λ₂; the paper's is 1."""
    prior: Literal["family", "none"] = "family"
    """Whether languages of one family may be alike."""
    missing_is_a_family: bool = True
    """Whether languages without a family in App. C count as kin, as printed."""
    literal: bool = False
    """Eq. 12's sum as printed, not divided by gates and pairs."""

    def __post_init__(self):
        if self.sparsity < 0 or self.diversity < 0:
            raise ConfigError("Penalties weigh 0 or more.")

    @property
    def any(self) -> bool:
        """Whether any penalty has a weight."""
        return self.sparsity > 0 or self.diversity > 0


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
        # To be maximized; see `lagrangian`.
        self.multipliers = (
            nn.Parameter(torch.zeros(2, len(rows))) if penalties.kind == "lagrangian" else None
        )

    def forward(
        self,
        expected_open: Float[Tensor, "rows components"],
        gates: Float[Tensor, "rows components"],
        density: float,
    ) -> dict[str, Tensor]:
        """Return each penalty by its name, unweighted."""
        losses = {}
        if self.penalties.sparsity:
            losses["sparsity"] = self._sparsity(expected_open, density)
        if self.penalties.diversity and len(gates) > 1:
            losses["diversity"] = diversity(gates, self.prior, self.penalties.literal)
        return losses

    def _sparsity(self, expected_open: Tensor, density: float) -> Tensor:
        kind, mean = self.penalties.kind, self.penalties.mean
        if kind == "constraint":
            return sparsity_constraint(expected_open, self.weights, density, mean)
        if kind == "native":
            # As a fraction of the total weight, so that λ₁ means the same for every model.
            total = native_l0(expected_open, self.weights) / self.weights.sum()
            return total / len(expected_open) if mean else total
        assert self.multipliers is not None
        first, second = self.multipliers
        return lagrangian(expected_open, self.weights, density, first, second)

    def sizes(self, expected_open: Float[Tensor, "rows components"]) -> Float[Tensor, " rows"]:
        """Return the expected density ‖Gⁱ‖₀ of every row."""
        return expected_density(expected_open, self.weights)

    def _prior(self, rows: Sequence[str]) -> Tensor:
        if len(rows) < 2 or self.penalties.prior == "none":
            return torch.ones(len(rows), len(rows))
        known = [language(code) for code in rows]
        return family_prior(known, self.penalties.missing_is_a_family)
