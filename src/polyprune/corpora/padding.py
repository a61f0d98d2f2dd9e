"""Pad rows of tokens to the longest of a batch, and take padding away again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from ..errors import ConfigError

Batch = dict[str, Tensor]

PLACES = 512
"""Places for tokens that a part of a batch has: more take more memory, and hardly less time."""


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


def in_parts(batches: Iterable[Mapping[str, Tensor]], places: int = PLACES) -> Iterator[Batch]:
    """Yield the same examples in smaller batches of like length: less memory, and less padding."""
    for batch in batches:
        mask = batch["attention_mask"]
        lengths = (mask * torch.arange(1, mask.shape[1] + 1, device=mask.device)).amax(1)
        order = lengths.argsort(stable=True)
        for some in order.chunk(-(-mask.numel() // places)):
            longest = int(lengths[some].max())
            yield {
                name: value[some][:, :longest] if value.shape == mask.shape else value[some]
                for name, value in batch.items()
            }
