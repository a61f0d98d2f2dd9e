"""The optimizer: parameter groups, each with its own learning rate and weight decay."""

from typing import Any

import torch
from torch import nn

from .phases import Phase
from .run_sections import EngineConfig
from .training_module import TrainingModule


def freeze_others(system: TrainingModule, phase: Phase) -> None:
    """Disable gradients for everything that a phase does not train."""
    weights, gates = phase.train != "gates", phase.train != "weights"
    for name, parameter in system.named_parameters():
        parameter.requires_grad_(weights if name.startswith("model.") else gates)
    if not phase.words:
        system.model.encoder.embedding.words.requires_grad_(False)
    if not system.objective.uses_readout:
        for parameter in system.model.readout.parameters() if system.model.readout else ():
            parameter.requires_grad_(False)


def make_optimizer(
    system: nn.Module, phase: Phase, engine: EngineConfig, common: float = 1.0
) -> torch.optim.AdamW:
    """Make AdamW over the parameters with gradients; each group stores its `peak` learning rate.

    What gates have in `common` learns this many times as fast as what each language has.
    """
    gates = phase.gates_learning_rate or phase.learning_rate
    groups: dict[str, dict[str, Any]] = {
        "matrices": {"peak": phase.learning_rate, "weight_decay": phase.weight_decay},
        "vectors": {"peak": phase.learning_rate, "weight_decay": 0.0},
        "gates": {"peak": gates, "weight_decay": phase.gates_weight_decay},
        "common": {"peak": common * gates, "weight_decay": phase.gates_weight_decay},
        # Multipliers rise for as long as the size is missed.
        "multipliers": {"peak": gates, "weight_decay": 0.0, "maximize": True},
        # The λ₁ that is searched moves slowly: gates take their time to follow.
        "search": {"peak": gates / 10, "weight_decay": 0.0, "maximize": True},
    }
    for name, parameter in system.named_parameters():
        if parameter.requires_grad:
            groups[_group(name, parameter)].setdefault("params", []).append(parameter)
    return torch.optim.AdamW(
        [{"name": name, **group} for name, group in groups.items() if "params" in group],
        lr=phase.learning_rate,
        betas=engine.betas,
        eps=engine.epsilon,
        fused=True,
    )


def set_learning_rates(optimizer: Any, scale: float) -> dict[str, float]:
    """Set every group's learning rate to `scale` times its peak; return the rates by group."""
    for group in optimizer.param_groups:
        group["lr"] = scale * group["peak"]
    return {group["name"]: group["lr"] for group in optimizer.param_groups}


def _group(name: str, parameter: nn.Parameter) -> str:
    if ".multipliers" in name:
        return "multipliers" if parameter.ndim > 1 else "search"
    if "gating." in name:
        return "common" if name.endswith("gating.common") else "gates"
    return "matrices" if parameter.ndim > 1 else "vectors"
