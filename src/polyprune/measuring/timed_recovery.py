"""Recovery for so many minutes: which learning rate, how many steps, and when to end."""

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from math import inf
from pathlib import Path
from statistics import fmean

from ..errors import ConfigError
from ..progress import SILENT, Progress, Stopped
from ..storage import atomic_file
from ..training.loop import Diverged, steps
from ..training.recovery import (
    CHOICE,
    RateTrial,
    Recovery,
    RecoveryChoice,
    RecoverySettings,
    recover_model,
)
from ..training.run import start_phase
from ..training.run_config import Run
from ..training.run_paths import RunPaths
from ..training.session import ModelsInMemory, Session, make_accelerator
from ..training.text_material import TextMaterial
from .turns import Clock

RATES = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3)
"""Learning rates: the middle three are tried, then the one beyond if the best is at an end."""

TRIALS = 4
"""Learning rates that are tried at most."""

TRYING = 0.3
"""The share of the time for all trials."""

FEWEST = 5
"""Steps of a trial: after fewer, there is nothing to choose by."""

PROBED = 3
"""Steps to see what a step takes."""

MEASURING = 0.15
"""The share of the time after trials for held-out losses, at most `MEASUREMENTS` of them."""

MEASUREMENTS = 12

PATIENCE = 4
"""Held-out losses without improvement after which a run ends."""

PLANNED = 0.95
"""The share of the time after trials that steps are planned for: some will take longer."""

Plan = Callable[[RecoverySettings], Run]
"""Makes the run of a recovery with such settings."""


@dataclass(frozen=True, slots=True)
class TimedRecovery:
    """A recovery that takes so many minutes.

    Short trials, all from the same start, choose the learning rate by the loss on held-out lines.
    What is left of the time goes into one run with it, from the start again, which ends early where
    held-out losses no longer fall. A recovery that is picked up again keeps the choice that it made
    and does the steps that are missing; if it had not chosen yet, it begins anew.
    """

    minutes: float
    plan: Plan
    settings: RecoverySettings
    """What the run has besides its steps; a learning rate that is given here is not chosen."""
    models: ModelsInMemory
    work: Path
    clock: Clock = time.perf_counter

    def recover(self, progress: Progress = SILENT, *, force: bool = False) -> Recovery:
        """Choose, train, and return what is best."""
        path = self.work / CHOICE
        if force or not path.is_file():
            choice = self._choose(progress)
            with atomic_file(path, force=True) as new:
                new.write_text(json.dumps(asdict(choice)), encoding="utf-8")
        choice = _read(path)
        progress.message(str(choice))
        run = self._run(choice.steps, choice.learning_rate)
        every = choice.measured_every
        saving = replace(run.saving, held_out_every=every, patience=PATIENCE)
        end = self.clock() + choice.seconds
        recovery = recover_model(
            replace(run, saving=saving),
            self.models,
            self.work,
            progress=progress,
            force=force,
            out_of_time=lambda: self.clock() > end,
        )
        return replace(recovery, choice=choice)

    def _run(self, steps: int, rate: float | None = None) -> Run:
        rate = self.settings.learning_rate if rate is None else rate
        return self.plan(replace(self.settings, steps=steps, learning_rate=rate))

    def _choose(self, progress: Progress) -> RecoveryChoice:
        """Try learning rates for a share of the time, and plan the rest of it."""
        started, whole = self.clock(), 60 * self.minutes
        folder = self.work / "trials"
        shutil.rmtree(folder, ignore_errors=True)
        session = self._open(RunPaths(folder), progress)
        opening = self.clock() - started
        measuring, step = self._costs(session)
        trials, count = [], int((TRYING * whole / TRIALS - measuring) / step)
        if count >= FEWEST and self.settings.learning_rate is None:
            trials = self._try_rates(session, count, progress)
        rate = min(trials, key=_loss).learning_rate if trials else _rate(session.run)
        # The run itself opens its text once more.
        left = max(whole - (self.clock() - started) - opening, step)
        measurements = max(1, min(MEASUREMENTS, int(MEASURING * left / max(measuring, 1e-9))))
        steps = max(1, int((PLANNED * left - (measurements + 1) * measuring) / step))
        shutil.rmtree(folder, ignore_errors=True)
        return RecoveryChoice(
            learning_rate=rate,
            steps=steps,
            measured_every=-(-steps // measurements),
            seconds=opening + left,
            trials=tuple(trials),
            trial_steps=count,
        )

    def _open(self, paths: RunPaths, progress: Progress) -> Session:
        """Prepare the text and the models for trials."""
        run = self._run(PROBED)
        if not run.saving.counts_start:
            raise ConfigError(
                "Minutes are spent by what held-out lines say: leave `held_out` at 100, or give a "
                "number of steps instead of auto."
            )
        # The teacher's embeddings of all text are not worth their time for a few steps.
        run = replace(run, teacher=replace(run.teacher, cache=False))
        accelerator = make_accelerator(run, paths)
        with progress.stage("Preparing"):
            return TextMaterial.of(run, self.models).open(run, paths, accelerator, progress)

    def _costs(self, session: Session) -> tuple[float, float]:
        """What measuring held-out losses takes, and what a step takes, in seconds."""
        state, _ = start_phase(session, 0, None)
        before = self.clock()
        if not session.held_out(state.system, 1.0):
            raise ConfigError(
                "No language has ten lines of text, so that one could be held out to spend "
                "minutes by: give more text, or a number of steps instead of auto."
            )
        measured = self.clock()
        batches = session.step_batches(None)
        marks = [self.clock() for _ in steps(state, session.run, batches, 0)]
        batches.close()  # pyright: ignore[reportAttributeAccessIssue]
        # The first step is the slowest, and says little about the others.
        return measured - before, max((marks[-1] - marks[0]) / (len(marks) - 1), 1e-9)

    def _try_rates(self, session: Session, count: int, progress: Progress) -> list[RateTrial]:
        """Try the middle rates, then the one beyond the best if there is one."""
        trials: dict[int, RateTrial] = {}
        with progress.stage("Trying learning rates", TRIALS):
            for _ in range(TRIALS):
                best = min(trials, key=lambda i: _loss(trials[i]), default=len(RATES) // 2)
                near = [i for i in (best, best + 1, best - 1) if 0 <= i < len(RATES)]
                untried = [i for i in near if i not in trials]
                if not untried:
                    break
                if progress.should_stop():
                    raise Stopped("Stopped while learning rates were tried.")
                trials[untried[0]] = trial = self._try(session, RATES[untried[0]], count)
                progress.update(len(trials), f"held-out loss at {trial}")
        return [trials[i] for i in sorted(trials)]

    def _try(self, session: Session, rate: float, count: int) -> RateTrial:
        """Train so many steps from the start, and measure."""
        run = replace(session.run, phases=self._run(count, rate).phases)
        session = replace(session, run=run)
        state, _ = start_phase(session, 0, None)
        batches = session.step_batches(None)
        try:
            for _ in steps(state, run, batches, 0):
                pass
        except Diverged:
            return RateTrial(rate, None)
        finally:
            batches.close()  # pyright: ignore[reportAttributeAccessIssue]
        return RateTrial(rate, fmean(session.held_out(state.system, 1.0).values()))


def _loss(trial: RateTrial) -> float:
    return inf if trial.loss is None else trial.loss


def _rate(run: Run) -> float:
    return run.phases[0].learning_rate


def _read(path: Path) -> RecoveryChoice:
    found = json.loads(path.read_text(encoding="utf-8"))
    trials = tuple(RateTrial(**trial) for trial in found.pop("trials"))
    return RecoveryChoice(**found, trials=trials)
