"""Removal curves of a model, from moments that were gathered on it."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ...model.network.components import PerComponent
from ...model.network.gated_model import PolyprunePreTrainedModel
from ...model.network.tensor_types import Float
from ...progress import SILENT, Progress
from .curves import RemovalCurves
from .moments import DAMPING, Moments, Place
from .removal import RemovalCurve, removal_curve


def curves_of(
    model: PolyprunePreTrainedModel,
    moments: Moments,
    rank: Float[Tensor, "rows rank"],
    progress: Progress = SILENT,
) -> RemovalCurves:
    """The curves of a model, from moments that were gathered on it.

    `rank` is what each rank of the words costs by itself: half the mean square of its gate's
    gradient. Ranks act on the words that go in and, where these are tied, on those that come out,
    so that they have no single projection whose others could make up for them.
    """
    sublayers, rows = model.encoder.sublayers(), len(rank)
    parts = [
        ((kind, layer), part)
        for kind in ("heads", "units")
        for layer, part in enumerate(getattr(sublayers, kind))
    ]
    with progress.stage("Removal curves", len(parts)):
        found = {
            place: _curve(moments, place, part, rows) for place, part in progress.track("", parts)
        }
    layers = range(len(sublayers.heads))
    words = RemovalCurve(*_common_order(rank))
    curves = PerComponent(
        tuple(found["heads", i] for i in layers), tuple(found["units", i] for i in layers), words
    )
    return RemovalCurves(
        curves.map(lambda curve: curve.order[None]), curves.map(lambda curve: curve.steps)
    )


def _curve(moments: Moments, place: Place, part: Any, rows: int) -> RemovalCurve:
    if place not in moments.places:  # nothing is left to go
        return RemovalCurve(torch.zeros(0, dtype=torch.long), torch.zeros(rows, 0).double())
    _, covariance = moments.covariance(place)
    weight = moments.places[place].weight.detach().cpu()
    gradients = moments.gradient(place)
    curve = removal_curve(weight, covariance, gradients, part.columns_each, DAMPING)
    return replace(curve, steps=curve.steps.expand(rows, -1))  # one G serves all languages


def _common_order(scores: Float[Tensor, "rows n"]) -> tuple[Tensor, Tensor]:
    order = scores.mean(0).argsort(stable=True)
    return order, scores[:, order].double()
