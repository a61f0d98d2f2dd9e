"""Parameters, bytes and multiply–adds as functions of a shape: nothing is loaded or run."""

from dataclasses import dataclass

import torch
from transformers import PreTrainedModel

from .history import ModelSize
from .network.configuration_polyprune import PolypruneConfig
from .network.embedding import Embedding
from .network.encoder import Layer, norm_parameters
from .network.readouts import MASKED_LM, READOUTS, Readout
from .network.shape import EncoderShape

HEADER = 200
"""Bytes for a tensor's name, shape and place in a safetensors file, at most."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a model weighs and what one pass over a sequence costs."""

    embedding_parameters: int
    encoder_parameters: int
    readout_parameters: int
    multiply_adds: int
    """What the encoder takes for one sequence of `tokens` tokens; its readout's come on top."""
    readout_multiply_adds: int
    tokens: int

    @property
    def parameters(self) -> int:
        """All of them; tied ones counted once."""
        return self.embedding_parameters + self.encoder_parameters + self.readout_parameters


def footprint(
    shape: EncoderShape,
    readout: Readout | str = MASKED_LM,
    *,
    labels: int = 2,
    pooler: bool = False,
    pre_norm: bool = False,
    tokens: int = 128,
) -> Footprint:
    """The footprint of an encoder with its readout, for sequences of `tokens` tokens."""
    readout = READOUTS[readout] if isinstance(readout, str) else readout
    embedding = Embedding.parameter_count(shape, norm=not pre_norm)
    layers = layer_parameters(shape) + (norm_parameters(shape) if pre_norm else 0)
    parameters, multiply_adds = readout.cost(shape, labels, pooler, tokens)
    return Footprint(
        embedding_parameters=embedding,
        encoder_parameters=layers,
        readout_parameters=parameters,
        multiply_adds=encoder_multiply_adds(shape, tokens),
        readout_multiply_adds=multiply_adds,
        tokens=tokens,
    )


def footprint_of(config: PolypruneConfig, readout: Readout, tokens: int = 128) -> Footprint:
    """The footprint of the model that a config describes."""
    return footprint(
        config.shape,
        readout,
        labels=config.num_labels or 0,
        pooler=config.pooler,
        pre_norm=config.pre_norm,
        tokens=tokens,
    )


def weight_bytes(config: PolypruneConfig, size: Footprint) -> int:
    """The bytes of the weights, in the precision that the config names."""
    name = str(config.dtype or "float32").removeprefix("torch.")
    return size.parameters * getattr(torch, name).itemsize


def size_of(config: PolypruneConfig, readout: Readout) -> ModelSize:
    """The size of the model that a config describes."""
    shape, found = config.shape, footprint_of(config, readout)
    return ModelSize(
        shape.heads, shape.units, shape.rank, found.parameters, weight_bytes(config, found)
    )


def parameters_within(size: int, model: PreTrainedModel) -> int:
    """How many parameters a weights file of so many bytes holds beside its header."""
    tensors = len(model.state_dict())
    return max(0, size - HEADER * tensors) // model.dtype.itemsize


def layer_parameters(shape: EncoderShape) -> int:
    """Heads, units, their biases and the norms of every layer; output biases are never pruned."""
    widths = zip(shape.heads, shape.units, strict=True)
    return sum(Layer.parameter_count(shape, heads, units) for heads, units in widths)


def encoder_multiply_adds(shape: EncoderShape, tokens: int) -> int:
    """Products of P, projections, attention and feed-forward networks over one sequence."""
    widths = zip(shape.heads, shape.units, strict=True)
    layers = sum(Layer.multiply_adds(shape, heads, units, tokens) for heads, units in widths)
    return tokens * (Embedding.multiply_adds(shape) + layers)
