"""The model of a run: as it was before the first step, at a checkpoint, and in the end."""

from copy import deepcopy
from pathlib import Path

from ..loading.hub import load
from ..model.history import PruningStep, TrainingStep, add_training
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.network.source import ModelSource
from ..pruning.shrinking import shrink_with_history
from .checkpoints import Checkpoint, checkpoint_name, latest_checkpoint, read_checkpoint
from .gate_settling import follow_schedule, settle_gates
from .phases import settled_at
from .run_config import Run
from .run_paths import RunPaths
from .session import Session
from .training_module import TrainingModule


def final_model(session: Session) -> PolyprunePreTrainedModel:
    """Return the model of the step that is kept."""
    run, paths = session.run, session.paths
    cut = sorted(paths.out.glob("cut-*/config.json"))
    model = load(cut[-1].parent, verify=False) if cut else untrained_model(session)
    in_memory = session.student is not None
    source = model.source if in_memory else ModelSource.at(paths.prepared)
    if step := kept_step(run, paths):
        checkpoint = read_checkpoint(paths.checkpoints / checkpoint_name(step))
        model = trained_model(session, checkpoint, model)
        add_training(model.config, _training_record(session, checkpoint))
    model.source = source
    return model


def kept_step(run: Run, paths: RunPaths) -> int:
    """The step whose model is kept: the last, or the best if the run asks for it; 0 is the start.

    A run without checkpoints, which diverged before the first of them, has its start alone.
    """
    checkpoint = latest_checkpoint(paths.checkpoints)
    if checkpoint is None:
        return 0
    best = checkpoint.about["best"] if run.saving.keeps_best else None
    return checkpoint.step if best is None else best["step"]


def untrained_model(session: Session) -> PolyprunePreTrainedModel:
    """Return a new copy of the model to train, as it was before the first step."""
    if session.student is not None:
        return deepcopy(session.student)
    return load(session.paths.prepared, verify=False)


def trained_model(
    session: Session, checkpoint: Checkpoint, model: PolyprunePreTrainedModel
) -> PolyprunePreTrainedModel:
    """Return a checkpoint's model: shrunk if its gates are shared and final, else gated."""
    elastic = model.elastic
    system = session.system(model)
    system.load_state_dict(checkpoint.tensors("system"))
    if elastic is None:
        return model
    run = session.run
    settle_checkpoint(system, run, checkpoint)
    if len(elastic.rows) == 1 and not elastic.holds_every_size:
        learned = run.gating.cut_when_trained
        step = PruningStep(method=elastic.gating.kind if learned else "")
        return shrink_with_history(model, elastic.gates(), step)
    return model


def settle_checkpoint(system: TrainingModule, run: Run, checkpoint: Checkpoint) -> None:
    """Settle the gates of a checkpoint as its held-out loss decided, unless they are settled."""
    if checkpoint.step and not settled_at(run.phases, checkpoint.step - 1):
        follow_schedule(system, run, checkpoint.step - 1)
        settle_gates(system, run, checkpoint.about.get("folded", True))


def _training_record(session: Session, checkpoint: Checkpoint) -> TrainingStep:
    """Return what the model's history records about this training."""
    run, teacher = session.run, ""
    if run.objective.needs_teacher:
        teacher = Path(run.teacher.start or run.model.start).name
    latest, step = checkpoint.about.get("latest") or {}, checkpoint.step
    loss = latest["loss"] if latest.get("step") == step and run.objective.mlm else None
    languages = session.trained_languages
    return TrainingStep(step, session.trained_on, languages, teacher, held_out=loss)
