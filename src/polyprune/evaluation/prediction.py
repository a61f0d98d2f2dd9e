"""Run a model on encoded inputs, batched by length so that there is almost no padding."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..corpora.padding import input_tensors, pad
from ..model.network.components import Gates
from ..model.network.readouts import Readout
from .encoded_input import EncodedInput

TOKENS = {"cpu": 2048, "cuda": 32768}
"""The maximum number of tokens in a batch: on CPUs what fits the cache, on GPUs what fills them."""


def predict(
    model: Any, encoded: Sequence[EncodedInput], tokenizer: Any, gates: Gates | None = None
) -> list[np.ndarray]:
    """Return each pair's logits, each token's most likely label, or each span's logits.

    In the order of the inputs, each as long as its input.
    """
    found: list[np.ndarray] = [np.empty(0)] * len(encoded)
    lengths = [len(each.ids) for each in encoded]
    reading, training = READOUT_FORMATS[model.readout_kind.name], model.training
    model.eval()
    with torch.inference_mode():
        for some in batch_by_length(lengths, TOKENS.get(model.device.type, 2048)):
            batch = input_tensors([encoded[i] for i in some], tokenizer)
            batch = {name: tensor.to(model.device) for name, tensor in batch.items()}
            output = reading.read(model(**batch, gates=gates))
            for i, row in zip(some, output.cpu().numpy(), strict=True):
                found[i] = row[..., : lengths[i]] if reading.by_token else row
    model.train(training)
    return found


def batch_by_length(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Group inputs, longest first, into batches of at most `tokens` tokens with padding."""
    # The longest first: if memory is too small, it is so at once.
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    found: list[list[int]] = []
    for i in order:
        if found and (len(found[-1]) + 1) * lengths[found[-1][0]] <= tokens:
            found[-1].append(i)
        else:
            found.append([i])
    return found


def label_tensors(encoded: Sequence[EncodedInput], readout: Readout) -> dict[str, Tensor]:
    """Return the label tensors that a readout's loss takes."""
    return READOUT_FORMATS[readout.name].labels(encoded)


@dataclass(frozen=True, slots=True)
class ReadoutFormat:
    """The labels that a readout takes, and the output that is kept of it."""

    read: Callable[[Any], Tensor]
    """Select what to keep of a model's output; for 40 languages it has to fit in memory."""
    labels: Callable[[Sequence[EncodedInput]], dict[str, Tensor]]
    """Make the tensors that its loss takes."""
    by_token: bool
    """Whether the last axis of the kept output is the tokens."""


def _of_sentences(encoded: Sequence[EncodedInput]) -> dict[str, Tensor]:
    return {"labels": torch.tensor([each.labels[0] for each in encoded])}


def _of_tokens(encoded: Sequence[EncodedInput]) -> dict[str, Tensor]:
    return {"labels": pad([torch.tensor(each.labels) for each in encoded], -100)}


def _of_spans(encoded: Sequence[EncodedInput]) -> dict[str, Tensor]:
    starts, ends = torch.tensor([each.labels for each in encoded]).unbind(1)
    return {"start_positions": starts, "end_positions": ends}


def _both_ends(output: Any) -> Tensor:
    return torch.stack([output.start_logits, output.end_logits], 1).float()


READOUT_FORMATS = {
    "sentence-classification": ReadoutFormat(lambda out: out.logits.float(), _of_sentences, False),
    "token-classification": ReadoutFormat(lambda out: out.logits.argmax(-1), _of_tokens, True),
    "span": ReadoutFormat(_both_ends, _of_spans, True),
}
"""The format of each readout."""
