"""Repairs: how the weights that are left make up for those that went, without training.

A repair is a value with one method, `apply`; the batches that it is calibrated on are part of it.
It sees the shrunk model, the uncut one that it came from and what was selected, and gives back a
model of the same shape.
"""

from typing import Protocol, runtime_checkable

from ..model.network.gated_model import PolyprunePreTrainedModel
from .selection.selection import Selection


@runtime_checkable
class Repair(Protocol):
    """Changes the weights of a shrunk model, not its shape."""

    def apply(
        self,
        model: PolyprunePreTrainedModel,
        uncut: PolyprunePreTrainedModel,
        selection: Selection,
    ) -> PolyprunePreTrainedModel:
        """The shrunk `model`, repaired; `selection` has the one row of gates that it was cut by."""
        ...


class NoRepair:
    """The weights stay as they are, so that the model computes what the gated one did."""

    def apply(
        self,
        model: PolyprunePreTrainedModel,
        uncut: PolyprunePreTrainedModel,
        selection: Selection,
    ) -> PolyprunePreTrainedModel:
        """The same model."""
        return model


NO_REPAIR = NoRepair()
