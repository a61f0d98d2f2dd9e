"""Whom a student learns from, and whether it can."""

from pathlib import Path
from typing import Any

import torch

from ..errors import ConfigError
from ..loading.finding import find
from ..loading.hub import load
from ..model.network.gated_model import PolyprunePreTrainedModel
from .run_config import Run, check_length


def load_teacher(run: Run, start: Path) -> PolyprunePreTrainedModel:
    """Load the teacher that a run names, or the model in `start` that its student comes from."""
    if run.teacher.start is None and run.model.start == "fresh":
        raise ConfigError("A fresh model has no teacher of its own: set teacher.start.")
    return load(find(run.teacher.start) if run.teacher.start else start, dtype=torch.float32)


def checked_teacher(
    run: Run, teacher: PolyprunePreTrainedModel, student: PolyprunePreTrainedModel, tokenizer: Any
) -> tuple[PolyprunePreTrainedModel, Any]:
    """Return a frozen teacher that suits its student, and its tokenizer if that is another one."""
    known = teacher.source.tokenizer()
    same = known is None or known.get_vocab() == tokenizer.get_vocab()
    if not same and (not run.teacher.cache or run.corpus.parallel is not None):
        raise ConfigError(
            f"The teacher in {teacher.source} reads other words than the student: they must share "
            "a tokenizer, or only embed lines (teacher.cache = true, without corpus.parallel)."
        )
    _check_widths(run, student, teacher)
    check_length(run, teacher)
    if not run.teacher.cache:
        check_readout(run, teacher)
    return teacher.requires_grad_(False).eval(), None if same else known


def check_readout(run: Run, model: PolyprunePreTrainedModel) -> None:
    """Raise if a model's readout does not fit the objective."""
    wanted, kind = set(run.objective.active), model.readout_kind
    if wanted & {"mlm", "soft"} and not kind.predicts_words:
        raise ConfigError(
            f"This model has no masked-LM readout but {kind}, so it cannot learn mlm or soft. For "
            "a sentence encoder, use embeddings."
        )
    if "outputs" in wanted and not kind.has_task:
        raise ConfigError(f"A model with the readout {kind} has no outputs. Use mlm or embeddings.")


def _check_widths(
    run: Run, model: PolyprunePreTrainedModel, teacher: PolyprunePreTrainedModel
) -> None:
    wanted, ours, theirs = set(run.objective.active), model.shape, teacher.shape
    fits = ours.width == theirs.width or (run.teacher.cache and ours.width < theirs.width)
    if not fits and wanted & {"cosine", "hidden", "embeddings", "translations"}:
        raise ConfigError(
            f"The teacher is {theirs.width} wide, the student {ours.width}: learn from relations "
            "or similarities, not from hidden states or embeddings. Those of a wider teacher can "
            "be learned with teacher.cache = true."
        )
    if ours.heads[-1] != theirs.heads[-1] and wanted & {"attention", "values"}:
        raise ConfigError(
            f"The teacher's last layer has {theirs.heads[-1]} heads, the student's "
            f"{ours.heads[-1]}: learn from relations, not from attention and values."
        )
