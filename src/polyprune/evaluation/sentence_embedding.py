"""Sentence embeddings: the mean of a middle layer, or a sentence encoder's own pooling."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..corpora.padding import input_tensors
from ..errors import ConfigError
from ..model.network.tensor_types import Float
from ..pruning.criteria.losses import pool
from .encoded_input import EncodedInput
from .prediction import TOKENS, batch_by_length

MIDDLE = 8 / 12
"""The layer that XTREME pools, as a fraction of all: the eighth of twelve."""


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """How a sentence becomes a vector: layer, pooling, prompt, length."""

    layer: int
    """The layer whose output is pooled, counted from 1; 0 is the input of the first."""
    pooling: str = "mean"
    """`mean` over all tokens, including special ones, or the `first` token alone."""
    prompt: str = ""
    """A prefix for every sentence."""
    longest: int = 512
    """The maximum number of tokens of a sentence."""

    @classmethod
    def of(cls, model: Any, layer: int | None = None) -> "EmbeddingConfig":
        """Choose a model's embedding: a sentence encoder's own, else XTREME's middle layer."""
        depth, longest = model.shape.layers, min(512, model.longest_input)
        source = model.source
        if layer is None and source.pools:
            other = source.beyond_pooling
            if other is not None:
                raise ConfigError(
                    f"{source.folder.name} embeds sentences with {other}, which is not built in: "
                    f"give `layer`, such as {depth}, to take the mean of a layer instead."
                )
            return cls(depth, source.pooling, source.prompt, longest)
        if layer is not None and not 0 <= layer <= depth:
            raise ConfigError(f"There is no layer {layer}: this model has {depth}, from 1.")
        return cls(round(MIDDLE * depth) if layer is None else layer, longest=longest)


def embed(
    model: Any, sentences: Sequence[str], tokenizer: Any, way: EmbeddingConfig
) -> Float[Tensor, "sentences width"]:
    """Return a vector of length 1 for every sentence."""
    texts = [way.prompt + sentence for sentence in sentences]
    ids = tokenizer(texts, truncation=True, max_length=way.longest, verbose=False)["input_ids"]
    encoder, device = model.encoder, model.device
    found = torch.empty(len(texts), model.shape.width)
    budget = TOKENS.get(device.type, 2048)
    training = model.training
    model.eval()
    with torch.inference_mode():
        for some in batch_by_length([len(row) for row in ids], budget):
            batch = input_tensors([EncodedInput(i, ids[i]) for i in some], tokenizer)
            batch = {name: tensor.to(device) for name, tensor in batch.items()}
            hidden = encoder.at_layer(batch["input_ids"], batch["attention_mask"].bool(), way.layer)
            found[some] = pool(hidden, batch["attention_mask"], way.pooling).cpu()
    model.train(training)
    return found
