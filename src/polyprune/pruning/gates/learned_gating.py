"""Gates that are learned for one size: soft at first, then ever harder, settled in the end."""

import torch
from torch import Tensor, nn

from ...model.network.components import PerComponent
from ...model.network.tensor_types import Bool, Float
from .gating import Gating
from .hard_concrete import HardConcrete

MARGIN = 1.0
"""How far beyond its edge the α of a settled gate lies, so that rounding cannot reopen it."""


class LearnedGating(Gating):
    """Hard concrete gates with a trainable α each, from a random start (Eqs. 5–9).

    Three things may be asked of it in training. `sharpness` multiplies α: as it grows, noise
    matters less and gates go to 0 or 1. With `hold_size` each row of logits is shifted so that its
    expected size is exactly the one asked for, where a penalty would only pull towards it. With
    `learn_in_common` the α of a language is its own plus one that all share, which learns from
    every example, where its own learns from those of its language.
    """

    kind = "learned"
    folds = True

    def __init__(
        self,
        counts: PerComponent[int],
        rows: int = 1,
        distribution: HardConcrete | None = None,
        init_std: float = 0.01,
        init_mean: float = 0.0,
    ):
        """`init_std` is the deviation of the initial α: FLOP's; the paper says "random"."""
        super().__init__(counts, distribution)
        self.alpha = nn.Parameter(init_mean + init_std * torch.randn(rows, sum(counts.leaves())))
        self.common: nn.Parameter | None = None

    @classmethod
    def from_tensors(cls, counts, rows, tensors, distribution):
        """As many rows as the file has names for."""
        return cls(counts, rows, distribution)

    def learn_in_common(self) -> None:
        """From now on, add to every row an α that all of them share."""
        self.common = nn.Parameter(torch.zeros_like(self.alpha[:1]))

    def logits(self, density: float) -> Float[Tensor, "rows components"]:
        """What gates are made of: α times the sharpness, shifted to the size if it is held."""
        alpha = self.alpha if self.common is None else self.alpha + self.common
        # Around the edge, where a gate is open half of the time: so none changes sides.
        edge = self.distribution.edge_closed
        logits = edge + self.sharpness * (alpha - edge) if self.sharpness != 1 else alpha
        return self.held(logits, density)

    def flat(self, density=1.0, noise=None):
        """A sample, or at inference f(α); no density but the one it was trained for."""
        logits = self.logits(density)
        if noise is None:
            return self.distribution.gate(logits)
        return self.distribution.sample(logits, noise)

    def expected_open(self, density=1.0):
        """The probability that a gate is not 0, P(g > 0)."""
        return self.distribution.expected_open(self.logits(density))

    def preference(self, density=1.0):
        """The larger its α, the more a component is wanted."""
        return self.alpha

    def settle(self, weights, density, fold=False):
        """Make all gates 0 or 1, or if they are to be folded leave those between, at this size.

        Those with the largest logits stay, as many as come nearest to the size; without a density,
        those that are half open or more. A constraint holds the *expected* size at its target; how
        many gates end on which side of the edge is another number (the paper's 50 % came to 53).
        """
        with torch.no_grad():
            logits = self.logits(1.0 if density is None else density)
            gates = self.distribution.gate(logits)
            kept = gates >= 0.5 if density is None else _largest(logits, weights, density)
            if not fold:
                settled = _hardened(logits, kept, self.distribution)
            elif density is None:
                kept, settled = gates > 0, logits
            else:
                settled = _folded(logits, kept, self.distribution)
            self.alpha.copy_(settled)
        self.sharpness, self.size_weights, self.common = 1.0, None, None
        return float(((gates > 0) != kept).double().mean())

    def _load_from_state_dict(self, state_dict, prefix, *args):  # pyright: ignore[reportIncompatibleMethodOverride]
        if f"{prefix}common" not in state_dict:  # settled, it is part of α
            self.common = None
        super()._load_from_state_dict(state_dict, prefix, *args)


def _largest(
    logits: Float[Tensor, "rows components"], weights: Float[Tensor, " components"], density: float
) -> Bool[Tensor, "rows components"]:
    """Return the largest of each row whose size comes nearest to the density."""
    kept = torch.zeros_like(logits, dtype=torch.bool)
    for row, own in zip(kept, logits, strict=True):
        order = own.argsort(descending=True, stable=True)
        sizes = weights[order].cumsum(0) / weights.sum()
        row[order[: int((sizes - density).abs().argmin()) + 1]] = True
    return kept


def _hardened(
    logits: Float[Tensor, "rows components"],
    kept: Bool[Tensor, "rows components"],
    distribution: HardConcrete,
) -> Float[Tensor, "rows components"]:
    """Return an α beyond the edge for every gate; within open and closed ones the order stays."""
    edge = torch.where(kept, logits, torch.inf).amin(1, keepdim=True)
    edge = torch.where(edge.isinf(), logits.amax(1, keepdim=True), edge)  # nothing is kept
    opened = distribution.edge_open + MARGIN + (logits - edge).clamp(min=0)
    closed = distribution.edge_closed - MARGIN + (logits - edge).clamp(max=0)
    return torch.where(kept, opened, closed)


def _folded(
    logits: Float[Tensor, "rows components"],
    kept: Bool[Tensor, "rows components"],
    distribution: HardConcrete,
) -> Float[Tensor, "rows components"]:
    """Return each gate as it was learned; one that is opened gets its average in training."""
    edge = distribution.edge_closed
    noise = (torch.arange(256, device=logits.device) + 0.5) / 256
    mean = torch.zeros_like(logits)
    for each in noise:
        mean += distribution.sample(logits, each.expand_as(logits)) / len(noise)
    opened = torch.where(logits > edge, logits, distribution.inverse(mean.clamp(1e-3, 1 - 1e-6)))
    return torch.where(kept, opened, logits.clamp(max=edge))
