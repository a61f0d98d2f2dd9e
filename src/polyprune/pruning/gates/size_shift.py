"""The common shift of logits that holds the expected size of gates exactly where it is asked."""

import torch
from torch import Tensor

from ...model.network.tensor_types import Float
from .hard_concrete import HardConcrete


def size_shift(
    logits: Float[Tensor, "rows components"],
    weights: Float[Tensor, " components"],
    density: float,
    distribution: HardConcrete,
) -> Float[Tensor, "rows 1"]:
    """Return c with Σ w P(g > 0 | logits − c) = density · Σ w in every row.

    Found by halving, as the expected size falls with c. Its gradient is that of the implicit
    function, dc/dαₖ = wₖ pₖ′ / Σ w p′: what a gate wins, the others of its row lose.
    """
    weights = weights.double() / weights.sum()
    fixed = logits.detach().double()
    below = fixed.amin(1, keepdim=True) - 60.0
    above = fixed.amax(1, keepdim=True) + 60.0
    for _ in range(40):
        middle = (below + above) / 2
        opened = distribution.expected_open(fixed - middle)
        too_large = (opened * weights).sum(1, keepdim=True) > density
        below, above = torch.where(too_large, middle, below), torch.where(too_large, above, middle)
    opened = distribution.expected_open(fixed - above)
    slopes = opened * (1 - opened) * weights
    slopes = slopes / slopes.sum(1, keepdim=True).clamp(min=torch.finfo(torch.float64).tiny)
    moved = ((logits - logits.detach()) * slopes.to(logits)).sum(1, keepdim=True)
    return above.to(logits) + moved  # what moved is 0, but has the gradient
