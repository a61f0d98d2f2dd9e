"""Record a run while it trains: its log, its held-out losses, its checkpoints."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from accelerate.utils import gather_object

from ..corpora.stream import merge_positions
from ..storage import atomic_file
from .checkpoints import Checkpoint, delete_old_checkpoints, read_checkpoint, save_checkpoint
from .gate_settling import losses_as_written
from .loop import PhaseState, StepReport
from .run_log import RunLog
from .session import Session
from .step_batches import StepBatch


class RunRecorder:
    """Record a run while it trains: its log, its held-out losses, its checkpoints."""

    def __init__(self, session: Session, checkpoint: Checkpoint | None):
        self.session, self.checkpoint = session, checkpoint
        about = checkpoint.about if checkpoint else {}
        accelerator = session.accelerator
        self.best: dict[str, Any] | None = about.get("best")
        self.since_best: int = about.get("since_best", 0)
        self.folded: bool = about.get("folded", False)
        self.latest: dict[str, Any] | None = about.get("latest")
        self.stopped = self.ended = False
        self._log = None
        if accelerator.is_main_process:
            self._log = RunLog(session.paths.log, about.get("log_bytes", 0))
        accelerator.init_trackers(
            "training",
            # What was logged after the checkpoint will be logged again.
            init_kwargs={"tensorboard": {"purge_step": checkpoint.step + 1 if checkpoint else 0}},
        )
        self._measure_dense()

    def record_step(
        self,
        phase_state: PhaseState,
        report: StepReport,
        batch: StepBatch,
        stop: Callable[[], bool],
    ) -> StepReport:
        """Log a step and save a checkpoint if due; return the report with held-out losses."""
        run, step = self.session.run, report.step
        last_of_phase = step == phase_state.done + phase_state.phase.steps
        out_of_time = self._agreed(self.session.time_is_up)
        if step % run.saving.held_out_every == 0 or last_of_phase or out_of_time:
            losses, settled = self._held_out(phase_state, report)
            sizes, gates = self._sizes(phase_state), report.gates | settled
            report = replace(report, held_out=losses, sizes=sizes, gates=gates)
        if self._log is not None:
            self._log.write(asdict(report))
        self.session.accelerator.log(tracker_values(report), step=step)
        self.ended = self.ended or out_of_time
        self.stopped = self._agreed(stop)
        best = self.best is not None and self.best["step"] == step
        due = best or last_of_phase or step % run.saving.every == 0
        if due or self.stopped or self.ended:
            self._save(phase_state, report, batch)
        return report

    def record_start(self, phase_state: PhaseState) -> None:
        """Measure the model before the first step, where that may be what is kept."""
        run, session = self.session.run, self.session
        if self.checkpoint is not None or not run.saving.counts_start:
            return
        losses = session.held_out(phase_state.system, 1 - run.gating.sparsity)
        if losses:
            self.best = {"loss": fmean(losses.values()), "step": 0, "phase": phase_state.done}
            self._write(session.paths.before, losses)

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.flush()
            self._log.close()

    def _measure_dense(self) -> None:
        """Measure the held-out losses of the dense model once, before anything is cut."""
        path, accelerator = self.session.paths.dense, self.session.accelerator
        losses = None if path.is_file() else self.session.dense()
        accelerator.wait_for_everyone()
        if losses is not None:
            self._write(path, losses)

    def _write(self, path: Path, losses: dict[str, float]) -> None:
        """Write losses to a file, once for all processes."""
        if self.session.accelerator.is_main_process:
            with atomic_file(path, force=True) as new:
                new.write_text(json.dumps(losses), encoding="utf-8")

    def _held_out(
        self, phase_state: PhaseState, report: StepReport
    ) -> tuple[dict[str, float], dict[str, Any]]:
        """Return the losses of what would be written now, and what settling would change."""
        run = self.session.run
        losses, settled = losses_as_written(
            phase_state.plain,
            run,
            report.step - 1,
            lambda: self.session.held_out(phase_state.system, 1 - run.gating.sparsity),
        )
        self.folded = settled.get("folded", self.folded)
        if losses:
            mean = fmean(losses.values())
            self.latest = {"loss": mean, "step": report.step}
            # Of one phase: before gates closed, losses were lower.
            if (
                self.best is None
                or self.best["phase"] != phase_state.done
                or mean < self.best["loss"]
            ):
                self.best = {"loss": mean, "step": report.step, "phase": phase_state.done}
                self.since_best = 0
            else:
                self.since_best += 1
        last_phase = phase_state.done + phase_state.phase.steps == run.steps
        patience = run.saving.patience
        self.ended = last_phase and patience is not None and self.since_best >= patience
        return losses, settled

    def _sizes(self, phase_state: PhaseState) -> dict[str, float]:
        """Return the density of each row's subnetwork, in the paper's units (App. B)."""
        system, run = phase_state.plain, self.session.run
        if system.gating is None or system.regularizer is None:
            return {}
        with torch.no_grad():
            opened = (system.gating.rows_at(1 - run.gating.sparsity) > 0).float()
            sizes = system.regularizer.sizes(opened).tolist()
        return dict(zip(self.session.rows, sizes, strict=True))

    def _agreed(self, asked: Callable[[], bool]) -> bool:
        """Return whether any process is asked to stop or to end."""
        accelerator = self.session.accelerator
        if accelerator.num_processes == 1:
            return asked()
        if asked():
            accelerator.set_trigger()
        return accelerator.check_trigger()

    def _save(self, phase_state: PhaseState, report: StepReport, batch: StepBatch) -> None:
        session, accelerator = self.session, self.session.accelerator
        scaler = accelerator.scaler
        about = {
            "step": report.step,
            "position": merge_positions(gather_object([batch.position])).as_dict(),
            "log_bytes": self._log.flush() if self._log is not None else 0,
            "best": self.best,
            "latest": self.latest,
            "since_best": self.since_best,
            "ended": self.ended,
            "folded": self.folded,
            "scaler": None if scaler is None else scaler.state_dict(),
        }
        folder, main = session.paths.checkpoints, accelerator.is_main_process
        path = save_checkpoint(folder, phase_state.system, phase_state.optimizer, about, main)
        accelerator.wait_for_everyone()
        self.checkpoint = read_checkpoint(path)
        if main:
            delete_old_checkpoints(folder, session.run.saving.keep, self.checkpoint.best)


def tracker_values(report: StepReport) -> dict[str, float]:
    """Return the numbers of a step that trackers plot."""
    values = {f"loss/{name}": value for name, value in report.losses.items()}
    values |= {f"held-out/{code}": value for code, value in report.held_out.items()}
    values |= {f"size/{row}": value for row, value in report.sizes.items()}
    values |= {"learning rate": report.learning_rate, "gradient norm": report.gradient_norm}
    if report.expected_density is not None:
        values["expected density"] = report.expected_density
    return values
