"""The budget that a request asks for, and what was measured where that is a speed."""

from collections.abc import Iterator
from typing import Any

import torch

from ..measuring.latency_timing import BatchShape
from ..measuring.speed_target import MeasuredSelection, Speed, SpeedGoal
from ..model.footprint import parameters_within
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import Progress
from ..pruning.selection.budgets import Budget, Parameters, Sparsity, SparsityAndParameters
from ..pruning.selection.ranking import Minimum
from .requests.prune import PruneRequest

BINDING = {
    ("time",): "What binds is time: more would be slower.",
    ("parameters",): "What binds is the number of parameters: it is faster than it had to be.",
    ("time", "parameters"): "Time and parameters both bind.",
}


def budget_of(request: PruneRequest, model: PolyprunePreTrainedModel, progress: Progress) -> Budget:
    """Return the budget that a request asks for."""
    limits: dict[str, Any] = {
        "minimum": Minimum(request.min_heads, request.min_units, 1),
        "multiple": request.unit_multiple,
    }
    parameters = _most_parameters(model, request)
    if request.sparsity is not None:
        sparsity = Sparsity(float(request.sparsity), request.exact, request.worst, **limits)
        if parameters is None:
            return sparsity
        return SparsityAndParameters(sparsity, Parameters(parameters, **limits), **limits)
    if not request.timed:
        assert parameters is not None
        return Parameters(parameters, **limits)
    if request.threads is not None:
        torch.set_num_threads(request.threads)
    batch = BatchShape(*request.speed_at)  # pyright: ignore[reportArgumentType]
    goal = SpeedGoal(request.speedup, request.latency)  # pyright: ignore[reportArgumentType]
    return Speed(goal, batch, parameters, request.language, progress=progress, **limits)


def describe_speed(speed: MeasuredSelection) -> Iterator[str]:
    """Say what was asked for and what was measured, in two sentences."""
    goal, batch = speed.goal, speed.batch
    asked = f"{1e3 * (goal.seconds or 0):g} ms" if goal.speedup is None else f"{goal.speedup:g} ×"
    off = speed.off()
    verdict = f"{off:.0%} slower than that" if off > 0.005 else "which is reached"
    threads = speed.threads
    yield (
        f"Asked for {asked} at {batch.batch} × {batch.tokens} tokens on {threads} "
        f"thread{'s' if threads != 1 else ''}: measured {speed.speedup:.2f} × "
        f"({speed.low:.2f}–{speed.high:.2f}), {1e3 * speed.before:.3g} ms before, "
        f"{1e3 * speed.after:.3g} ms after; {verdict}."
    )
    yield BINDING.get(tuple(speed.binds), "No component had to go for that.")
    yield from (f"Note: {warning}." for warning in speed.noise["warnings"])


def _most_parameters(model: PolyprunePreTrainedModel, request: PruneRequest) -> int | None:
    """Return the smaller of the budgets of size, in parameters."""
    limits = [] if request.parameters is None else [int(request.parameters)]
    if request.size is not None:
        limits.append(parameters_within(int(request.size), model))
    return min(limits, default=None)
