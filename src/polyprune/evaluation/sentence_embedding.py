"""Sentences as vectors: the mean of a middle layer, or what a sentence encoder was made for."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..errors import ConfigError
from ..loading.hub import longest_input
from ..model.network.source import beyond_pooling, pooling_of, prompt_of
from ..model.network.tensor_types import Float
from ..pruning.criteria.losses import pool
from .encoded_input import EncodedInput
from .prediction import TOKENS, batch_by_length, input_tensors

MIDDLE = 8 / 12
"""XTREME's: the eighth of twelve layers."""


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """How a sentence becomes a vector."""

    layer: int
    """Whose output is pooled, counted from 1; 0 is the input of the first."""
    pooling: str = "mean"
    """Over all tokens, special ones too; or the `first` alone."""
    prompt: str = ""
    """What every sentence begins with."""
    longest: int = 512
    """Tokens that a sentence is cut to."""

    @classmethod
    def of(cls, model: Any, layer: int | None = None) -> "EmbeddingConfig":
        """The middle layer as XTREME has it; a sentence encoder's own way, if it is one."""
        depth, longest = model.shape.layers, min(512, longest_input(model))
        folder = Path(model.config.name_or_path or "?")
        if layer is None and (folder / "1_Pooling").is_dir():
            other = beyond_pooling(folder)
            if other is not None:
                raise ConfigError(
                    f"{folder.name} embeds sentences with {other}, which is not built in: give "
                    f"--layer, such as {depth}, to take the mean of a layer instead."
                )
            return cls(depth, pooling_of(folder), prompt_of(folder), longest)
        if layer is not None and not 0 <= layer <= depth:
            raise ConfigError(f"There is no layer {layer}: this model has {depth}, from 1.")
        return cls(round(MIDDLE * depth) if layer is None else layer, longest=longest)


def embed(
    model: Any, sentences: Sequence[str], tokenizer: Any, way: EmbeddingConfig
) -> Float[Tensor, "sentences width"]:
    """A vector for every sentence, of length 1."""
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
