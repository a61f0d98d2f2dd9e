"""Putting a model together from a config and ready-made tensors, without initializing it twice."""

import copy
from collections.abc import Mapping
from typing import TypeVar

import torch
from torch import Tensor

from .network.modeling_polyprune import PolypruneConfig, PolyprunePreTrainedModel
from .network.shape import EncoderShape

Model = TypeVar("Model", bound=PolyprunePreTrainedModel)


def reshaped(config: PolypruneConfig, shape: EncoderShape) -> PolypruneConfig:
    """A copy of `config` for an encoder of another shape."""
    new = copy.deepcopy(config)
    new.vocab_size, new.max_position_embeddings = shape.vocab_size, shape.positions
    new.heads, new.units = list(shape.heads), list(shape.units)
    new.rank, new.factorized = shape.rank, shape.factorized
    return new


def empty(cls: type[Model], config: PolypruneConfig) -> Model:
    """A model whose weights take no memory yet."""
    with torch.device("meta"):
        return cls(config).eval()


def assemble(cls: type[Model], config: PolypruneConfig, state: Mapping[str, Tensor]) -> Model:
    """A model in evaluation mode that owns the tensors of `state`.

    A readout that `state` does not have, because the checkpoint was trained for something else,
    starts from random weights.
    """
    model = empty(cls, config)
    model.load_state_dict(state, strict=False, assign=True)
    _start_missing_readout(model)
    model.requires_grad_(True)
    dtype = next(iter(state.values())).dtype
    model.config.dtype = str(dtype).removeprefix("torch.")
    return model


def _start_missing_readout(model: PolyprunePreTrainedModel) -> None:
    words = model.encoder.embedding.words.weight
    if model.readout is None or words.is_meta:
        return
    for module in model.readout.modules():
        if any(parameter.is_meta for parameter in module.parameters(recurse=False)):
            module.to_empty(device="cpu", recurse=False).to(words.dtype)
            model._init_weights(module)
