"""What a model says about inputs: those of a length together, so that almost nothing is padding."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..corpora.collate import pad, padded
from ..model.components import Gates
from .encoded import Encoded

Watch = Callable[[str, Iterable], Iterable]

TOKENS = {"cpu": 2048, "cuda": 32768}
"""That a batch has at most: on CPUs as many as stay in the cache, on GPUs enough to fill them."""


def predict(
    model: Any,
    encoded: Sequence[Encoded],
    tokenizer: Any,
    gates: Gates | None = None,
    watch: Watch = lambda _, things: things,
) -> list[np.ndarray]:
    """The logits of every pair, the likeliest label of every token, or the logits of every span.

    In the order of the inputs, each as long as its input.
    """
    found: list[np.ndarray] = [np.empty(0)] * len(encoded)
    lengths = [len(each.ids) for each in encoded]
    training = model.training
    model.eval()
    with torch.inference_mode():
        for some in watch("predicting", batches(lengths, TOKENS.get(model.device.type, 2048))):
            batch = tensors([encoded[i] for i in some], tokenizer)
            batch = {name: tensor.to(model.device) for name, tensor in batch.items()}
            output = READ[model.readout_kind](model(**batch, gates=gates))
            for i, row in zip(some, output.cpu().numpy(), strict=True):
                found[i] = row[..., : lengths[i]] if model.readout_kind in BY_TOKEN else row
    model.train(training)
    return found


def batches(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Numbers of inputs, the longest first, with so many tokens in a batch at most, padding too."""
    # The longest first: if memory is too small, it is so at once.
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    found: list[list[int]] = []
    for i in order:
        if found and (len(found[-1]) + 1) * lengths[found[-1][0]] <= tokens:
            found[-1].append(i)
        else:
            found.append([i])
    return found


def tensors(encoded: Sequence[Encoded], tokenizer: Any) -> dict[str, Tensor]:
    """What a model takes, padded to the longest."""
    batch = padded([torch.tensor(each.ids) for each in encoded], tokenizer)
    types = [each.types for each in encoded]
    if types[0] is not None:
        batch["token_type_ids"] = pad([torch.tensor(row) for row in types], 0)
    return batch


def label_tensors(encoded: Sequence[Encoded], readout: str) -> dict[str, Tensor]:
    """What the loss of a readout takes."""
    if readout == "span":
        starts, ends = torch.tensor([each.labels for each in encoded]).unbind(1)
        return {"start_positions": starts, "end_positions": ends}
    if readout == "token-classification":
        return {"labels": pad([torch.tensor(each.labels) for each in encoded], -100)}
    return {"labels": torch.tensor([each.labels[0] for each in encoded])}


READ: dict[str, Callable[[Any], Tensor]] = {
    "sentence-classification": lambda output: output.logits.float(),
    "token-classification": lambda output: output.logits.argmax(-1),
    "span": lambda output: torch.stack([output.start_logits, output.end_logits], 1).float(),
}
"""What is kept of a model's output: of 40 languages it has to fit."""

BY_TOKEN = ("token-classification", "span")
