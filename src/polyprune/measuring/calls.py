"""Functions to time: one pass of a model, or of an exported file, over one batch."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from ..errors import ConfigError
from .turns import Call
from .workload import TokenBatch

Precision = Literal["float32", "bfloat16", "float16"]

Runnable = nn.Module | Callable[[Mapping[str, np.ndarray]], object]
"""A model, or a function of `input_ids` and `attention_mask` as arrays, such as an exported model.
"""


def timed_call(runner: Runnable, batch: TokenBatch, precision: Precision = "float32") -> Call:
    """Return a function that runs one pass over a batch and waits for its results."""
    if not isinstance(runner, nn.Module):
        return partial(runner, batch.arrays())
    device = next(runner.parameters()).device
    inputs = {"input_ids": batch.ids.to(device)}
    if batch.mask is not None:
        inputs["attention_mask"] = batch.mask.to(device)
    _check(precision, device)

    def run() -> None:
        with torch.inference_mode(), _cast(precision, device):
            runner(**inputs)
        synchronize(device)

    return run


def synchronize(device: torch.device) -> None:
    """Wait until a device has finished its queue."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


@contextmanager
def in_eval_mode(runners: Iterable[Any]) -> Iterator[None]:
    """Put models into eval mode inside the block."""
    before = [(each, each.training) for each in runners if isinstance(each, nn.Module)]
    for model, _ in before:
        model.eval()
    try:
        yield
    finally:
        for model, training in before:
            model.train(training)


def _cast(precision: Precision, device: torch.device) -> AbstractContextManager[Any]:
    if precision == "float32":
        return nullcontext()
    return torch.autocast(device.type, dtype=getattr(torch, precision))


def _check(precision: Precision, device: torch.device) -> None:
    if precision != "float32" and device.type != "cuda":
        raise ConfigError(
            f"{precision} is for CUDA, and this is measured on {device.type}. Leave `precision` "
            "out; for half precision or int8 on a CPU, see polyprune export."
        )
    if precision == "bfloat16" and not torch.cuda.is_bf16_supported():
        raise ConfigError("This GPU does not compute in bfloat16. Choose float16.")
