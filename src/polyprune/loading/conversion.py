"""From the families of transformers to our encoder, tensor by tensor."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedConfig
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

from ..errors import CheckpointError
from ..model.families import FAMILIES, Family
from ..model.footprint import size_of
from ..model.history import history_of, write_history
from ..model.network.components import open_gates
from ..model.network.configuration_polyprune import PolypruneConfig
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.network.modeling_polyprune import MODELS
from ..model.network.readouts import (
    HIDDEN_STATES,
    MASKED_LM,
    READOUTS,
    SENTENCE_CLASSIFICATION,
    SPAN,
    TOKEN_CLASSIFICATION,
    Readout,
)
from ..model.network.source import ModelSource
from ..model.surgery.shrink import shrink
from .configs import check_config

logger = logging.getLogger(__name__)

RENAMED = (
    "vocab_size", "max_position_embeddings", "type_vocab_size", "hidden_size", "hidden_act",
    "layer_norm_eps", "hidden_dropout_prob", "attention_probs_dropout_prob",
)  # fmt: skip
"""Config fields that both sides have, though a family may call them something else."""
RESHAPED = ("num_hidden_layers", "num_attention_heads", "intermediate_size")
"""Config fields that say once for all layers what we say for each."""
THEIR_OWN = {"model_type", "architectures", "transformers_version", "auto_map", "pruned_heads",
             "_name_or_path", "dtype", "torch_dtype", "is_decoder"}  # fmt: skip
"""Config fields that would say something wrong of our model. All others are carried along."""

TOKEN_IDS = ("pad_token_id", "bos_token_id", "eos_token_id")

READOUT_OF: dict[str, Readout] = {
    **{readout.ending: readout for readout in READOUTS.values() if readout.ending},
    "ForPreTraining": MASKED_LM,
    "LMHeadModel": MASKED_LM,
    "Model": HIDDEN_STATES,
}
"""The readout by how the name of a transformers class ends."""


def from_weights(
    theirs: PreTrainedConfig,
    weights: Mapping[str, Tensor],
    folder: Path,
    readout: Readout | None = None,
) -> PolyprunePreTrainedModel:
    """A gated model from a transformers config and its tensors, with the readout it was made for.

    Tensors on the meta device make a model on the meta device: its shape, without its weights.
    """
    family = FAMILIES[theirs.model_type]
    weights = {plain_name(name, family): tensor for name, tensor in weights.items()}
    readout = readout or readout_of(theirs.architectures, weights)
    config = our_config(theirs, readout, pooler="pooler.dense.weight" in weights)
    check_config(config, folder)
    _refuse_untied(theirs, weights, readout, folder)
    pruned = pruned_heads(theirs)
    already_cut = pruned and _query_rows(weights, family, config) < config.head_width * sum(
        config.heads
    )
    if already_cut:
        config.heads = [n - len(pruned.get(i, ())) for i, n in enumerate(config.heads)]
    remember_size(config, readout)
    model = _fill(config, weights, readout, folder)
    return model if already_cut or not pruned else _without(model, pruned)


def pruned_heads(theirs: PreTrainedConfig) -> dict[int, set[int]]:
    """The heads that an old config lists as removed, which transformers 5 ignores, by layer."""
    listed = getattr(theirs, "pruned_heads", None) or {}
    pruned = {int(layer): {int(head) for head in heads} for layer, heads in listed.items()}
    layers, heads = theirs.num_hidden_layers, theirs.num_attention_heads
    for layer, gone in pruned.items():
        if layer >= layers or not gone <= set(range(heads)):
            raise CheckpointError(
                f"config.json lists head {max(gone)} of layer {layer} as pruned, but there are "
                f"only {layers} layers of {heads} heads, counted from 0."
            )
    return pruned


def readout_of(architectures: list[str] | None, weights: Iterable[str] = ()) -> Readout:
    """The readout that a config's `architectures` name, else what the weights' names show."""
    masked_lm = ("lm_head.", "cls.predictions.", "vocab_transform.")
    shown = "ForMaskedLM" if any(name.startswith(masked_lm) for name in weights) else "Model"
    name = (architectures or [shown])[0]
    for ending, readout in READOUT_OF.items():
        if name.endswith(ending):
            return readout
    raise CheckpointError(
        f"A {name} has a readout that polyprune does not know. Load its encoder alone: "
        'pp.load(…, readout="hidden-states").'
    )


def our_config(theirs: PreTrainedConfig, readout: Readout, pooler: bool) -> PolypruneConfig:
    """Our config for a dense model of one of their families, with all else that theirs says."""
    family = FAMILIES[theirs.model_type]

    def field(name: str) -> Any:
        if name in family.constants:
            return family.constants[name]
        return getattr(theirs, family.fields.get(name, name))

    def dropout(kind: Readout) -> float:
        if kind.name not in family.dropouts:
            return 0.0
        own = getattr(theirs, family.dropouts[kind.name], None)
        return field("hidden_dropout_prob") if own is None else own

    heads, layers = field("num_attention_heads"), field("num_hidden_layers")
    said = {family.fields.get(name, name) for name in (*RENAMED, *RESHAPED)} | THEIR_OWN
    carried = {name: value for name, value in theirs.to_diff_dict().items() if name not in said}
    carried |= {name: getattr(theirs, name) for name in TOKEN_IDS}
    # AutoTokenizer goes by the model type where no class is named, and ours tells it nothing.
    carried.setdefault("tokenizer_class", TOKENIZER_MAPPING_NAMES[theirs.model_type])
    return PolypruneConfig(
        **(carried | {name: field(name) for name in RENAMED}),
        family=family.model_type,
        head_width=field("hidden_size") // heads,
        heads=[heads] * layers,
        units=[field("intermediate_size")] * layers,
        rank=field("hidden_size"),
        attention_sublayer=family.attention,
        feed_forward_sublayer=family.feed_forward,
        pre_norm=family.pre_norm,
        padded_positions=family.padded_positions,
        attention_output_dropout_prob=(
            field("hidden_dropout_prob") if family.attention_output_dropout else 0.0
        ),
        feed_forward_output_dropout_prob=(
            field("hidden_dropout_prob") if family.feed_forward_output_dropout else 0.0
        ),
        masked_lm_act=family.masked_lm_act or field("hidden_act"),
        sentence_act=family.sentence_act,
        sentence_dropout=dropout(SENTENCE_CLASSIFICATION),
        sentence_dropout_first=family.sentence_dropout_first,
        token_dropout=dropout(TOKEN_CLASSIFICATION),
        span_dropout=dropout(SPAN),
        pooler=pooler and readout.embeds,
        architectures=[readout.model_class],
    )


def plain_name(name: str, family: Family) -> str:
    """Their name without prefix, and with today's spelling of norms."""
    name = name.removeprefix(f"{family.prefix}.")
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace(
        "LayerNorm.beta", "LayerNorm.bias"
    )


def _query_rows(weights: Mapping[str, Tensor], family: Family, config: PolypruneConfig) -> int:
    """How many rows all query matrices have together."""
    names = [
        family.their_names(f"encoder.layers.{i}.attention.project.weight", HIDDEN_STATES.name)[0]
        for i in range(len(config.heads))
    ]
    return sum(len(weights[name]) for name in names if name in weights)


def _fill(
    config: PolypruneConfig, weights: Mapping[str, Tensor], readout: Readout, folder: Path
) -> PolyprunePreTrainedModel:
    """Our model with the tensors that `weights` has; at most the readout's may be missing."""
    family, cls = FAMILIES[config.family], MODELS[readout.name]
    state, missing = {}, []
    for ours, like in cls.empty(config).state_dict().items():
        names = family.their_names(ours, readout.name)
        found = [tensor for name in names if (tensor := _find(weights, name)) is not None]
        if len(found) < len(names):
            missing.append(ours)
            continue
        state[ours] = torch.cat(found) if len(found) > 1 else found[0]
        if state[ours].shape != like.shape:
            raise CheckpointError(
                f"{names[0]} in {folder} has shape {tuple(found[0].shape)}, which does not fit "
                "what was asked for: another number of labels, or the config of another model."
            )
    if any(name.startswith("encoder.") for name in missing):
        raise CheckpointError(
            f"{folder} lacks {len(missing)} tensors, first {missing[0]}. Its weights are not those "
            f"of a whole {family.model_type} model: copy or download it again."
        )
    if missing:
        logger.warning("%s has no trained %s: it starts from random weights.", folder, readout)
    return cls.assemble(config, state, ModelSource.at(folder))


def _find(weights: Mapping[str, Tensor], name: str) -> Tensor | None:
    """A tensor by its name; a tied bias may have been saved under its other name."""
    return weights.get(name, weights.get(name.replace(".bias", ".decoder.bias")))


def _refuse_untied(
    theirs: PreTrainedConfig, weights: Mapping[str, Tensor], readout: Readout, folder: Path
) -> None:
    if not readout.predicts_words or getattr(theirs, "tie_word_embeddings", True):
        return
    table = weights.get("embeddings.word_embeddings.weight")
    tied = (".decoder.weight", "projector.weight")
    output = next((tensor for name, tensor in weights.items() if name.endswith(tied)), None)
    if output is None or table is None or output.is_meta or torch.equal(output, table):
        return
    raise CheckpointError(
        f"The masked-LM readout of {folder} has an output table of its own; polyprune ties it "
        'to the word table. Load the encoder alone: readout="hidden-states".'
    )


def _without(
    model: PolyprunePreTrainedModel, pruned: Mapping[int, set[int]]
) -> PolyprunePreTrainedModel:
    """The model without the heads that an old config lists, whose weights were saved in full."""
    if model.device.type == "meta":  # only the shape is wanted
        heads = tuple(n - len(pruned.get(i, ())) for i, n in enumerate(model.shape.heads))
        return model.empty(model.config.reshaped(replace(model.shape, heads=heads)))
    gates = open_gates(model.shape)
    for layer, heads in pruned.items():
        gates.heads[layer][:, sorted(heads)] = 0
    return shrink(model, gates)


def remember_size(config: PolypruneConfig, readout: Readout) -> None:
    """Write down how large a model was before anything was done to it, unless that is known."""
    history = history_of(config)
    if history.before is None:
        write_history(config, replace(history, before=size_of(config, readout)))
