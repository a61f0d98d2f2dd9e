"""The removal curves of all sublayers: what so many components of each may cost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ...model.network.components import PerComponent
from ...model.network.tensor_types import Float
from ..selection.ranking import Scores

TIE = 1e-9
"""What a place in the order is worth, as a share of the largest price, so that equals keep it."""


@dataclass(frozen=True, slots=True)
class RemovalCurves:
    """An order of removal for every sublayer and what each step costs, a row for each language."""

    order: PerComponent[Tensor]
    """Components in the order in which they go: one row for all languages, or one for each."""
    steps: Scores
    """What each step of this order adds to the loss."""

    def only(self, rows: Sequence[int]) -> "RemovalCurves":
        """Some languages."""
        order = self.order.map(lambda own: own if len(own) == 1 else own[list(rows)])
        return RemovalCurves(order, self.steps.map(lambda steps: steps[list(rows)]))

    def combined(self, combine: Callable[[Scores], Scores]) -> "RemovalCurves":
        """The rows of gates from those of languages, where these have one order in common."""
        rows = len(combine(self.steps).rank)
        if len(self.order.rank) in (1, rows):
            return RemovalCurves(self.order, combine(self.steps))
        return RemovalCurves.sorted_by(combine(self.scores()))

    @classmethod
    def sorted_by(cls, scores: Scores) -> "RemovalCurves":
        """The curves of components that cost what their scores say, whatever else goes."""
        order = scores.map(lambda score: score.argsort(dim=1, stable=True))
        return cls(order, scores.map(lambda score, own: score.gather(1, own), order))

    def scores(self) -> Scores:
        """What each component is worth, for a ranking.

        That is the slope of the lower convex hull of its sublayer's curve where it goes, so that a
        ranking by worth per weight buys the least loss: it is the greedy solution of the knapsack
        over all curves, exact wherever it stops at a corner of a hull.
        """
        largest = max(float(steps.max()) for steps in self.steps.leaves() if steps.numel())
        return self.steps.map(lambda steps, order: _scores(steps, order, largest), self.order)


def _scores(steps: Float[Tensor, "rows n"], order: Tensor, largest: float) -> Tensor:
    places = TIE * largest * torch.arange(steps.shape[1]).double()
    slopes = torch.stack([hull_slopes(row) for row in steps]) + places
    return torch.zeros_like(slopes).scatter(1, order.expand(len(steps), -1), slopes)


def hull_slopes(steps: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """The slopes of the lower convex hull of the sums of these steps: none is less than the last.

    That is the isotonic regression of the steps, by pooling neighbours that are out of order.
    """
    means: list[float] = []
    counts: list[int] = []
    for step in steps.tolist():
        mean, count = step, 1
        while means and means[-1] >= mean:
            before, those = means.pop(), counts.pop()
            mean, count = (before * those + mean * count) / (those + count), those + count
        means.append(mean)
        counts.append(count)
    return torch.tensor(means, dtype=torch.float64).repeat_interleave(torch.tensor(counts).long())
