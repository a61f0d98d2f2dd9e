"""Languages weighed so that the one that loses most loses least: min–max over removal curves.

By multiplicative weights (Freund and Schapire, 1999): choose by a weighted mean of the languages'
curves, give more weight to those that lost more, choose again, and keep the best choice seen.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from ...model.network.components import Gates
from ...model.network.tensor_types import Float
from ..second_order.curves import RemovalCurves
from .curve_knapsack import keep_cheapest
from .ranking import ComponentWeights, Minimum, Scores

TRIES = 24
RATE = 2.0
"""How much weight a try moves, in units of how far a language is from the mean."""


@dataclass(frozen=True, slots=True)
class Fairness:
    """What languages are expected to lose, by the curves, with and without a floor."""

    mean: float
    worst: float
    mean_without: float
    worst_without: float

    def __str__(self) -> str:
        better = 1 - self.worst / self.worst_without if self.worst_without else 0.0
        dearer = self.mean / self.mean_without - 1 if self.mean_without else 0.0
        return (
            f"The language that loses most is expected to lose {better:.0%} less than without "
            f"`worst`; the mean loses {dearer:.0%} more."
        )


def keep_fairest(
    curves: RemovalCurves,
    density: float,
    weights: ComponentWeights,
    minimum: Minimum | None = None,
) -> tuple[Gates, Fairness]:
    """One row of gates for all languages, of which the worst off loses least.

    `curves` have one order for all languages, and a row of costs for each.
    """
    rows = len(curves.steps.rank)
    share = torch.full((rows,), 1 / rows, dtype=torch.float64)
    best: tuple[float, Gates, Tensor] | None = None
    first: Tensor | None = None
    for _ in range(TRIES if rows > 1 else 1):
        combined = curves.combined(lambda steps, share=share: _weighted(steps, share))
        gates = keep_cheapest(combined, density, weights, minimum)
        losses = losses_of(curves, gates)
        first = losses if first is None else first
        if best is None or float(losses.max()) < best[0]:
            best = float(losses.max()), gates, losses
        spread = (losses - losses.mean()).abs().max().clamp(min=1e-30)
        share = share * (RATE * (losses - losses.mean()) / spread).exp()
        share = share / share.sum()
    assert best is not None
    assert first is not None
    worst, gates, losses = best
    told = Fairness(float(losses.mean()), worst, float(first.mean()), float(first.max()))
    return gates, told


def losses_of(curves: RemovalCurves, gates: Gates) -> Float[Tensor, " rows"]:
    """What each language loses by its curves where one row of gates is closed."""
    gone = [(gate[0] == 0).sum() for gate in gates.leaves()]
    lost = [
        steps[:, :count].sum(1) for steps, count in zip(curves.steps.leaves(), gone, strict=True)
    ]
    return torch.stack(lost).sum(0)


def _weighted(steps: Scores, share: Tensor) -> Scores:
    return steps.map(lambda own: (own * share[:, None]).sum(0, keepdim=True))
