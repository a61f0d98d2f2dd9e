"""A teacher while fine-tuning: a model of the same task, whose outputs are learned too."""

from typing import Any

import torch

from ..errors import ConfigError
from ..loading.finding import find
from ..loading.hub import load
from ..model.network.gated_model import PolyprunePreTrainedModel


def load_task_teacher(
    name: str, student: PolyprunePreTrainedModel, tokenizer: Any
) -> PolyprunePreTrainedModel:
    """Load a teacher, frozen; raise unless it does the student's task in the same words."""
    teacher = load(find(name), dtype=torch.float32)
    if teacher.readout_kind != student.readout_kind or not _same_labels(teacher, student):
        raise ConfigError(
            f"The teacher {name} has a {teacher.readout_kind} readout with the labels "
            f"{_labels(teacher)}, the task a {student.readout_kind} with {_labels(student)}. "
            "Fine-tune a teacher for this task first: polyprune finetune."
        )
    known = teacher.source.tokenizer()
    if known is not None and known.get_vocab() != tokenizer.get_vocab():
        raise ConfigError(
            f"The teacher {name} reads other words than the model: they must share a tokenizer. "
            "Take a teacher that was fine-tuned from a model of the same family."
        )
    if teacher.elastic is not None:
        raise ConfigError(
            f"The teacher {name} has gates. Take one model out of it first: polyprune shrink "
            f"{name}."
        )
    return teacher.requires_grad_(False).eval()


def _same_labels(one: PolyprunePreTrainedModel, other: PolyprunePreTrainedModel) -> bool:
    return one.readout_kind.finds_spans or one.config.id2label == other.config.id2label


def _labels(model: PolyprunePreTrainedModel) -> str:
    names = [str(name) for name in (model.config.id2label or {}).values()]
    return ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
