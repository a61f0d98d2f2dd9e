"""Read `config.json`, transformers' or our own, and check it before anything is made of it."""

import json
from pathlib import Path
from typing import Any

import transformers
from transformers import PreTrainedConfig

from ..errors import CheckpointError, UnknownName
from ..model.families import FAMILIES
from ..model.network.attention import ATTENTIONS
from ..model.network.configuration_polyprune import PolypruneConfig
from ..model.network.feed_forward import FEED_FORWARDS
from ..model.network.sublayer import ACTIVATIONS


def read_config(folder: Path) -> dict:
    """`config.json` as it is written."""
    path = folder / "config.json"
    if not path.is_file():
        raise CheckpointError(
            f"{folder} has no config.json. A model folder is what save_pretrained() leaves: give "
            "the folder that holds config.json and model.safetensors."
        )
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(
            f"{path} is not valid JSON ({error}). Copy the folder again."
        ) from error
    if not isinstance(written, dict):
        raise CheckpointError(f"{path} is not a model's config: it holds no names and values.")
    return written


def their_config(folder: Path) -> PreTrainedConfig:
    """The transformers config of a folder, if polyprune knows its family."""
    model_type = read_config(folder).get("model_type")
    if model_type not in FAMILIES:
        raise UnknownName(
            "model family", str(model_type), FAMILIES, f"Supported: {', '.join(FAMILIES)}."
        )
    theirs = _parsed(transformers.AutoConfig, folder)
    positions = getattr(theirs, "position_embedding_type", "absolute")
    if getattr(theirs, "is_decoder", False) or positions != "absolute":
        raise CheckpointError(
            f"{folder} is a decoder or has {positions} positions; polyprune prunes encoders with "
            "absolute positions."
        )
    return theirs


def is_own(folder: Path) -> bool:
    """Whether polyprune saved this folder, or transformers."""
    return read_config(folder).get("model_type") == PolypruneConfig.model_type


def own_config(folder: Path) -> PolypruneConfig:
    """The config of a folder that polyprune saved."""
    config = _parsed(PolypruneConfig, folder)
    check_config(config, folder)
    return config


def check_config(config: PolypruneConfig, folder: Path) -> None:
    """Raise if a config of ours contradicts itself, or names a part that we do not know."""
    try:
        _ = config.shape, config.wiring  # both check themselves
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{folder}/config.json is not right: {error}") from error
    named = (
        ("activation", config.hidden_act, ACTIVATIONS),
        ("activation", config.masked_lm_act, ACTIVATIONS),
        ("activation", config.sentence_act, ACTIVATIONS),
        ("attention", config.attention_sublayer, ATTENTIONS),
        ("feed-forward network", config.feed_forward_sublayer, FEED_FORWARDS),
    )
    for what, name, known in named:
        if name not in known:
            raise CheckpointError(f"{folder} has {what} {name!r}; known are {', '.join(known)}.")


def _parsed(kind: Any, folder: Path) -> Any:
    try:
        return kind.from_pretrained(folder)
    except Exception as error:  # whatever transformers does not like about a value
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{folder}/config.json is not right: {reason}.") from error
