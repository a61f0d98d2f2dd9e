"""Time models side by side: warmed up, in turns, with intervals of their ratios."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor

from ..errors import ConfigError
from ..model.network.tensor_types import Int
from ..progress import SILENT, Progress
from .calls import Precision, Runnable, in_eval_mode, timed_call
from .intervals import Interval, percentiles, ratio
from .turns import SHORTEST, Clock, TurnTimings, in_turns, take_turns, time_call
from .workload import TokenBatch

__all__ = ["Clock", "SpeedResult", "compare_speed", "in_turns", "ratios", "time_call"]


@dataclass(frozen=True, slots=True)
class SpeedResult:
    """The speed of a model, and its ratio to the first model."""

    sentences_per_second: float
    ratio: float
    low: float
    """The low end of the ratio's 95 % interval."""
    high: float
    tokens_per_second: float = 0.0
    """Tokens per second, without padding."""
    seconds: float = 0.0
    """The median seconds per batch over all rounds; the mean over batches if there are several."""
    spread: float = 0.0
    """The interquartile range of the rounds, as a share of their median."""
    percentiles: dict[int, float] = field(default_factory=dict)
    """Percentiles of the seconds of single batches, if there were enough of them."""
    calls: int = 0
    """The number of batches that were timed."""


def compare_speed(
    models: Mapping[str, Runnable],
    batch: Int[Tensor, "batch seq"] | Sequence[TokenBatch] | Mapping[str, Sequence[TokenBatch]],
    *,
    rounds: int = 30,
    progress: Progress = SILENT,
    clock: Clock = time.perf_counter,
    precision: Precision = "float32",
) -> dict[str, SpeedResult]:
    """Time models in turns; return each one's speed and its ratio to the first.

    Models, or functions that take `input_ids` and `attention_mask` as arrays. All on the same
    token ids, or on the same batches, all of which are gone through in a round; or each on batches
    of its own. How many threads torch uses is the caller's to choose, and to write down.
    """
    if not models:
        raise ConfigError("There are no models to compare. Give one or more.")
    own = {name: _batches(batch, name) for name in models}
    calls = [timed_call(models[name], each, precision) for name in models for each in own[name]]
    with in_eval_mode(models.values()):
        # It is a model's whole turn that has to be long enough to be read.
        shortest = SHORTEST / max(map(len, own.values()))
        turns = take_turns(calls, progress.track("", range(rounds)), clock=clock, shortest=shortest)
    parts = _by_model(turns, [len(each) for each in own.values()])
    # Seconds a sentence, so that batches of different sizes can be compared.
    sentences = [sum(map(len, each)) for each in own.values()]
    columns = [part.seconds.sum(1) for part in parts]
    each = ratios(np.stack(columns, axis=1) / sentences)
    return {
        name: _speed(own[name], column, part, interval)
        for name, column, part, interval in zip(models, columns, parts, each, strict=True)
    }


def ratios(seconds: np.ndarray) -> list[Interval]:
    """Return how many times faster each call is than the first, with its interval."""
    return [ratio(seconds[:, 0], own) for own in seconds.T]


def _batches(batch: Any, name: str) -> Sequence[TokenBatch]:
    if isinstance(batch, Tensor):
        return [TokenBatch(batch)]
    return batch[name] if isinstance(batch, Mapping) else batch


def _by_model(turns: TurnTimings, counts: Sequence[int]) -> list[TurnTimings]:
    """Split the timings by model."""
    ends = np.cumsum(counts)
    return [
        TurnTimings(turns.seconds[:, end - count : end], turns.singles[end - count : end])
        for end, count in zip(ends, counts, strict=True)
    ]


def _speed(
    batches: Sequence[TokenBatch], column: np.ndarray, part: TurnTimings, interval: Interval
) -> SpeedResult:
    """Summarize a model's rounds; `column` holds the seconds of each."""
    median = float(np.median(column))
    singles = np.concatenate(part.singles)
    quarter, three_quarters = np.percentile(column, [25, 75])
    return SpeedResult(
        sum(map(len, batches)) / median,
        *interval,
        tokens_per_second=sum(each.tokens for each in batches) / median,
        seconds=median / len(batches),
        spread=float(three_quarters - quarter) / median,
        percentiles=percentiles(singles),
        calls=len(singles),
    )
