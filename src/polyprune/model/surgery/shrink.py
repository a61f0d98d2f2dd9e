"""Turn a gated model into a smaller one that computes the same function."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from ..build import Model, assemble, reshaped
from ..network.components import Gates, PerComponent, check_gates
from ..network.shape import EncoderShape

State = dict[str, Tensor]


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
    keep = gates.map(lambda gate: gate[0].nonzero()[:, 0])
    with torch.no_grad():
        state = {name: tensor.detach() for name, tensor in model.state_dict().items()}
        shape = shape_kept(gates, model.shape)
        cut = _cut_words(state, shape, gates.rank[0], keep.rank)
        cut |= _cut_layers(state, model.shape, gates, keep)
        untouched = {name: tensor.clone() for name, tensor in state.items() if not _is_cut(name)}
    return assemble(type(model), reshaped(model.config, shape), untouched | cut)


def shape_kept(gates: Gates, shape: EncoderShape) -> EncoderShape:
    """The shape of what one row of gates keeps, known without cutting anything."""
    kept = gates.map(lambda gate: int(gate.count_nonzero()))
    return shape.keeping(kept.heads, kept.units, kept.rank)


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
    return assemble(type(model), reshaped(model.config, shape), state)


def _is_cut(name: str) -> bool:
    """Whether `shrink` makes this parameter anew rather than copying it."""
    pruned = (
        "attention.project",
        "attention.output",
        "feed_forward.expand",
        "feed_forward.contract",
    )
    return name.startswith(("encoder.embedding.words", "encoder.embedding.project")) or any(
        f".{module}." in name for module in pruned
    )


def _cut_words(state: State, new: EncoderShape, gate: Tensor, keep: Tensor) -> State:
    """Ê and P with the kept ranks, or one plain table if that is the new shape.

    The gate goes into P alone: the input path multiplies by it and so does the tied output.
    """
    name = "encoder.embedding.{}.weight".format
    words, project = state[name("words")], state.get(name("project"))
    if not new.factorized and project is None:
        return {name("words"): _scale(words, gate)}
    if project is None:
        project = torch.eye(new.width, dtype=words.dtype, device=words.device)
    project = _scale(project, gate)
    if not new.factorized:
        return {name("words"): words @ project.T}
    return {name("words"): words[:, keep], name("project"): project[:, keep]}


def _cut_layers(
    state: State, shape: EncoderShape, gates: Gates, keep: PerComponent[Tensor]
) -> State:
    new: State = {}
    for i in range(shape.layers):
        prefix = f"encoder.layers.{i}."
        layer = {
            name.removeprefix(prefix): tensor
            for name, tensor in state.items()
            if name.startswith(prefix) and _is_cut(name)
        }
        cut = _cut_attention(layer, shape.head_width, gates.heads[i][0], keep.heads[i])
        cut |= _cut_feed_forward(layer, gates.units[i][0], keep.units[i])
        new |= {prefix + name: tensor for name, tensor in cut.items()}
    return new


def _cut_attention(layer: State, head_width: int, gate: Tensor, keep: Tensor) -> State:
    new = {"attention.output.bias": layer["attention.output.bias"].clone()}
    if not len(keep):  # what is left of the sublayer is its bias
        return new
    # Head i owns columns i*e .. (i+1)*e of the output, and as many rows of q, of k and of v.
    columns = (keep[:, None] * head_width + torch.arange(head_width, device=keep.device)).flatten()
    for parameter in ("weight", "bias"):
        q, k, v = layer[f"attention.project.{parameter}"].chunk(3)
        new[f"attention.project.{parameter}"] = torch.cat([q[columns], k[columns], v[columns]])
    output = _scale(layer["attention.output.weight"], gate.repeat_interleave(head_width))
    new["attention.output.weight"] = output[:, columns]
    return new


def _cut_feed_forward(layer: State, gate: Tensor, keep: Tensor) -> State:
    new = {"feed_forward.contract.bias": layer["feed_forward.contract.bias"].clone()}
    if not len(keep):
        return new
    new["feed_forward.expand.weight"] = layer["feed_forward.expand.weight"][keep]
    new["feed_forward.expand.bias"] = layer["feed_forward.expand.bias"][keep]
    new["feed_forward.contract.weight"] = _scale(layer["feed_forward.contract.weight"], gate)[
        :, keep
    ]
    return new


def _scale(weight: Tensor, columns: Tensor) -> Tensor:
    """`weight` with each column multiplied, in the weight's own precision but rounded once."""
    if bool((columns == 1).all()):
        return weight.clone()
    return (weight.float() * columns.float()).to(weight.dtype)
