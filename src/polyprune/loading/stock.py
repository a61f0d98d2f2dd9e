"""Back to plain transformers, where it can express the shape: no polyprune, no remote code."""

from dataclasses import replace
from typing import Any

import transformers
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel, initialization

from ..errors import CheckpointError
from ..model.families import FAMILIES, Family
from ..model.network.configuration_polyprune import PolypruneConfig
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.network.shape import EncoderShape
from ..model.network.sublayer import State, replaced
from .conversion import RENAMED, THEIR_OWN, TOKEN_IDS


def why_not_stock(shape: EncoderShape) -> str | None:
    """Why plain transformers cannot express an encoder of this shape; None where it can."""
    full = shape.width // shape.head_width
    cut = [i for i, heads in enumerate(shape.heads) if heads != full]
    if cut:
        return (
            f"layer {cut[0]} keeps {shape.heads[cut[0]]} of {full} heads, and transformers derives "
            "the width of a head from their number"
        )
    if not any(shape.units):
        return (
            "none of its layers keeps a unit, and transformers wants at least one (`pad` adds it)"
        )
    if len(set(shape.units)) > 1:
        return (
            f"its layers keep between {min(shape.units)} and {max(shape.units)} units, and "
            "transformers has one number for all (`pad` fills up to the widest)"
        )
    if shape.factorized:
        return (
            f"its word table has rank {shape.rank} of {shape.width}, and transformers has no "
            "factorized table (`pad` multiplies it out)"
        )
    return None


def to_transformers(model: PolyprunePreTrainedModel, pad: bool = False) -> PreTrainedModel:
    """The same function as a plain transformers model of the family it came from.

    With `pad`, units are filled up with zeros to the widest layer and a factorized table is
    multiplied out, which costs size and speed but not a bit of the function.
    """
    if pad:
        model = _padded(model)
    reason = why_not_stock(model.shape)
    if reason:
        raise CheckpointError(
            f"Plain transformers cannot express this model: {reason}. Save it without `stock`: it "
            "loads with polyprune installed, or with trust_remote_code=True."
        )
    family, readout = FAMILIES[model.config.family], model.readout_kind
    auto = getattr(transformers, readout.auto_class)
    no_pooler = family.has_pooler and readout.embeds and not model.config.pooler
    options = {"add_pooling_layer": False} if no_pooler else {}
    with initialization.no_init_weights():
        theirs = auto.from_config(_their_dense_config(model, family), dtype=model.dtype, **options)
    theirs.load_state_dict(_their_state(model, family, theirs), strict=False)
    theirs.tie_weights()
    return theirs.eval()


def _their_state(
    model: PolyprunePreTrainedModel, family: Family, theirs: PreTrainedModel
) -> dict[str, Tensor]:
    known, state = set(theirs.state_dict()), {}
    for ours, tensor in model.state_dict().items():
        names = family.their_names(ours, model.readout_kind.name)
        for name, part in zip(names, tensor.detach().chunk(len(names)), strict=True):
            state[name if name in known else f"{family.prefix}.{name}"] = part
    assert state.keys() <= known, state.keys() - known
    return state


def _their_dense_config(model: PolyprunePreTrainedModel, family: Family) -> PreTrainedConfig:
    """What `our_config` made of theirs, undone."""
    ours, shape = model.config, model.shape
    renamed = {
        **{name: getattr(ours, name) for name in RENAMED},
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.width // shape.head_width,
        "intermediate_size": shape.units[0],
    }
    theirs = {
        family.fields.get(name, name): value
        for name, value in renamed.items()
        if name not in family.constants
    }
    ids = (*TOKEN_IDS, "initializer_range")
    own = (set(PolypruneConfig.__annotations__) - set(ids)) | THEIR_OWN
    carried = {name: value for name, value in ours.to_diff_dict().items() if name not in own}
    return transformers.AutoConfig.for_model(
        family.model_type, **(carried | {name: getattr(ours, name) for name in ids} | theirs)
    )


def _padded(model: PolyprunePreTrainedModel) -> PolyprunePreTrainedModel:
    """The same function with equal units in every layer and a plain word table."""
    shape, encoder = model.shape, model.encoder
    widest = max(*shape.units, 1)
    parts: dict[str, tuple[Any, State]] = {}
    for i, network in enumerate(encoder.sublayers().units):
        parts[f"encoder.layers.{i}.feed_forward"] = (network, network.padded(widest))
    parts["encoder.embedding"] = (encoder.embedding, encoder.embedding.folded())
    state = {name: tensor.detach() for name, tensor in model.state_dict().items()}
    new = replace(shape, units=(widest,) * shape.layers, rank=shape.width, factorized=False)
    return model.rebuilt(new, replaced(state, parts))
