"""Learned gates over a run: sharper with every step, settled when they are written."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch

from .phases import settled_at, sharpness_at
from .run_config import Run
from .training_module import TrainingModule

DECIDED = 0.01
"""A gate within this of 0 or 1 counts as being there."""


def follow_schedule(system: TrainingModule, run: Run, step: int) -> None:
    """Make the gates as sharp as a step asks for, counted from 0; settled ones stay."""
    gating = system.gating
    if gating is None or not run.gating.trainable or settled_at(run.phases, step):
        return
    gating.sharpness = sharpness_at(run.phases, step)
    if run.penalties.kind == "exact" and system.regularizer is not None:
        gating.hold_size(system.regularizer.weights)


def settle_gates(system: TrainingModule, run: Run, fold: bool) -> float:
    """Settle the gates at the size that the run aims at; return the share that changed."""
    if system.gating is None or system.regularizer is None:
        return 0.0
    density = 1 - run.gating.sparsity if run.penalties.aims_at_size else None
    return system.gating.settle(system.regularizer.weights, density, fold)


def losses_as_written(
    system: TrainingModule, run: Run, step: int, measure: Callable[[], dict[str, float]]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Measure what would be written after this step; return its losses and what was settled.

    Gates are tried hard and folded into the weights; the lower loss wins. Where nothing is to be
    settled, it is the losses of the system as it is.
    """
    learned = system.gating
    if learned is None or not learned.folds or settled_at(run.phases, step):
        return measure(), {}
    best: tuple[dict[str, float], dict[str, Any]] = {}, {}
    try:
        for fold in (False, True):
            system.gating = deepcopy(learned)
            about = {"settled": settle_gates(system, run, fold), "folded": fold}
            losses = measure()
            if not best[1] or sum(losses.values()) < sum(best[0].values()):
                best = losses, about
    finally:
        system.gating = learned
    return best


@torch.no_grad()
def gate_shares(system: TrainingModule, density: float) -> dict[str, float]:
    """Return the open size at inference and the share of gates at 0 and at 1, over all rows."""
    if system.gating is None or system.regularizer is None:
        return {}
    gates = system.gating.flat(density)
    sizes = system.regularizer.sizes((system.gating.rows_at(density) > 0).float())
    found = {
        "open": float(sizes.mean()),
        "at_zero": float((gates <= DECIDED).float().mean()),
        "at_one": float((gates >= 1 - DECIDED).float().mean()),
    }
    weight = system.regularizer.searched_weight
    return found if weight is None else found | {"sparsity_weight": weight}
