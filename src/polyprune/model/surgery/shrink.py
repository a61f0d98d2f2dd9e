"""Turn a gated model into a smaller one that computes the same function."""

from typing import Any

import torch

from ..network.components import Gates, check_gates, shape_kept
from ..network.encoder import Encoder
from ..network.gated_model import Model
from ..network.shape import EncoderShape
from ..network.sublayer import State, replaced


def shrink(model: Model, gates: Gates) -> Model:
    """Drop every component whose gate is 0 and fold the other gates into the weights.

    The result is an ordinary model: nothing after this can tell that it was pruned.
    """
    if len(gates.rank) != 1:
        raise ValueError(
            f"shrink() needs one row of gates, got {len(gates.rank)}. Select a row first, for "
            "example gates.map(lambda g: g[:1])."
        )
    check_gates(gates, model.shape)
    if not all(gate.isfinite().all() for gate in gates.leaves()):
        raise ValueError("A gate is a number from 0 to 1; these have NaN or infinite ones.")
    if not gates.rank.any():
        raise ValueError(
            "All rank gates are closed: every word would look alike. Keep at least one."
        )
    gates = gates.map(lambda gate: gate.detach().to(model.device))
    shape = shape_kept(gates, model.shape)
    with torch.no_grad():
        state = {name: tensor.detach() for name, tensor in model.state_dict().items()}
        state = replaced(state, _cut_sublayers(model.encoder, gates, shape))
    return model.rebuilt(shape, state)


def _cut_sublayers(
    encoder: Encoder, gates: Gates, shape: EncoderShape
) -> dict[str, tuple[Any, State]]:
    """Each sublayer by its name in the model, with what is left of its parameters."""
    words = encoder.embedding
    cut = {"encoder.embedding": (words, words.cut(gates.rank[0], shape.factorized))}
    for i, layer in enumerate(encoder.layers):
        parts = {"attention": gates.heads[i][0], "feed_forward": gates.units[i][0]}
        for name, gate in parts.items():
            sublayer: Any = getattr(layer, name)
            cut[f"encoder.layers.{i}.{name}"] = (sublayer, sublayer.cut(gate))
    return cut
