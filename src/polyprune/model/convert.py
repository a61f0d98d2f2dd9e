"""From the families of transformers to our encoder, tensor by tensor."""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
import transformers
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor
from transformers import PreTrainedConfig

from ..errors import CheckpointError, UnknownName
from .build import assemble, empty
from .components import open_gates
from .encoder import ACTIVATIONS
from .families import FAMILIES, Family
from .modeling_polyprune import MODELS, PolypruneConfig, PolyprunePreTrainedModel
from .readouts import Readout
from .shrink import shrink

logger = logging.getLogger(__name__)

AUTO_CLASS: dict[Readout, str] = {model.readout_kind: name for name, model in MODELS.items()}
TIED = {".decoder.weight", "vocab_projector.weight"}
"""How the names end of what is only the word table again."""


def from_folder(
    folder: Path, readout: Readout | None = None, labels: int | None = None
) -> PolyprunePreTrainedModel:
    """A transformers folder of a supported family as a gated model with its readout."""
    theirs = their_config(folder)
    family = FAMILIES[theirs.model_type]
    weights = read_weights(folder)
    weights = {plain_name(name, family): tensor for name, tensor in weights.items()}
    readout = readout or readout_of(theirs.architectures, weights)
    if labels is not None:
        theirs.num_labels = labels
    return from_weights(theirs, weights, readout, folder)


def from_weights(
    theirs: PreTrainedConfig, weights: Mapping[str, Tensor], readout: Readout, folder: Path
) -> PolyprunePreTrainedModel:
    """A gated model from a transformers config and its tensors, named without prefix."""
    family = FAMILIES[theirs.model_type]
    config = our_config(theirs, readout, pooler="pooler.dense.weight" in weights)
    config.name_or_path = str(folder)
    _refuse_untied(theirs, weights, readout, folder)
    pruned = pruned_heads(theirs)
    full = _query_rows(weights, family, config)
    already_cut = pruned and full != config.heads[0] * config.head_width * len(config.heads)
    if already_cut:
        config.heads = [n - len(pruned.get(i, ())) for i, n in enumerate(config.heads)]
    model = _fill(config, weights, readout, folder)
    return model if already_cut or not pruned else _without(model, pruned)


def pruned_heads(theirs: PreTrainedConfig) -> dict[int, set[int]]:
    """The heads that an old config lists as removed, which transformers 5 ignores, by layer."""
    listed = getattr(theirs, "pruned_heads", None) or {}
    return {int(layer): set(heads) for layer, heads in listed.items()}


def their_config(folder: Path) -> PreTrainedConfig:
    """The transformers config of a folder, if polyprune knows its family."""
    model_type = read_config(folder).get("model_type", "")
    if model_type not in FAMILIES:
        raise UnknownName(
            "model family", model_type, FAMILIES, f"Supported: {', '.join(FAMILIES)}."
        )
    theirs = transformers.AutoConfig.from_pretrained(folder)
    positions = getattr(theirs, "position_embedding_type", "absolute")
    activation = getattr(theirs, FAMILIES[model_type].fields.get("hidden_act", "hidden_act"))
    if getattr(theirs, "is_decoder", False) or positions != "absolute":
        raise CheckpointError(
            f"{folder} is a decoder or has {positions} positions; polyprune prunes encoders with "
            "absolute positions."
        )
    if activation not in ACTIVATIONS:
        raise CheckpointError(
            f"{folder} has activation {activation!r}; known are {', '.join(ACTIVATIONS)}."
        )
    return theirs


def read_config(folder: Path) -> dict:
    """`config.json` as it is written."""
    path = folder / "config.json"
    if not path.is_file():
        raise CheckpointError(
            f"{folder} has no config.json. A model folder is what save_pretrained() leaves: give "
            "the folder that holds config.json and model.safetensors."
        )
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(
            f"{path} is not valid JSON ({error}). Copy the folder again."
        ) from error


def readout_of(architectures: list[str] | None, weights: Iterable[str] = ()) -> Readout:
    """The readout that a config's `architectures` name, else what the weights' names show."""
    masked_lm = ("lm_head.", "cls.predictions.", "vocab_transform.")
    shown = "ForMaskedLM" if any(name.startswith(masked_lm) for name in weights) else "Model"
    name = (architectures or [shown])[0]
    endings: dict[str, Readout] = {
        "ForMaskedLM": "masked-lm",
        "ForPreTraining": "masked-lm",
        "LMHeadModel": "masked-lm",
        "ForSequenceClassification": "sentence-classification",
        "ForTokenClassification": "token-classification",
        "ForQuestionAnswering": "span",
    }
    for ending, readout in endings.items():
        if name.endswith(ending):
            return readout
    return "hidden-states"


def our_config(theirs: PreTrainedConfig, readout: Readout, pooler: bool) -> PolypruneConfig:
    """Our config for a dense model of one of their families."""
    family = FAMILIES[theirs.model_type]

    def field(name: str):
        if name in family.constants:
            return family.constants[name]
        return getattr(theirs, family.fields.get(name, name))

    heads, layers = theirs.num_attention_heads, theirs.num_hidden_layers
    activation = {
        "masked-lm": family.masked_lm_act or field("hidden_act"),
        "sentence-classification": family.sentence_act,
    }
    dropout = field("classifier_dropout")
    same = ("vocab_size", "max_position_embeddings", "type_vocab_size", "hidden_size", "hidden_act",
            "layer_norm_eps", "hidden_dropout_prob", "attention_probs_dropout_prob")  # fmt: skip
    shared = ("pad_token_id", "bos_token_id", "eos_token_id", "id2label", "label2id",
              "problem_type", "initializer_range")  # fmt: skip
    return PolypruneConfig(
        family=family.model_type,
        head_width=theirs.hidden_size // heads,
        heads=[heads] * layers,
        units=[field("intermediate_size")] * layers,
        rank=theirs.hidden_size,
        pre_norm=family.pre_norm,
        padded_positions=family.padded_positions,
        readout_act=activation.get(readout, ""),
        readout_dropout=field("hidden_dropout_prob") if dropout is None else dropout,
        pooler=pooler and readout == "hidden-states",
        architectures=[MODELS[AUTO_CLASS[readout]].__name__],
        **{name: field(name) for name in same},
        **{name: getattr(theirs, name) for name in shared},
    )


def read_weights(folder: Path) -> dict[str, Tensor]:
    """All tensors of a folder, from one safetensors file or from shards."""
    weights: dict[str, Tensor] = {}
    for file in _weight_files(folder):
        with _damage_named(file):
            weights |= load_file(file)
    return weights


def weight_shapes(folder: Path) -> dict[str, tuple[int, ...]]:
    """The shapes of all tensors of a folder, without reading them."""
    shapes = {}
    for path in _weight_files(folder):
        with _damage_named(path), safe_open(path, "pt") as file:
            shapes |= {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    return shapes


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (SafetensorError, OSError) as error:
        raise CheckpointError(
            f"{path} is damaged or truncated ({error}). Copy or download it again."
        ) from error


def _weight_files(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    else:
        names = ["model.safetensors"]
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise CheckpointError(_why_no_weights(folder, missing))
    return [folder / name for name in names]


def _why_no_weights(folder: Path, missing: list[str]) -> str:
    pickles = [path.name for path in (*folder.glob("*.bin"), *folder.glob("*.pt"))]
    if pickles:
        return (
            f"{folder} holds only a pickle ({pickles[0]}), which can run code when read; polyprune "
            "reads safetensors. If you trust the file, convert it with transformers: "
            f'AutoModelForMaskedLM.from_pretrained("{folder}").save_pretrained("converted").'
        )
    return f"{folder} lacks {', '.join(missing)}. Copy or download the folder again."


def plain_name(name: str, family: Family) -> str:
    """Their name without prefix, and with today's spelling of norms."""
    name = name.removeprefix(f"{family.prefix}.")
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace(
        "LayerNorm.beta", "LayerNorm.bias"
    )


def _query_rows(weights: Mapping[str, Tensor], family: Family, config: PolypruneConfig) -> int:
    """How many rows all query matrices have together."""
    names = [
        family.their_names(f"encoder.layers.{i}.attention.project.weight", "hidden-states")[0]
        for i in range(len(config.heads))
    ]
    return sum(len(weights[name]) for name in names if name in weights)


def _fill(
    config: PolypruneConfig, weights: Mapping[str, Tensor], readout: Readout, folder: Path
) -> PolyprunePreTrainedModel:
    """Our model with the tensors that `weights` has; at most the readout's may be missing."""
    family, cls = FAMILIES[config.family], MODELS[AUTO_CLASS[readout]]
    state, missing = {}, []
    for ours, like in empty(cls, config).state_dict().items():
        names = family.their_names(ours, readout)
        found = [tensor for name in names if (tensor := _find(weights, name)) is not None]
        if len(found) < len(names):
            missing.append(ours)
            continue
        state[ours] = torch.cat(found) if len(found) > 1 else found[0]
        if state[ours].shape != like.shape:
            raise CheckpointError(
                f"{names[0]} in {folder} has shape {tuple(found[0].shape)}, which does not fit its "
                "config.json. Weights and config belong to different models."
            )
    if any(name.startswith("encoder.") for name in missing):
        raise CheckpointError(
            f"{folder} lacks {len(missing)} tensors, first {missing[0]}. Its weights are not those "
            f"of a whole {family.model_type} model: copy or download it again."
        )
    if missing:
        logger.warning("%s has no trained %s: it starts from random weights.", folder, readout)
    return assemble(cls, config, state)


def _find(weights: Mapping[str, Tensor], name: str) -> Tensor | None:
    """A tensor by its name; a tied bias may have been saved under its other name."""
    return weights.get(name, weights.get(name.replace(".bias", ".decoder.bias")))


def _refuse_untied(
    theirs: PreTrainedConfig, weights: Mapping[str, Tensor], readout: Readout, folder: Path
) -> None:
    if readout != "masked-lm" or getattr(theirs, "tie_word_embeddings", True):
        return
    output = next((t for name, t in weights.items() if any(map(name.endswith, TIED))), None)
    if output is not None and not torch.equal(output, weights["embeddings.word_embeddings.weight"]):
        raise CheckpointError(
            f"The masked-LM readout of {folder} has an output table of its own; polyprune ties it "
            'to the word table. Load the encoder alone: readout="hidden-states".'
        )


def _without(
    model: PolyprunePreTrainedModel, pruned: Mapping[int, set[int]]
) -> PolyprunePreTrainedModel:
    """The model without the heads that an old config lists, whose weights were saved in full."""
    gates = open_gates(model.shape)
    for layer, heads in pruned.items():
        gates.heads[layer][:, sorted(heads)] = 0
    return shrink(model, gates)
