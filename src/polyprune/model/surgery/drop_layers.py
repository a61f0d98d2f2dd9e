"""Take whole layers out of a model: how distilled students start."""

from collections.abc import Sequence
from dataclasses import replace

from ..network.gated_model import Model


def drop_layers(model: Model, layers: Sequence[int]) -> Model:
    """The same model with only these layers, counted from 0, in this order.

    Unlike `shrink` this changes the function: it is how distilled students start.
    """
    wrong = [i for i in layers if not 0 <= i < model.shape.layers]
    if wrong or not layers:
        raise ValueError(
            f"Layers are counted from 0 to {model.shape.layers - 1}, got {list(layers)}."
        )
    state = {}
    for name, tensor in model.state_dict().items():
        if not name.startswith("encoder.layers."):
            state[name] = tensor.detach().clone()
    for new, old in enumerate(layers):
        prefix = f"encoder.layers.{old}."
        for name, tensor in model.state_dict().items():
            if name.startswith(prefix):
                state[f"encoder.layers.{new}.{name.removeprefix(prefix)}"] = tensor.detach().clone()
    shape = replace(
        model.shape,
        heads=tuple(model.shape.heads[i] for i in layers),
        units=tuple(model.shape.units[i] for i in layers),
    )
    return model.rebuilt(shape, state)
