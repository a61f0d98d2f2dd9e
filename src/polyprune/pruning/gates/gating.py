"""What all gates have in common: a map from rows, density and noise to `Gates`."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from torch import Tensor, nn

from ...model.network.components import Gates, PerComponent
from ...model.network.tensor_types import Bool, Float, Int
from ..selection.ranking import unflatten
from .hard_concrete import HardConcrete
from .size_shift import size_shift


class Gating(nn.Module, ABC):
    """A bank of gates: one row for all languages, or one per language."""

    kind: ClassVar[str]
    """Its name in files and configs."""
    holds_every_size: ClassVar[bool] = False
    """Whether it has gates for every density, not for one."""
    folds: ClassVar[bool] = False
    """Whether its gates may stay between 0 and 1, to be folded into the weights."""
    sharpness: float = 1.0
    """How much harder than at first those that are learned are."""
    size_weights: Tensor | None

    def __init__(self, counts: PerComponent[int], distribution: HardConcrete | None = None):
        super().__init__()
        self.counts = counts
        self.distribution = distribution or HardConcrete()
        self.register_buffer("size_weights", None, persistent=False)

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

    def hold_size(self, weights: Float[Tensor, " components"]) -> None:
        """From now on, hold the expected size of learned rows at the density that is asked for."""
        self.size_weights = weights

    def held(
        self, logits: Float[Tensor, "rows components"], density: float
    ) -> Float[Tensor, "rows components"]:
        """Logits, shifted to the size if it is held."""
        if self.size_weights is None:
            return logits
        return logits - size_shift(logits, self.size_weights, density, self.distribution)

    def settle(
        self, weights: Float[Tensor, " components"], density: float | None, fold: bool = False
    ) -> float:
        """After training, make the gates what is written: 0 or 1, of this size if it is given.

        Those that are learned may `fold` what is between 0 and 1 into the weights instead. Return
        the share of gates that were opened or closed; most gates are what they are, and none was.
        """
        return 0.0

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
