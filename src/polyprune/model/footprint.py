"""Parameters, bytes and multiply–adds as functions of a shape: nothing is loaded or run."""

from dataclasses import dataclass

import torch

from .network.modeling_polyprune import PolypruneConfig, PolyprunePreTrainedModel
from .network.readouts import Readout
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
    """Of the encoder for one sequence of `tokens` tokens; its readout's come on top."""
    readout_multiply_adds: int
    tokens: int

    @property
    def parameters(self) -> int:
        """All of them; tied ones counted once."""
        return self.embedding_parameters + self.encoder_parameters + self.readout_parameters


def footprint(
    shape: EncoderShape,
    readout: Readout = "masked-lm",
    *,
    labels: int = 2,
    pooler: bool = False,
    pre_norm: bool = False,
    tokens: int = 128,
) -> Footprint:
    """The footprint of an encoder with its readout, for sequences of `tokens` tokens."""
    embedding = embedding_parameters(shape, norm=not pre_norm)
    layers = layer_parameters(shape) + (2 * shape.width if pre_norm else 0)
    parameters, multiply_adds = _readout(shape, readout, labels, pooler, tokens)
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


def parameters_within(size: int, model: PolyprunePreTrainedModel) -> int:
    """How many parameters a weights file of so many bytes holds beside its header."""
    tensors = len(model.state_dict())
    return max(0, size - HEADER * tensors) // model.dtype.itemsize


def embedding_parameters(shape: EncoderShape, norm: bool = True) -> int:
    """Words (Ê and P, or one table), positions, token types and their norm."""
    words = shape.vocab_size * shape.rank
    project = shape.rank * shape.width if shape.factorized else 0
    rows = shape.positions + shape.token_types + (2 if norm else 0)
    return words + project + rows * shape.width


def layer_parameters(shape: EncoderShape) -> int:
    """Heads, units, their biases and the norms of every layer; output biases are never pruned."""
    w, e = shape.width, shape.head_width
    heads = sum(shape.heads) * (4 * e * w + 3 * e)
    units = sum(shape.units) * (2 * w + 1)
    output_biases_and_norms = shape.layers * (2 * w + 4 * w)
    return heads + units + output_biases_and_norms


def encoder_multiply_adds(shape: EncoderShape, tokens: int) -> int:
    """Products of P, projections, attention and feed-forward networks over one sequence."""
    w, s = shape.width, tokens
    project = shape.rank * w if shape.factorized else 0
    head = shape.head_width * (4 * w + 2 * s)  # q, k, v, output; then QKᵀ and its product with V
    return s * (project + sum(shape.heads) * head + sum(shape.units) * 2 * w)


def _readout(
    shape: EncoderShape, readout: Readout, labels: int, pooler: bool, tokens: int
) -> tuple[int, int]:
    """Parameters and multiply–adds of a readout."""
    w, dense = shape.width, shape.width * (shape.width + 1)
    if readout == "masked-lm":
        unembed = shape.rank * (shape.vocab_size + (w if shape.factorized else 0))
        return dense + 2 * w + shape.vocab_size, tokens * (w * w + unembed)
    if readout == "sentence-classification":
        return dense + labels * (w + 1), w * w + w * labels
    if readout == "hidden-states":
        return (dense, w * w) if pooler else (0, 0)
    labels = 2 if readout == "span" else labels
    return labels * (w + 1), tokens * w * labels
