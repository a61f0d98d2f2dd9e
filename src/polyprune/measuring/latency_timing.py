"""Measure the latency table of this machine: sublayers of every width, timed in turns.

A sublayer by itself would keep its weights in the cache and flatter small widths. So whole models
are timed, all of whose layers have the width in question, and what they take more than a model
without heads and units is divided by the number of layers.
"""

import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import CheckpointError
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.network.modeling_polyprune import PolypruneModel
from ..model.network.shape import EncoderShape
from ..progress import SILENT, Progress
from ..pruning.selection.latency import Curve, LatencyTable, load_table
from ..storage import cache_folder
from .calls import timed_call
from .machine import machine
from .turns import Clock, in_turns, time_call
from .workload import TokenBatch, Workload

VERSION = 1
"""The version of a table's meaning; older tables are measured again."""

HEADS = (1 / 12, 2 / 12, 3 / 12, 4 / 12, 6 / 12, 8 / 12, 10 / 12, 1.0)
UNITS = (1 / 48, 1 / 24, 1 / 12, 1 / 6, 1 / 4, 3 / 8, 1 / 2, 3 / 4)
RANKS = (1 / 8, 1 / 2)
"""The widths that are measured, as shares of the full width; others are interpolated."""

STEPS = (1, 4, 8, 16, 32, 64)
"""The multiples of units that are tried for speed."""

AS_GOOD = 1.03
"""The slowdown per unit that is tolerated before another multiple is preferred."""

SECONDS, ROUNDS = 60.0, (3, 9)
"""The target seconds of a table, and the range of rounds."""

WORDS = 4096
"""The number of rows of the random word table; more would only take memory."""


@dataclass(frozen=True, slots=True)
class BatchShape:
    """The shape of the batch that models should be fast on."""

    batch: int = 1
    tokens: int = 128

    def batch_for(self, model: PolyprunePreTrainedModel) -> TokenBatch:
        """Return random token ids that every model of the table knows."""
        words = min(model.shape.vocab_size, WORDS)
        return Workload(words, self.tokens).batches(self.batch)[0]


def cached_table(
    model: PolyprunePreTrainedModel, load: BatchShape, progress: Progress = SILENT
) -> LatencyTable:
    """Return the latency table of this machine; measure and cache it if needed."""
    about = describe_conditions(model, load)
    key = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
    path = cache_folder() / "latency" / f"{key}.json"
    if path.is_file():
        try:
            return load_table(path)
        except CheckpointError:
            pass  # half a file of a full disk, say: it is measured again
    table = measure_table(model, load, progress=progress)
    table.save(path)
    return table


def describe_conditions(model: PolyprunePreTrainedModel, load: BatchShape) -> dict[str, Any]:
    """Describe everything that the timings depend on."""
    shape = model.shape
    return {
        "version": VERSION,
        "batch": load.batch,
        "tokens": load.tokens,
        "layers": shape.layers,
        "width": shape.width,
        "head_width": shape.head_width,
        "heads": max(shape.heads),
        "units": max(shape.units),
        "pre_norm": model.config.pre_norm,
        "activation": model.config.hidden_act,
        "device": str(model.device),
        **machine(),
    }


def measure_table(
    model: PolyprunePreTrainedModel,
    load: BatchShape,
    *,
    progress: Progress = SILENT,
    clock: Clock = time.perf_counter,
) -> LatencyTable:
    """Measure the latency table with randomly initialized encoders of all widths."""
    plan, likes = _plan(model.shape), _tried_multiples(model.shape)
    shapes = [*plan.values(), *likes.values()]
    make = EncoderFactory(model)
    batch = load.batch_for(model)
    calls = [timed_call(make(shape), batch) for shape in shapes]
    once = sum(time_call(call, clock) for call in calls)  # the first time is the slowest
    rounds = int(np.clip(SECONDS / max(once, 1e-9), *ROUNDS))
    with progress.stage("Measuring widths", rounds):
        each_round = progress.track("", range(rounds))
        seconds = in_turns(calls, each_round, warmup=1, clock=clock)
    # Each beside the dense model of its round, so that a slow minute touches all alike.
    middle = np.median(seconds / seconds[:, :1], axis=0) * np.median(seconds[:, 0])
    found = dict(zip([*plan, *likes], middle.tolist(), strict=True))
    return _table(found, model.shape.layers, describe_conditions(model, load))


def _table(found: dict[tuple[str, int], float], layers: int, about: dict) -> LatencyTable:
    base = found["heads", 0]

    def curve(kind: str, each: int) -> list[tuple[int, float]]:
        points = sorted((n, seconds) for (k, n), seconds in found.items() if k == kind)
        return [(n, (seconds - base) / each) for n, seconds in points]

    widths = [(n, seconds / n) for (k, n), seconds in found.items() if k == "multiple"]
    return LatencyTable(
        about=about,
        base=base,
        heads=_rising(curve("heads", layers)),
        units=_rising([(0, 0.0), *curve("units", layers)]),
        rank=((0, 0.0), *curve("rank", 1)),
        liked=preferred_multiple(widths),
    )


def preferred_multiple(seconds_a_unit: Iterable[tuple[int, float]]) -> int:
    """Return the smallest multiple of units that is about as fast per unit as the fastest."""
    each = {max(step for step in STEPS if n % step == 0): s for n, s in seconds_a_unit}
    if not each:
        return 1
    best = min(each.values())
    return min(step for step, seconds in each.items() if seconds <= AS_GOOD * best)


def _rising(curve: Sequence[tuple[int, float]]) -> Curve:
    """Make a curve non-decreasing: fewer seconds for more components is noise."""
    counts, seconds = zip(*curve, strict=True)
    return tuple(zip(counts, np.maximum.accumulate(seconds).tolist(), strict=True))


def _plan(shape: EncoderShape) -> dict[tuple[str, int], EncoderShape]:
    """Return the dense shape and one shape per measured width, keyed by what it measures."""
    plain = replace(shape, rank=shape.width, factorized=False)
    heads, units = max(shape.heads), max(shape.units)
    dense = _even(plain, heads, units)
    plan = {("dense", 0): dense, ("heads", 0): _even(plain, 0, 0)}
    for n in sorted({max(1, round(share * heads)) for share in HEADS}):
        plan["heads", n] = _even(plain, n, 0)
    for n in sorted({_whole(share * units) for share in UNITS} | {units}):
        plan["units", n] = _even(plain, 0, n)
    for rank in sorted({max(1, round(share * shape.width)) for share in RANKS} | {shape.width}):
        plan["rank", rank] = replace(_even(plain, 0, 0), rank=rank, factorized=True)
    return plan


def _tried_multiples(shape: EncoderShape) -> dict[tuple[str, int], EncoderShape]:
    """Return neighbouring widths, each divisible by another step and by no larger one."""
    plain = replace(shape, rank=shape.width, factorized=False)
    start = max(shape.units) // 2 // 64 * 64
    if not start:
        return {}
    return {("multiple", start + step): _even(plain, 0, start + step) for step in STEPS[:-1]} | {
        ("multiple", start): _even(plain, 0, start)
    }


def _even(shape: EncoderShape, heads: int, units: int) -> EncoderShape:
    layers = shape.layers
    return replace(shape, heads=(heads,) * layers, units=(units,) * layers)


def _whole(width: float) -> int:
    """Round to a width that suits every processor."""
    return max(1, round(width / 16) * 16) if width >= 16 else max(1, round(width))


class EncoderFactory:
    """Makes randomly initialized encoders of any shape, wired like a model's.

    Without a readout and in 32 bits, as `polyprune measure` has it: words predicted over a large
    vocabulary take longer than all layers together, and few that deploy a model predict them.
    """

    def __init__(self, like: PolyprunePreTrainedModel):
        self.like = like

    def __call__(self, shape: EncoderShape) -> PolypruneModel:
        """Make an encoder of this shape, for timing only."""
        shape = replace(shape, vocab_size=min(shape.vocab_size, WORDS))
        config = self.like.config.reshaped(shape)
        config.pooler = False
        hollow = PolypruneModel.empty(config)
        state = {name: self._weights(each) for name, each in hollow.state_dict().items()}
        return PolypruneModel.assemble(config, state).requires_grad_(False)

    def _weights(self, hollow: Tensor) -> Tensor:
        made = torch.empty(hollow.shape, dtype=torch.float32, device=self.like.device)
        return made.fill_(0.5) if made.ndim == 1 else made.uniform_(-0.05, 0.05)
