"""Pad rows of tokens to the longest of a batch."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..errors import ConfigError

Batch = dict[str, Tensor]


def input_tensors(inputs: Sequence[Any], tokenizer: Any) -> Batch:
    """Return the tensors that a model takes, of inputs with `ids` and `types`, if not None."""
    batch = padded([torch.tensor(each.ids) for each in inputs], tokenizer)
    types = [each.types for each in inputs]
    if types[0] is not None:
        batch["token_type_ids"] = pad([torch.tensor(row) for row in types], 0)
    return batch


def padded(ids: Sequence[Tensor], tokenizer: Any) -> Batch:
    """Return `input_ids` and `attention_mask` of rows of tokens."""
    padding = tokenizer.pad_token_id
    if padding is None:
        if len({len(row) for row in ids}) > 1:
            raise ConfigError(
                "This tokenizer has no padding token, so examples of different lengths cannot "
                "share a batch. Set one, or train on one example at a time."
            )
        padding = 0
    return {
        "input_ids": pad(ids, padding),
        "attention_mask": pad([torch.ones_like(row) for row in ids], 0),
    }


def pad(rows: Sequence[Tensor], value: int) -> Tensor:
    """Stack rows into one tensor, padding the shorter ones with a value."""
    return torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True, padding_value=value)
