"""Compensation: what is left makes up for what goes, in the sublayer that it goes from."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ...model.network.gated_model import PolyprunePreTrainedModel
from ..ranker import Ranker
from ..repair import NO_REPAIR, Repair
from ..selection.selection import Selection
from .moments import DAMPING, Covariances, Place
from .removal import compensate


def compensation_of(ranker: Ranker) -> Repair:
    """How what is left makes up for what goes, by rules that count on it, if scores say how."""
    covariances = None if ranker.sheet is None else ranker.sheet.covariances
    if covariances is None or not ranker.criterion.needs_curves:
        return NO_REPAIR
    return Compensation(covariances)


@dataclass(frozen=True, slots=True)
class Compensation:
    """A repair by the covariances that the uncut model was scored with: no text is read again."""

    covariances: Covariances
    name: str = "compensation"

    def apply(
        self,
        model: PolyprunePreTrainedModel,
        uncut: PolyprunePreTrainedModel,
        selection: Selection,
    ) -> PolyprunePreTrainedModel:
        """The shrunk model, whose projections come nearest to those of the uncut one."""
        gates, small, whole = selection.gates, model.encoder.sublayers(), uncut.encoder.sublayers()
        for place in self.covariances.by_place:
            kind, layer = place
            new, old = getattr(small, kind)[layer], getattr(whole, kind)[layer]
            kept = getattr(gates, kind)[layer][0].nonzero()[:, 0].cpu()
            if len(kept) < len(getattr(gates, kind)[layer][0]):
                columns = kept[:, None] * old.columns_each + torch.arange(old.columns_each)
                self._make_up(place, new.leaving, old.leaving, columns.flatten())
        return model

    @torch.no_grad()
    def _make_up(self, place: Place, new: Any, old: nn.Linear, kept: torch.Tensor) -> None:
        mean, covariance = self.covariances.by_place[place]
        whole = old.weight.cpu(), old.bias.cpu()
        weight, bias = compensate(*whole, covariance, mean, kept, DAMPING)
        if len(kept):
            new.weight.copy_(weight)
        new.bias.copy_(bias)
