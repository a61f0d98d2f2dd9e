"""A run from its config to a finished model folder, through any number of interruptions."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch.nn.parallel import DistributedDataParallel

from ..corpora.positions import StreamPosition
from ..errors import ConfigError
from ..loading.finding import find
from ..loading.hub import load
from ..model.files.fingerprint import quick_hash
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import SILENT, Progress, Stopped
from ..storage import atomic_file, atomic_folder
from ..versions import versions
from .checkpoints import (
    Checkpoint,
    check_same_run,
    latest_checkpoint,
    load_optimizer,
)
from .loop import Diverged, PhaseState, StepReport, describe_gates, steps
from .optimizer import freeze_others, make_optimizer
from .phases import locate_step, settled_at
from .recorder import RunRecorder
from .run_config import Run
from .run_paths import RunPaths
from .run_progress import describe_losses
from .run_results import dense_losses
from .run_sections import IN_MEMORY
from .session import Material, Session, make_accelerator
from .trained_model import final_model, settle_checkpoint, trained_model, untrained_model

OpenMaterial = Material | Callable[[Run], Material]
"""The data of a run, or what opens it."""

Describe = Callable[[int, Mapping[str, float]], str]
"""Returns a few lines about the held-out losses at a step."""


def train(
    run: Run,
    out: Path,
    *,
    material: OpenMaterial,
    progress: Progress = SILENT,
    force: bool = False,
) -> Iterator[StepReport]:
    """Train; yield one report per remaining step, and write the model to `out/model` at the end.

    The material is the data to train on, or a function that opens a run's, such as
    `TextMaterial.of`. A run that `progress` asks to stop saves where it is and raises `Stopped`;
    one that was stopped or killed goes on from its last checkpoint as if nothing had happened.
    """
    paths = RunPaths(out)
    run = run if force else as_begun(run, paths)
    accelerator = make_accelerator(run, paths)
    with accelerator.main_process_first():
        material = material if isinstance(material, Material) else material(run)
        material.check(run, accelerator)
        register_run(run, paths, material.files, force=force and accelerator.is_main_process)
    if (paths.model / "config.json").is_file():
        return
    try:
        with progress.stage("Preparing"):
            session = material.open(run, paths, accelerator, progress)
        try:
            yield from _train(session, progress.should_stop)
        except Diverged:
            if not run.saving.counts_start:  # else what was best before is kept
                raise
        if accelerator.is_main_process:
            material.keep(final_model(session), paths)
        accelerator.wait_for_everyone()
    finally:
        for tracker in accelerator.trackers:  # what connects processes stays: runs may follow
            tracker.finish()


def follow(
    run: Run,
    out: Path,
    *,
    material: OpenMaterial,
    progress: Progress = SILENT,
    force: bool = False,
    describe: Describe | None = None,
) -> Iterator[StepReport]:
    """Train as `train` does, and show the progress of every step and the held-out losses."""

    def losses(step: int, held_out: Mapping[str, float]) -> str:
        return describe_losses(step, held_out, dense_losses(out))

    describe = describe or losses
    tokens, started = 0, 0.0
    with progress.stage("Training", run.steps):
        for report in train(run, out, progress=progress, force=force, material=material):
            now = time.monotonic()
            if started:
                tokens += report.tokens
            else:  # what came before the first step was preparation
                started = now
            speed = tokens / max(now - started, 1e-9)
            loss = f"loss {report.losses['total']:.3f}, {speed:,.0f} tokens/s"
            progress.update(report.step, f"{report.phase}: {loss}{describe_gates(report)}")
            if report.held_out:
                progress.message(describe(report.step, report.held_out))
            yield report


def register_run(run: Run, paths: RunPaths, files: dict[str, Any], *, force: bool = False) -> None:
    """Write the run's record; raise unless its folder is free or holds the same run."""
    out, identity = paths.out, run.identity() | {"files": files | _hashes(run)}
    known = is_run(paths)
    if force and known:
        paths.clear()
    elif known:
        check_same_run(paths.record, identity)
        return
    others = [path for path in out.iterdir() if path.name[0] != "."] if out.is_dir() else []
    if out.is_file() or (others and not known):
        raise ConfigError(f"{out} is not a run. Choose another `out`.")
    out.mkdir(parents=True, exist_ok=True)
    with atomic_file(paths.record, force=True) as path:
        path.write_text(json.dumps(identity | {"versions": versions()}, indent=2), encoding="utf-8")


def as_begun(run: Run, paths: RunPaths) -> Run:
    """Return the run with the rule that it was begun with, where its config leaves that open.

    What is taken then has changed once.
    """
    if run.gating.rule is not None or not run.gating.ranked or not is_run(paths):
        return run
    rule = json.loads(paths.record.read_text(encoding="utf-8"))["gating"].get("rule")
    return replace(run, gating=replace(run.gating, rule=rule))


def is_run(paths: RunPaths) -> bool:
    """Return whether a folder holds a polyprune run, not some other `run.json`."""
    try:
        record = json.loads(paths.record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(record, dict) and {"phases", "corpus", "gating"} <= record.keys()


def _hashes(run: Run) -> dict[str, Any]:
    """Return a hash of each model that a run names, and of the code of a user's own criterion."""
    if run.model.start == IN_MEMORY:
        return {}  # whoever gave the models has said what they are
    models = {"start": run.model.start, "teacher": run.teacher.start}
    return {
        name: quick_hash(find(path)) for name, path in models.items() if path and path != "fresh"
    } | run.gating.own_code()


def _train(session: Session, stop: Callable[[], bool]) -> Iterator[StepReport]:
    run, accelerator = session.run, session.accelerator
    with accelerator.main_process_first():
        checkpoint = latest_checkpoint(session.paths.checkpoints)
    done = checkpoint.step if checkpoint else 0
    if done >= run.steps or (checkpoint and checkpoint.about["ended"]):
        return
    recorder = RunRecorder(session, checkpoint)
    position = StreamPosition.from_dict(checkpoint.about["position"]) if checkpoint else None
    step_batches = session.step_batches(position)
    try:
        for index in range(locate_step(run.phases, done)[0], len(run.phases)):
            phase_state, first = start_phase(session, index, recorder.checkpoint)
            recorder.record_start(phase_state)
            for report, batch in steps(phase_state, run, step_batches, first):
                yield recorder.record_step(phase_state, report, batch, stop)
                if recorder.stopped:
                    raise Stopped(f"Stopped and saved after step {report.step} of {run.steps}.")
                if recorder.ended:
                    return
    finally:
        step_batches.close()  # pyright: ignore[reportAttributeAccessIssue]
        recorder.close()


def start_phase(
    session: Session, index: int, checkpoint: Checkpoint | None
) -> tuple[PhaseState, int]:
    """Set up a phase, restored from a checkpoint if given; return it and its next step."""
    run, accelerator = session.run, session.accelerator
    phase, done = run.phases[index], sum(each.steps for each in run.phases[:index])
    first = max(0, checkpoint.step - done) if checkpoint else 0
    accelerator.free_memory()
    model, fresh_cut = _phase_model(session, index, first, checkpoint)
    system = session.system(model)
    if checkpoint is not None and not fresh_cut:
        system.load_state_dict(checkpoint.tensors("system"))
        if settled_at(run.phases, done + first):
            settle_checkpoint(system, run, checkpoint)
    freeze_others(system, phase)
    system.to(accelerator.device)
    optimizer = make_optimizer(system, phase, run.engine, run.gating.common)
    # Buffers, such as the boundaries of every gate, never change: nothing to be sent around.
    constant = [name for name, _ in system.named_buffers()]
    DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(system, constant)
    system, optimizer = accelerator.prepare(system, optimizer)
    if checkpoint is not None and first:
        load_optimizer(checkpoint, system, optimizer)
    if accelerator.scaler is not None and checkpoint is not None and checkpoint.about["scaler"]:
        accelerator.scaler.load_state_dict(checkpoint.about["scaler"])
    return PhaseState(accelerator, system, optimizer, phase, done), first


def _phase_model(
    session: Session, index: int, first: int, checkpoint: Checkpoint | None
) -> tuple[PolyprunePreTrainedModel, bool]:
    """Return the model that a phase trains, and whether it was shrunk just now.

    Gates that are shared, learned and no longer trained are cut: half the size is half the cost.
    """
    run = session.run
    if not run.gating.cut_when_trained or len(session.rows) != 1:
        return untrained_model(session), False
    cuts = [i for i in range(1, index + 1) if run.phases[i].train == "weights"]
    if not cuts:
        return untrained_model(session), False
    folder = session.paths.cut(cuts[0])
    with session.accelerator.main_process_first():
        if not (folder / "config.json").is_file():
            assert checkpoint is not None
            small = trained_model(session, checkpoint, untrained_model(session))
            with atomic_folder(folder) as new:
                small.save_pretrained(new)
    return load(folder, verify=False), index == cuts[0] and first == 0
