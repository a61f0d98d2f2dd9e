"""What an exported model can do without any task: find translations, and guess hidden words.

The same as `evaluation.quality` asks of a model, so that the two can be put side by side.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyprune.corpora.batching import Batching
from polyprune.evaluation.quality import percent
from polyprune.evaluation.retrieval import nearest
from polyprune.exporting.export_graph import POOLED
from polyprune.exporting.runners import Runner
from polyprune.pruning.criteria.losses import pool


def find_translations(
    runner: Runner,
    batching: Batching,
    lines: Mapping[str, Sequence[str]],
    pivot: str,
    pooling: str = "mean",
) -> dict[str, float]:
    """The percentage of lines of each language whose nearest line of `pivot` is at their place."""
    database = embed(runner, batching, lines[pivot], pooling)
    found = {}
    for code in lines:
        if code != pivot:
            own = embed(runner, batching, lines[code], pooling)
            right = nearest(database, own) == torch.arange(len(own))
            found[code] = percent(int(right.sum()), len(own))
    return found


def embed(
    runner: Runner, batching: Batching, lines: Sequence[str], pooling: str = "mean"
) -> Tensor:
    """A vector for every line, of length 1."""
    order = sorted(range(len(lines)), key=lambda i: len(lines[i]))
    found: Tensor | None = None
    for start in range(0, len(order), batching.size):
        some = order[start : start + batching.size]
        # One batch at a time, in the order of `some`: lines of a batch are sorted by length.
        (batch,) = batching.plain([lines[i] for i in some])
        output = runner({name: tensor.numpy() for name, tensor in _full(batch).items()})
        vectors = _vectors(output, batch, pooling)
        found = torch.empty(len(lines), vectors.shape[1]) if found is None else found
        found[some] = vectors
    return torch.empty(0, 1) if found is None else found


def guess_words(
    runner: Runner, tokenizer: Any, lines: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """The percentage of masked words of each language that a masked LM puts first."""
    batching = Batching(tokenizer, size=32)
    found = {}
    for code in lines:
        right = asked = 0
        for batch in batching.masked(lines[code]):
            labels = batch.pop("labels").numpy()
            output = runner({name: tensor.numpy() for name, tensor in _full(batch).items()})
            hidden = labels != -100
            right += int((np.argmax(output["logits"], -1) == labels)[hidden].sum())
            asked += int(hidden.sum())
        found[code] = percent(right, asked)
    return found


def _full(batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """With token types, should the model want some: of one text, all the same."""
    return {**batch, "token_type_ids": torch.zeros_like(batch["input_ids"])}


def _vectors(output: Mapping[str, np.ndarray], batch: Mapping[str, Tensor], pooling: str) -> Tensor:
    if POOLED in output:
        return torch.from_numpy(output[POOLED])
    states = torch.from_numpy(output["last_hidden_state"])
    return pool(states, batch["attention_mask"], pooling)
