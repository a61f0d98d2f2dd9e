"""Repairs: how the weights that are left make up for those that went, without training.

A repair has a name, for the history, and one method, `apply`; the batches that it is calibrated on
are part of it. It sees the shrunk model, the uncut one that it came from and what was selected, and
gives back a model of the same shape.
"""

from typing import Protocol, runtime_checkable

from ..model.network.components import Gates
from ..model.network.gated_model import PolyprunePreTrainedModel
from .selection.selection import Selection


@runtime_checkable
class Repair(Protocol):
    """Changes the weights of a shrunk model, not its shape."""

    @property
    def name(self) -> str:
        """What the history calls it."""
        ...

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

    name = ""

    def apply(
        self,
        model: PolyprunePreTrainedModel,
        uncut: PolyprunePreTrainedModel,
        selection: Selection,
    ) -> PolyprunePreTrainedModel:
        """The same model."""
        return model


NO_REPAIR = NoRepair()


def put_back(
    uncut: PolyprunePreTrainedModel, small: PolyprunePreTrainedModel, gates: Gates
) -> PolyprunePreTrainedModel:
    """The uncut model with the repaired projections of the small one, where its gates are open.

    Under these gates it computes what the small one does, so that shrinking can be proven to have
    been exact whatever a repair changed.
    """
    state = uncut.state_dict()
    whole, parts = uncut.encoder.sublayers(), small.encoder.sublayers()
    names = {module: name for name, module in uncut.named_modules()}
    for kind in ("heads", "units"):
        for old, new, gate in zip(
            getattr(whole, kind), getattr(parts, kind), getattr(gates, kind), strict=True
        ):
            own = old.put_back(gate[0], new)
            state |= {f"{names[old]}.{name}": parameter for name, parameter in own.items()}
    return uncut.rebuilt(uncut.shape, state)
