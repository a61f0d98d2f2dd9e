"""What stays of a model within the budget of a request, measured where a speed is asked for."""

import math
from collections.abc import Iterator
from typing import Any

import torch

from ..corpora.languages import find_language
from ..measuring.latency_timing import BatchShape, cached_table
from ..measuring.speed_target import FitRequest, SpeedFit, SpeedGoal, fit_to_speed
from ..model.footprint import parameters_within
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import Progress
from ..pruning.prune import check_finite, select
from ..pruning.ranker import Ranker
from ..pruning.selection.budgets import Parameters, Sparsity, Time
from ..pruning.selection.ranking import Minimum
from ..pruning.selection.selection import Selection
from .requests.prune import PruneRequest

BINDING = {
    ("time",): "What binds is time: more would be slower.",
    ("parameters",): "What binds is the number of parameters: it is faster than it had to be.",
    ("time", "parameters"): "Time and parameters both bind.",
}


def select_within(
    model: PolyprunePreTrainedModel, ranker: Ranker, request: PruneRequest, progress: Progress
) -> tuple[Selection, SpeedFit | None]:
    """Select what stays; return too how it was fitted where a speed is asked for.

    Speed is a matter of this machine, so what sublayers take is measured first, or remembered.
    """
    limits: dict[str, Any] = {
        "minimum": Minimum(request.min_heads, request.min_units, 1),
        "multiple": request.unit_multiple,
    }
    if request.sparsity is not None:
        sparsity = Sparsity(float(request.sparsity), request.exact, **limits)
        return select(model, sparsity, ranker), None
    parameters = _most_parameters(model, request)
    if not request.timed:
        assert parameters is not None
        return select(model, Parameters(parameters, **limits), ranker), None
    check_finite(model)
    if request.threads is not None:
        torch.set_num_threads(request.threads)
    batch = BatchShape(*request.speed_at)  # pyright: ignore[reportArgumentType]
    table = cached_table(model, batch, progress)
    goal = SpeedGoal(request.speedup, request.latency)  # pyright: ignore[reportArgumentType]
    row = 0
    if request.language is not None:
        row = ranker.rows.index(find_language(request.language, ranker.rows, "these scores"))
    aim = FitRequest(goal, batch, Time(math.inf, table, parameters, **limits), row)
    speed = fit_to_speed(model, ranker, aim, progress)
    return speed.selection, speed


def describe_speed(speed: SpeedFit) -> Iterator[str]:
    """Say what was asked for and what was measured, in two sentences."""
    goal, batch = speed.aim.goal, speed.aim.load
    asked = f"{1e3 * (goal.seconds or 0):g} ms" if goal.speedup is None else f"{goal.speedup:g} ×"
    off = speed.off()
    verdict = f"{off:.0%} slower than that" if off > 0.005 else "which is reached"
    threads = speed.aim.budget.table.about["threads"]
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
