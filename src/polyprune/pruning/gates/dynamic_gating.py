"""Gates for every size at once: Dynamic Sparsification, frozen or learned (Eqs. 14–16)."""

import torch
from torch import Tensor, nn

from ...model.network.components import PerComponent
from ...model.network.tensor_types import Float
from ..selection.ranking import Minimum, counts_of, ranking, unflatten
from .dynamic import TENTHS, logits, moved_by_offsets, snap
from .gating import Gating
from .hard_concrete import HardConcrete

STEP = TENTHS[1]
"""What a `shift` of 1 moves a boundary by: a bin of App. D."""


class DynamicGating(Gating):
    """g = f(α + tθ) (Eq. 14), from the closed form of a ranking (Eq. 16).

    Frozen, it is Dynamic Sparsification over gradient-based pruning. `learned`, every component's
    boundary t̂ = t̂₀ + STEP · `shift` moves, and the shift is trained: α is the closed form's for it.
    In α itself a move by one bin is a step of 0.1 θ, hundreds or thousands: no optimizer takes it.

    What is trained is soft: θ is that of a share of `least_share` or more, so that the gates around
    a size are open at times, and `sharpness` multiplies it, towards the hard gates that are taken
    out. These are the components with the least t̂ that fit the size, exactly. As learned gates do,
    it can `hold_size` and `learn_in_common`.
    """

    kind = "dynamic"
    holds_every_size = True
    boundary: Tensor
    share: Tensor
    width: Tensor | None

    def __init__(
        self,
        boundary: PerComponent[Tensor],
        share: PerComponent[Tensor],
        distribution: HardConcrete | None = None,
        learned: bool = False,
        least_share: float = 0.0,
    ):
        """Gates that open at these boundaries, each over its share or over `least_share`.

        With `least_share` the step of a grid that boundaries were moved up to, gates on the grid
        stay what they are, and those between open gradually.
        """
        super().__init__(counts_of(boundary), distribution)
        self.register_buffer("boundary", torch.cat(boundary.leaves(), dim=1).double())
        # What a component weighs is the same in every row.
        shares = torch.cat(share.leaves(), dim=1)[:1].double()
        self.register_buffer("share", shares.clone() if learned else shares.clamp(min=least_share))
        width = torch.tensor([least_share], dtype=torch.float64)
        self.register_buffer("width", width if learned else None)
        start = torch.zeros_like(self.boundary, dtype=torch.float32)
        self.shift = nn.Parameter(start) if learned else None
        self.common: nn.Parameter | None = None

    @classmethod
    def from_tensors(cls, counts, rows, tensors, distribution):
        """Learned if the file has boundaries that moved."""
        boundary, share = (unflatten(tensors[name], counts) for name in ("boundary", "share"))
        learned = not tensors.keys().isdisjoint({"shift", "alpha"})
        widened = float(tensors["share"].min()) if "alpha" in tensors else 0.0  # earlier files
        gating = cls(boundary, share, distribution, learned, widened)
        if "common" in tensors:
            gating.learn_in_common()
        return gating

    @property
    def learned(self) -> bool:
        """Whether boundaries are trained."""
        return self.shift is not None

    @property
    def boundaries(self) -> Float[Tensor, "rows components"]:
        """t̂: where each component opens, with what has been learned."""
        if self.shift is None:
            return self.boundary
        shift = self.shift if self.common is None else self.shift + self.common
        return self.boundary + STEP * shift.double()

    def learn_in_common(self) -> None:
        """From now on, add to every row a shift that all of them share."""
        assert self.shift is not None
        self.common = nn.Parameter(torch.zeros_like(self.shift[:1]))

    def settle(self, weights, density, fold=False):
        """Freeze what was learned: the closed form of its ranking, exact at every size.

        What is taken out was hard before, so no gate changes.
        """
        with torch.no_grad():
            self.boundary.copy_(self._sizes_when_kept())
        self._freeze()
        return 0.0

    def _freeze(self) -> None:
        self.shift = self.common = self.width = self.size_weights = None

    def logits(self, density: float) -> Float[Tensor, "rows components"]:
        """The logits α + tθ of all gates, with what has been learned."""
        share = self.share
        if self.width is not None:
            share = share.clamp(min=float(self.width)) / self.sharpness
        # However wide, a gate is half open at the same size: half its own share below t̂.
        boundary = self.boundaries + (share - self.share) / 2
        return self.held(logits(boundary, share, density, self.distribution), density)

    def flat(self, density=1.0, noise=None):
        """At inference f(α + tθ); only learned gates are sampled in training."""
        x = self.logits(density)
        if noise is None or not self.learned:
            return snap(self.distribution.gate(x)).float()
        return self.distribution.sample(x.float(), noise, through=True)

    def expected_open(self, density=1.0):
        """The probability that a gate is not 0 at this density, P(g > 0)."""
        return self.distribution.expected_open(self.logits(density)).float()

    def preference(self, density=1.0):
        """The earlier it opens, the more it is wanted."""
        return -self.boundaries

    def rows_at(self, density=1.0):
        """What each row has room for: the components that open first, and no more than fit."""
        # The slack is for sizes such as 1 − 0.9, which is a little less than it should be.
        return self._sizes_when_kept() <= density + 1e-9

    def _sizes_when_kept(self) -> Float[Tensor, "rows components"]:
        """The size of each component and of all that open before it; of frozen ones, t̂."""
        if not self.learned:
            return self.boundary
        order = ranking(unflatten(-self.boundaries, self.counts), Minimum(rank=1))
        share = self.share.expand_as(self.boundary)
        return torch.empty_like(share).scatter(1, order, share.gather(1, order).cumsum(1))

    def _load_from_state_dict(self, state_dict, prefix, *args):  # pyright: ignore[reportIncompatibleMethodOverride]
        alpha, slope = (state_dict.pop(prefix + name, None) for name in ("alpha", "slope"))
        if alpha is not None and slope is not None:  # offsets to α and θ, in earlier files
            boundary, share = (state_dict[prefix + name] for name in ("boundary", "share"))
            moved = moved_by_offsets(boundary, share, alpha, slope, self.distribution)
            state_dict |= {
                prefix + "boundary": moved,
                prefix + "share": self.share,
                prefix + "width": self.width,
                prefix + "shift": torch.zeros_like(moved, dtype=torch.float32),
            }
        if prefix + "shift" not in state_dict:  # settled
            self._freeze()
        super()._load_from_state_dict(state_dict, prefix, *args)
