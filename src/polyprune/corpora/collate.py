"""From examples to tensors: padded to the longest, with words masked for prediction."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .example import Example
from .masking import mask_example
from .padding import Batch, pad, padded


def collate(
    examples: Sequence[Example], tokenizer: Any, masked: bool = False, seed: int = 0
) -> Batch:
    """Collate examples into `input_ids` and `attention_mask`, with `labels` if masked, and pairs.

    What is masked depends on the seed and an example's number alone, so that a line is asked
    about differently in every epoch, and alike in any number of processes.
    """
    ids = [torch.tensor(example.ids) for example in examples]
    labels: dict[str, Tensor] = {}
    if masked:
        both = [mask_example(example.ids, tokenizer, seed, example.number) for example in examples]
        ids = [hidden for hidden, _ in both]
        labels = {"labels": pad([asked for _, asked in both], -100)}
    types: dict[str, Tensor] = {}
    if examples[0].types is not None:
        types = {"token_type_ids": pad([torch.tensor(each.types) for each in examples], 0)}
    return padded(ids, tokenizer) | types | labels | _pairs(examples, tokenizer)


def _pairs(examples: Sequence[Example], tokenizer: Any) -> Batch:
    pairs = [torch.tensor(example.pair) for example in examples if example.pair is not None]
    if not pairs:
        return {}
    return {f"pair_{name}": value for name, value in padded(pairs, tokenizer).items()}
