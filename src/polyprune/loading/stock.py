"""Back to plain transformers, where it can express the shape: no polyprune, no remote code."""

from dataclasses import replace

import torch
import transformers
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel, initialization

from ..errors import CheckpointError
from ..model.build import assemble, reshaped
from ..model.families import FAMILIES, Family
from ..model.network.modeling_polyprune import PolypruneConfig, PolyprunePreTrainedModel
from ..model.network.shape import EncoderShape
from .conversion import AUTO_CLASS, RENAMED, THEIR_OWN, TOKEN_IDS


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
            "none of its layers keeps a unit, and transformers wants at least one (--pad adds it)"
        )
    if len(set(shape.units)) > 1:
        return (
            f"its layers keep between {min(shape.units)} and {max(shape.units)} units, and "
            "transformers has one number for all (--pad fills up to the widest)"
        )
    if shape.factorized:
        return (
            f"its word table has rank {shape.rank} of {shape.width}, and transformers has no "
            "factorized table (--pad multiplies it out)"
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
            f"Plain transformers cannot express this model: {reason}. Save it without --stock: it "
            "loads with polyprune installed, or with trust_remote_code=True."
        )
    family, readout = FAMILIES[model.config.family], model.readout_kind
    auto = getattr(transformers, AUTO_CLASS[readout])
    no_pooler = family.has_pooler and readout == "hidden-states" and not model.config.pooler
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
        names = family.their_names(ours, model.readout_kind)
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
    shape, state = model.shape, {n: t.detach() for n, t in model.state_dict().items()}
    widest = max(max(shape.units), 1)
    for i, units in enumerate(shape.units):
        prefix, missing = f"encoder.layers.{i}.feed_forward.", widest - units
        like = state[f"{prefix}contract.bias"]
        zeros = like.new_zeros(missing, shape.width)
        expand = state.get(f"{prefix}expand.weight", like.new_zeros(0, shape.width))
        bias = state.get(f"{prefix}expand.bias", like.new_zeros(0))
        contract = state.get(f"{prefix}contract.weight", like.new_zeros(shape.width, 0))
        state[f"{prefix}expand.weight"] = torch.cat([expand, zeros])
        state[f"{prefix}expand.bias"] = torch.cat([bias, like.new_zeros(missing)])
        state[f"{prefix}contract.weight"] = torch.cat([contract, zeros.T], dim=1)
    if shape.factorized:
        project = state.pop("encoder.embedding.project.weight")
        words = state["encoder.embedding.words.weight"]
        state["encoder.embedding.words.weight"] = words @ project.T
    new = replace(shape, units=(widest,) * shape.layers, rank=shape.width, factorized=False)
    return assemble(type(model), reshaped(model.config, new), state)
