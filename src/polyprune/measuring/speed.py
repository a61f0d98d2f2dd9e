"""Models side by side on the clock: in turns, warmed up, ratios with an interval."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import ConfigError
from ..model.axes import Int
from ..model.modeling_polyprune import PolyprunePreTrainedModel
from .intervals import Interval, ratio
from .turns import Clock, in_turns, seconds_of

__all__ = ["Clock", "Speed", "compare", "in_turns", "ratios", "seconds_of"]


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a model is, and how many times faster than the first."""

    sentences_per_second: float
    ratio: float
    low: float
    """Of the 95 % interval of the ratio."""
    high: float


def compare(
    models: Mapping[str, PolyprunePreTrainedModel],
    batch: Int[Tensor, "batch seq"],
    *,
    rounds: int = 30,
    watch: Callable[[str, Iterable[Any]], Iterable[Any]] = lambda _, things: things,
    clock: Clock = time.perf_counter,
) -> dict[str, Speed]:
    """The speed of each model on a batch of token ids, beside the first of them.

    How many threads torch uses is the caller's to choose, and to write down.
    """
    if not models:
        raise ConfigError("There are no models to compare. Give one or more.")
    calls = [_call(model, batch) for model in models.values()]
    with _for_use(models.values()):
        seconds = in_turns(calls, watch("speed", range(rounds)), clock=clock)
    medians = np.median(seconds, axis=0)
    return {
        name: Speed(len(batch) / float(median), *ratio)
        for name, median, ratio in zip(models, medians, ratios(seconds), strict=True)
    }


def ratios(seconds: np.ndarray) -> list[Interval]:
    """How many times faster than the first each call is, with the ends of its interval."""
    return [ratio(seconds[:, 0], own) for own in seconds.T]


def _call(model: PolyprunePreTrainedModel, batch: Tensor) -> Callable[[], object]:
    there = batch.to(model.device)

    def run() -> None:
        with torch.inference_mode():
            model(there)
        if there.is_cuda:  # which only queues what it is asked for
            torch.cuda.synchronize(there.device)

    return run


@contextmanager
def _for_use(models: Iterable[PolyprunePreTrainedModel]) -> Iterator[None]:
    """Without dropout, for as long as they are measured."""
    before = [(model, model.training) for model in models]
    for model, _ in before:
        model.eval()
    try:
        yield
    finally:
        for model, training in before:
            model.train(training)
