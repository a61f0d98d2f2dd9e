"""Where gates come from: fixed, learned, or dynamic; one row per language, or one for all.

Each is a map from rows, density and noise to `Gates`. Which of them, how many rows, and which
penalties go with it are independent choices.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from ...model.network.components import Gates, PerComponent
from ...model.network.tensor_types import Bool, Float, Int
from ..selection.ranking import counts_of, unflatten
from .dynamic import logits, snap
from .hard_concrete import HardConcrete


class Gating(nn.Module, ABC):
    """A bank of gates: one row for all languages, or one per language."""

    kind: ClassVar[str]
    """Its name in files and configs."""
    holds_every_size: ClassVar[bool] = False
    """Whether it has gates for every density, not for one."""

    def __init__(self, counts: PerComponent[int], distribution: HardConcrete | None = None):
        super().__init__()
        self.counts = counts
        self.distribution = distribution or HardConcrete()

    @classmethod
    @abstractmethod
    def from_tensors(
        cls,
        counts: PerComponent[int],
        rows: int,
        tensors: Mapping[str, Tensor],
        distribution: HardConcrete,
    ) -> "Gating":
        """A gating that can load these tensors: those of its `state_dict`."""

    @abstractmethod
    def flat(
        self, density: float = 1.0, noise: Float[Tensor, "rows components"] | None = None
    ) -> Float[Tensor, "rows components"]:
        """The gates of every row; for uniform `noise` a sample, without it those of inference."""

    @abstractmethod
    def expected_open(self, density: float = 1.0) -> Float[Tensor, "rows components"]:
        """How likely each gate is to be open, which is what penalties are made of (Eq. 9)."""

    @abstractmethod
    def preference(self, density: float = 1.0) -> Float[Tensor, "rows components"]:
        """What to rank components by when several languages have to agree on one size."""

    def rows_at(
        self, density: float = 1.0
    ) -> Float[Tensor, "rows components"] | Bool[Tensor, "rows components"]:
        """What each row keeps in a model that is taken out."""
        return self.flat(density)

    def largest_sparsity(self, rows: Sequence[int]) -> float | None:
        """The largest sparsity at which one of these rows has a rank left; None if not known."""
        return None

    def match_density(self, weights: Float[Tensor, " components"], density: float) -> None:
        """After training, make what is open at inference this size; most gates have theirs."""

    def forward(
        self,
        rows: Int[Tensor, " examples"] | None = None,
        density: float = 1.0,
        noise: Float[Tensor, "rows components"] | None = None,
    ) -> Gates:
        """Gates for a batch whose examples belong to these rows, or those of all rows."""
        flat = self.flat(density, noise)
        return unflatten(flat if rows is None else flat[rows], self.counts)

    def _apply(self, fn, recurse=True):
        # Devices are followed, precisions are not: half of them would open at the wrong size.
        return super()._apply(lambda tensor: tensor.to(fn(tensor).device), recurse)


class FixedGating(Gating):
    """Gates that are what they are, such as those of gradient-based pruning."""

    kind = "fixed"
    gates: Tensor

    def __init__(self, gates: Gates):
        super().__init__(counts_of(gates))
        self.register_buffer("gates", torch.cat(gates.leaves(), dim=1).detach().clone())

    @classmethod
    def from_tensors(cls, counts, rows, tensors, distribution):
        """The gates in the file."""
        return cls(unflatten(tensors["gates"], counts))

    def flat(self, density=1.0, noise=None):
        """The same at every density, with and without noise."""
        return self.gates

    def expected_open(self, density=1.0):
        """1 where open, 0 where closed."""
        return (self.gates > 0).float()

    def preference(self, density=1.0):
        """The gates themselves."""
        return self.gates


class LearnedGating(Gating):
    """Hard concrete gates with a trainable α each, from a random start (Eqs. 5–9)."""

    kind = "learned"

    def __init__(
        self,
        counts: PerComponent[int],
        rows: int = 1,
        distribution: HardConcrete | None = None,
        init_std: float = 0.01,
    ):
        """`init_std` is the deviation of the initial α: FLOP's; the paper says "random"."""
        super().__init__(counts, distribution)
        self.alpha = nn.Parameter(init_std * torch.randn(rows, sum(counts.leaves())))

    @classmethod
    def from_tensors(cls, counts, rows, tensors, distribution):
        """As many rows as the file has names for."""
        return cls(counts, rows, distribution)

    def flat(self, density=1.0, noise=None):
        """A sample, or at inference f(α); no density but the one it was trained for."""
        if noise is None:
            return self.distribution.gate(self.alpha)
        return self.distribution.sample(self.alpha, noise)

    def expected_open(self, density=1.0):
        """The probability that a gate is not 0, P(g > 0)."""
        return self.distribution.expected_open(self.alpha)

    def preference(self, density=1.0):
        """The larger its α, the more a component is wanted."""
        return self.alpha

    def match_density(self, weights, density):
        """Open or close the fewest gates of every row that give what is open this size.

        The constraint holds the *expected* size at its target; how many gates end on which side of
        the edge is another number (the paper's 50 % came to 53). Those with the largest α stay. A
        gate that is opened gets the value that it had on average in training, where noise opened it
        at times; all others are as they were learned.
        """
        edge = self.distribution.edge_closed
        with torch.no_grad():
            for alpha in self.alpha:
                ranked, order = alpha.sort(descending=True, stable=True)
                sizes = weights[order].cumsum(0) / weights.sum()
                kept = int((sizes - density).abs().argmin()) + 1  # the nearest size
                alpha[order[kept:]] = ranked[kept:].clamp(max=edge)
                opened = self.distribution.inverse(_mean_gate(ranked[:kept], self.distribution))
                alpha[order[:kept]] = torch.where(ranked[:kept] > edge, ranked[:kept], opened)


def _mean_gate(alpha: Float[Tensor, " n"], distribution: HardConcrete) -> Float[Tensor, " n"]:
    """What a gate is on average when it is sampled; never quite 0."""
    noise = (torch.arange(256, device=alpha.device) + 0.5) / 256
    sampled = distribution.sample(alpha[:, None].expand(-1, 256), noise.expand(len(alpha), -1))
    return sampled.mean(1).clamp(1e-3, 1)


class DynamicGating(Gating):
    """g = f(α + tθ) (Eq. 14), from the closed form of a ranking (Eq. 16).

    Frozen, it is Dynamic Sparsification over gradient-based pruning; `learned`, what is trained are
    offsets to α and θ, which start at 0 and are small where α and θ themselves are huge.
    """

    kind = "dynamic"
    holds_every_size = True
    boundary: Tensor
    share: Tensor

    def __init__(
        self,
        boundary: PerComponent[Tensor],
        share: PerComponent[Tensor],
        distribution: HardConcrete | None = None,
        learned: bool = False,
        least_share: float = 0.0,
    ):
        """Gates that open at these boundaries, each over its share.

        With `least_share` the step of the grid that boundaries were moved up to, gates on the grid
        stay what they are, but those between open gradually, and so can learn: a unit's own share
        is so small that its gate would be saturated at every size but one.
        """
        super().__init__(counts_of(boundary), distribution)
        self.register_buffer("boundary", torch.cat(boundary.leaves(), dim=1).double())
        # What a component weighs is the same in every row.
        shares = torch.cat(share.leaves(), dim=1)[:1].double()
        self.register_buffer("share", shares.clamp(min=least_share).clone())
        start = torch.zeros_like(self.boundary, dtype=torch.float32)
        self.alpha = nn.Parameter(start.clone()) if learned else None
        self.slope = nn.Parameter(start.clone()) if learned else None

    @classmethod
    def from_tensors(cls, counts, rows, tensors, distribution):
        """Learned if the file has offsets."""
        boundary, share = (unflatten(tensors[name], counts) for name in ("boundary", "share"))
        return cls(boundary, share, distribution, learned="alpha" in tensors)

    @property
    def learned(self) -> bool:
        """Whether there are offsets to train."""
        return self.alpha is not None

    def flat(self, density=1.0, noise=None):
        """At inference f(α + tθ); only learned gates are sampled in training."""
        x = self.logits(density)
        if noise is None or not self.learned:
            return snap(self.distribution.gate(x)).float()
        return self.distribution.sample(x.float(), noise)

    def expected_open(self, density=1.0):
        """The probability that a gate is not 0 at this density, P(g > 0)."""
        return self.distribution.expected_open(self.logits(density)).float()

    def preference(self, density=1.0):
        """The earlier it opens, the more it is wanted."""
        return -(self.boundary - self._offset(density) * self.share / self._span)

    def rows_at(self, density=1.0):
        """Trained gates as they are, frozen ones open where the budget allows."""
        if self.learned:
            return self.flat(density)
        # The slack is for sizes such as 1 − 0.9, which is a little less than it should be.
        return self.boundary <= density + 1e-9

    def largest_sparsity(self, rows):
        """Known of frozen gates: where the first rank opens."""
        if self.learned:
            return None
        return 1 - float(unflatten(self.boundary[list(rows)], self.counts).rank.min())

    def logits(self, density: float) -> Float[Tensor, "rows components"]:
        """The logits α + tθ of all gates, with what has been learned."""
        return logits(self.boundary, self.share, density, self.distribution) + self._offset(density)

    def _offset(self, density: float) -> Tensor:
        if self.alpha is None or self.slope is None:
            return torch.zeros_like(self.boundary)
        return (self.alpha + density * self.slope).double()

    @property
    def _span(self) -> float:
        return self.distribution.edge_open - self.distribution.edge_closed


GATINGS = {each.kind: each for each in (FixedGating, LearnedGating, DynamicGating)}
"""Every kind of gates, by its name in files and configs."""
