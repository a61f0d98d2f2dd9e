"""Prepare a model for fine-tuning: give it the task's readout and labels, and fix its gates."""

import copy
import logging
from pathlib import Path
from typing import Any

import torch

from ..loading.hub import load, read_shape
from ..model.files.row_names import SHARED
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.network.modeling_polyprune import MODELS
from ..model.network.readouts import HIDDEN_STATES
from ..pruning.criteria.losses import ONE_LABEL, problem_type
from ..pruning.shrinking import shrink_with_history
from ..storage import atomic_folder
from ..training.gating_config import GatingConfig
from .finetune_config import check_sparsity
from .task_types import labels_of
from .tasks import Task, fine_tuned_type

logger = logging.getLogger(__name__)


def prepare_for_task(
    model: str, task: Task, sparsity: float | None, folder: Path, seed: int
) -> None:
    """Write the model to fine-tune, unless it exists."""
    if (folder / "config.json").is_file():
        return
    with torch.random.fork_rng():
        torch.manual_seed(seed)  # a fresh readout begins by chance
        loaded = with_readout(model, task)
    loaded = fix_gates(loaded, sparsity)
    if task.kind.readout.labels_sentences:
        problem: Any = fine_tuned_type(task).problem
        loaded.config.problem_type = problem
    if task.labels:
        loaded.config.id2label = dict(enumerate(task.labels))
        loaded.config.label2id = {label: i for i, label in enumerate(task.labels)}
    with atomic_folder(folder) as new:
        loaded.save_pretrained(new)


def with_readout(model: str, task: Task) -> PolyprunePreTrainedModel:
    """Return a model with the task's readout: its own if it has the same labels, else a new one."""
    kind = fine_tuned_type(task)
    readout, labels = kind.readout, kind.outputs(task.labels)
    config, own = read_shape(model)
    says = tuple(labels_of(config))
    same = own == readout and (not task.labels or says == task.labels)
    if readout.labels_sentences:
        same = same and problem_type(config) == (kind.problem or ONE_LABEL)
    if same or not own.has_task:
        return load(model, readout, labels=labels, dtype=torch.float32)
    # Tensors of another size, or that mean another label, would be taken for the new ones.
    encoder = load(model, HIDDEN_STATES, dtype=torch.float32)
    config = copy.deepcopy(encoder.config)
    config.pooler, config.num_labels = False, labels or 2
    fresh = MODELS[readout.name].assemble(config, encoder.state_dict(), encoder.source)
    fresh.elastic = encoder.elastic
    logger.warning("The %s of %s is for something else: it starts anew.", own, model)
    return fresh


def fix_gates(model: PolyprunePreTrainedModel, sparsity: float | None) -> PolyprunePreTrainedModel:
    """Return the model with fixed gates, shrunk if all languages share them.

    A model of every size keeps them all unless one is chosen.
    """
    check_sparsity(model, sparsity)
    elastic = model.elastic
    if elastic is None:
        return model
    if elastic.holds_every_size and sparsity is None:
        return model
    if elastic.rows == (SHARED,):
        return shrink_with_history(model, elastic.gates(sparsity))
    model.elastic = elastic.at_one_size(sparsity)
    return model


def gating_config(model: str, sparsity: float | None) -> GatingConfig:
    """Return the gating config of a prepared model, which tells the loop what sizes to draw."""
    elastic = load(model, verify=False).elastic
    if elastic is not None and elastic.holds_every_size and sparsity is None:
        return GatingConfig(kind="dynamic")
    if elastic is None or elastic.rows == (SHARED,):  # cut before training
        return GatingConfig()
    return GatingConfig(kind="fixed", setting="non-shared", sparsity=0.0)
