"""One order for every size, from rounds: what goes first is what was worth least when it went.

A ranking that was made once does not know what components are worth when others are gone. Here a
part is cut, what is left is scored anew, and so on to the smallest size; the order of removal is
the ranking, so that each size contains all smaller ones. Weights stay as they are: nothing makes up
for anything, as in the elastic folder that the order is for.
"""

import torch

from ..model.network.components import open_gates
from ..model.network.gated_model import PolyprunePreTrainedModel
from .ranker import Ranker
from .rounds import Scorer, compose
from .selection.ranking import ComponentWeights, Minimum, Scores, counts_of, keep_best, unflatten
from .shrinking import shrink, with_ranks

SMALLEST = 0.1
"""The size that is left when the last round scores it."""


def order_of_rounds(
    model: PolyprunePreTrainedModel, ranker: Ranker, scorer: Scorer, rounds: int, table: str
) -> Scores:
    """One row of scores to sort by: the order in which components go in so many rounds.

    Words stay until the last round: with the table split in the same way each time, what a rank is
    worth is known at the end.
    """
    weights = ComponentWeights.of(model.shape)
    current, gates = model, open_gates(model.shape)
    order = open_gates(model.shape).map(torch.zeros_like)
    for number in range(rounds):
        split = with_ranks(current, table)
        scores = ranker.on(scorer(current, number, split)).rank(split, weights)
        order = order.map(_later, gates, _places(scores).map(lambda place, r=number: r + place))
        if number < rounds - 1:
            # In equal steps of what is left, so that small sizes are scored as often as large ones.
            share = SMALLEST ** (1 / max(1, rounds - 1))
            kept = keep_best(scores, share, weights, Minimum(rank=scores.rank.shape[1]))
            current, gates = shrink(split, kept), compose(gates, kept)
    return order


def _places(scores: Scores) -> Scores:
    """Where each component is in the order of all: from 0, the worst, to less than 1."""
    flat = torch.cat(scores.leaves(), dim=1)
    places = flat.argsort(dim=1, stable=True).argsort(dim=1).double() / flat.shape[1]
    return unflatten(places, counts_of(scores))


def _later(order: torch.Tensor, gate: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
    """The place of what is still there; what went before keeps its own."""
    found = order.double()
    found[gate > 0] = place[0]
    return found
