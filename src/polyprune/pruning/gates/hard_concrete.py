"""The hard concrete distribution: gates to sample, differentiate and close (Eqs. 5–9)."""

from dataclasses import dataclass
from math import log

import torch
from torch import Tensor

from ...model.network.tensor_types import Float


@dataclass(frozen=True, slots=True)
class HardConcrete:
    """A stretched, clipped sigmoid: it puts mass on exactly 0 and exactly 1."""

    temperature: float = 1.0
    """β. Not given in the paper; its Eq. 9 is exact for 1 only, which is also FLOP's value."""
    low: float = -0.1
    """l < 0. Not given in the paper; Louizos et al. and FLOP."""
    high: float = 1.1
    """r > 1."""

    def __post_init__(self):
        if not (self.temperature > 0 and self.low < 0 and self.high > 1):
            raise ValueError(
                "A hard concrete gate needs temperature > 0, low < 0 and high > 1, got "
                f"temperature {self.temperature}, low {self.low}, high {self.high}."
            )

    def sample(
        self, alpha: Float[Tensor, "*n"], noise: Float[Tensor, "*n"], through: bool = False
    ) -> Float[Tensor, "*n"]:
        """A gate for uniform noise in [0, 1] (Eqs. 6–8).

        With `through` its gradient passes the clipping: gates at 0 and 1 are told, too, whether the
        loss would have them open.
        """
        # 0 and 1 do occur in single precision, and their logit is infinite.
        u = noise.clamp(torch.finfo(noise.dtype).tiny, 1 - torch.finfo(noise.dtype).eps / 2)
        s = torch.sigmoid((u.log() - (-u).log1p() + alpha) / self.temperature)
        if not through:
            return self._stretch(s)
        stretched = s * (self.high - self.low) + self.low
        return stretched + (stretched.clamp(0, 1) - stretched).detach()

    def gate(self, alpha: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """The gate at inference, f in Eq. 14: no noise and, as printed, no temperature."""
        return self._stretch(torch.sigmoid(alpha))

    def inverse(self, gate: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """The α whose gate at inference this is; for 0 and 1, which have many, the edge."""
        return ((gate - self.low) / (self.high - self.low)).logit()

    def expected_open(self, alpha: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """P(g > 0) (Eq. 9): sigmoid(α − β log(−l/r)); the print omits β."""
        return torch.sigmoid(alpha - self.temperature * log(-self.low / self.high))

    @property
    def edge_closed(self) -> float:
        """The largest α whose gate at inference is 0, f⁻¹(0): also the pruning threshold."""
        return log(-self.low / self.high)

    @property
    def edge_open(self) -> float:
        """The smallest α whose gate at inference is 1, f⁻¹(1)."""
        return log((1 - self.low) / (self.high - 1))

    def _stretch(self, s: Tensor) -> Tensor:
        return (s * (self.high - self.low) + self.low).clamp(0, 1)
