"""A run from its plan to a finished model folder, through any number of interruptions."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from accelerate.utils import gather_object

from ..corpora.stream import merge
from ..corpora.text import open_text
from ..errors import ConfigError
from ..pruning.elastic import Elastic, load
from ..storage import whole_file, whole_folder
from .checkpoints import (
    Checkpoint,
    check_same,
    latest,
    load_optimizer,
    read_checkpoint,
    save_checkpoint,
    tidy,
)
from .held_out import Passes, held_out_examples, held_out_losses, held_out_passes
from .log import Log
from .loop import StepReport, Trainee, steps
from .optimizer import choose_trained, make_optimizer
from .phases import place
from .plan import Run
from .prepare import Places, cut_shared
from .session import Session, make_accelerator, open_session
from .system import System
from .work import Work

Watch = Callable[[str, Any], Any]


class Stopped(Exception):
    """A run that was asked to stop, and has saved where it was."""

    def __init__(self, step: int, steps: int):
        super().__init__(f"Stopped and saved after step {step} of {steps}.")
        self.step = step


def train(
    run: Run,
    out: Path,
    *,
    stop: Callable[[], bool] = lambda: False,
    watch: Watch = lambda _, things: things,
    force: bool = False,
) -> Iterator[StepReport]:
    """A report for every step that is still to do; at the end, the model is in `out/model`.

    A run that was stopped or killed goes on from its last checkpoint as if nothing had happened.
    """
    places = Places(out)
    check_out(run, out, force)
    if (places.model / "config.json").is_file():
        return
    sources = open_text(
        run.corpus.source, run.corpus.languages, run.corpus.parallel, run.corpus.damaged
    )
    accelerator = make_accelerator(run, places)
    if accelerator.is_main_process:
        _begin(out, run)
    session = open_session(run, places, sources, accelerator, watch)
    yield from _train(session, stop)
    if accelerator.is_main_process:
        finish(session)
    accelerator.wait_for_everyone()
    accelerator.end_training()


def check_out(run: Run, out: Path, force: bool) -> None:
    """Raise unless a folder is free, or holds this very run; with force, make it free."""
    known = (out / "run.json").is_file()
    if force and known:
        shutil.rmtree(out)
        return
    if out.is_file() or (out.is_dir() and any(out.iterdir()) and not known):
        raise ConfigError(f"{out} is something else than a run. Choose another --out.")
    check_same(out, run.identity())


def _begin(out: Path, run: Run) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with whole_file(out / "run.json", force=True) as path:
        path.write_text(json.dumps(run.identity(), indent=2), encoding="utf-8")


def _train(session: Session, stop: Callable[[], bool]) -> Iterator[StepReport]:
    run, accelerator = session.run, session.accelerator
    checkpoint = latest(session.places.checkpoints) if accelerator.is_main_process else None
    accelerator.wait_for_everyone()
    checkpoint = checkpoint or latest(session.places.checkpoints)
    done = checkpoint.step if checkpoint else 0
    if done >= run.steps or (checkpoint and checkpoint.about["ended"]):
        return
    book = Book(session, checkpoint)
    works = session.works(checkpoint.about["position"] if checkpoint else None)
    try:
        for index in range(place(run.phases, done)[0], len(run.phases)):
            trainee, first = begin_phase(session, index, book.checkpoint)
            for report, work in _watched(trainee, run, works, first):
                entry = book.enter(trainee, report, work, stop)
                yield entry
                if book.stopped:
                    raise Stopped(report.step, run.steps)
                if book.ended:
                    return
    finally:
        works.close()  # pyright: ignore[reportAttributeAccessIssue]
        book.close()


def _watched(
    trainee: Trainee, run: Run, works: Iterator[Work], first: int
) -> Iterator[tuple[StepReport, Work]]:
    """Every report with the work that it reports on."""
    seen: list[Work] = []

    def remember() -> Iterator[Work]:
        for work in works:
            seen[:] = [work]
            yield work

    for report in steps(trainee, run, remember(), first):
        yield report, seen[0]


class Book:
    """What is written down about a run: its log, its held-out losses, its checkpoints."""

    def __init__(self, session: Session, checkpoint: Checkpoint | None):
        self.session, self.checkpoint = session, checkpoint
        about = checkpoint.about if checkpoint else {}
        accelerator = session.accelerator
        self.best: dict[str, Any] | None = about.get("best")
        self.since_best: int = about.get("since_best", 0)
        self.stopped = self.ended = False
        self._log = None
        if accelerator.is_main_process:
            self._log = Log(session.places.log, about.get("log_bytes", 0))
        accelerator.init_trackers(
            "training",
            # What was logged after the checkpoint will be logged again.
            init_kwargs={"tensorboard": {"purge_step": checkpoint.step + 1 if checkpoint else 0}},
        )
        self._passes: Passes | None = None
        self._measure_dense()

    def enter(
        self, trainee: Trainee, report: StepReport, work: Work, stop: Callable[[], bool]
    ) -> StepReport:
        """Write a step down; the report with its held-out losses, if it was time for them."""
        run, step = self.session.run, report.step
        last_of_phase = step == trainee.done + trainee.phase.steps
        if step % run.saving.held_out_every == 0 or last_of_phase:
            report = replace(report, held_out=self._held_out(trainee, report))
        if self._log is not None:
            self._log.write(asdict(report))
        self.session.accelerator.log(tracked(report), step=step)
        self.stopped = self._asked_to_stop(stop)
        best = self.best is not None and self.best["step"] == step
        due = best or last_of_phase or step % run.saving.every == 0
        if due or self.stopped or self.ended:
            self._save(trainee, report, work)
        return report

    def close(self) -> None:
        """No more steps."""
        if self._log is not None:
            self._log.flush()
            self._log.close()

    @property
    def passes(self) -> Passes:
        """The held-out text of this process, read when it is first needed."""
        if self._passes is None:
            session, accelerator = self.session, self.session.accelerator
            self._passes = held_out_passes(
                held_out_examples(session.places.held_out, session.tokenizer, session.mixing),
                replace(session.desk, targets=None),
                accelerator.process_index,
                accelerator.num_processes,
            )
        return self._passes

    def _measure_dense(self) -> None:
        """What the model could do before anything was cut, if words are what it predicts."""
        session, accelerator = self.session, self.session.accelerator
        path = session.places.out / "dense.json"
        run = session.run
        if path.is_file() or run.model.start == "fresh" or not run.objective.mlm:
            return
        dense = load(session.start, verify=False)
        system = System(dense, run.objective, teacher=session.teacher).to(accelerator.device)
        losses = held_out_losses(system, self.passes, accelerator)
        accelerator.wait_for_everyone()
        if accelerator.is_main_process:
            with whole_file(path) as new:
                new.write_text(json.dumps(losses), encoding="utf-8")

    def _held_out(self, trainee: Trainee, report: StepReport) -> dict[str, float]:
        session, accelerator = self.session, self.session.accelerator
        density = 1 - session.run.gating.sparsity
        losses = held_out_losses(trainee.system, self.passes, accelerator, density)
        if losses:
            mean = sum(losses.values()) / len(losses)
            if self.best is None or mean < self.best["loss"]:
                self.best, self.since_best = {"loss": mean, "step": report.step}, 0
            else:
                self.since_best += 1
        patience = session.run.saving.patience
        last_phase = trainee.phase is session.run.phases[-1]
        self.ended = last_phase and patience is not None and self.since_best >= patience
        return losses

    def _asked_to_stop(self, stop: Callable[[], bool]) -> bool:
        """Whether any process was asked to."""
        accelerator = self.session.accelerator
        if accelerator.num_processes == 1:
            return stop()
        if stop():
            accelerator.set_trigger()
        return accelerator.check_trigger()

    def _save(self, trainee: Trainee, report: StepReport, work: Work) -> None:
        session, accelerator = self.session, self.session.accelerator
        best_now = self.best is not None and self.best["step"] == report.step
        scaler = accelerator.scaler
        about = {
            "step": report.step,
            "position": merge(gather_object([work.position])),
            "log_bytes": self._log.flush() if self._log is not None else 0,
            "best": self.best,
            "since_best": self.since_best,
            "ended": self.ended,
            "scaler": None if scaler is None else scaler.state_dict(),
        }
        folder = session.places.checkpoints
        main = accelerator.is_main_process
        path = save_checkpoint(folder, trainee.system, trainee.optimizer, about, main)
        accelerator.wait_for_everyone()
        self.checkpoint = read_checkpoint(path)
        if main:
            if best_now:
                with whole_file(session.places.out / "best.json", force=True) as note:
                    note.write_text(json.dumps({"checkpoint": path.name}), encoding="utf-8")
            tidy(folder, session.run.saving.keep, best_checkpoint(session.places.out))


def best_checkpoint(out: Path) -> str | None:
    """The name of the checkpoint with the lowest held-out loss."""
    note = out / "best.json"
    return json.loads(note.read_text(encoding="utf-8"))["checkpoint"] if note.is_file() else None


def tracked(report: StepReport) -> dict[str, float]:
    """What trackers draw curves of."""
    values = {f"loss/{name}": value for name, value in report.losses.items()}
    values |= {f"held-out/{code}": value for code, value in report.held_out.items()}
    values |= {"learning rate": report.learning_rate, "gradient norm": report.gradient_norm}
    if report.expected_density is not None:
        values["expected density"] = report.expected_density
    return values


def begin_phase(session: Session, index: int, checkpoint: Checkpoint | None) -> tuple[Trainee, int]:
    """A system for a phase, as it was when it was saved, and the step to go on from."""
    run, accelerator = session.run, session.accelerator
    phase, done = run.phases[index], sum(each.steps for each in run.phases[:index])
    first = max(0, checkpoint.step - done) if checkpoint else 0
    accelerator.free_memory()
    folder, fresh_cut = _folder_of(session, index, first, checkpoint)
    system = session.system(load(folder, verify=False))
    if checkpoint is not None and not fresh_cut:
        system.load_state_dict(checkpoint.tensors("system"), strict=False)
    choose_trained(system, phase)
    system.to(accelerator.device)
    optimizer = make_optimizer(system, phase, run.engine)
    system, optimizer = accelerator.prepare(system, optimizer)
    if checkpoint is not None and first:
        load_optimizer(checkpoint, system, optimizer)
        if accelerator.scaler is not None and checkpoint.about["scaler"]:
            accelerator.scaler.load_state_dict(checkpoint.about["scaler"])
    return Trainee(accelerator, system, optimizer, phase, done), first


def _folder_of(
    session: Session, index: int, first: int, checkpoint: Checkpoint | None
) -> tuple[Path, bool]:
    """The model that a phase trains, and whether it was cut for its sake, weights and all.

    Gates that are shared, learned and no longer trained are cut: half the size is half the cost.
    """
    run, out = session.run, session.places.out
    if run.gating.kind != "l0" or len(session.rows) != 1:
        return session.places.prepared, False
    cuts = [i for i in range(1, index + 1) if run.phases[i].train == "weights"]
    if not cuts:
        return session.places.prepared, False
    folder = out / f"cut-{cuts[0] + 1}"
    with session.accelerator.main_process_first():
        if not (folder / "config.json").is_file():
            assert checkpoint is not None
            small = _trained(session, checkpoint, session.places.prepared)
            with whole_folder(folder) as new:
                small.save_pretrained(new)
    return folder, index == cuts[0] and first == 0


def finish(session: Session) -> None:
    """Write the trained model: the last one, or the best where training stops when it stalls."""
    run, places = session.run, session.places
    checkpoint = latest(places.checkpoints)
    name = best_checkpoint(places.out)
    if run.saving.patience is not None and name and (places.checkpoints / name).is_dir():
        checkpoint = read_checkpoint(places.checkpoints / name)
    assert checkpoint is not None
    cut = sorted(places.out.glob("cut-*/config.json"))
    folder = cut[-1].parent if cut else places.prepared
    model = _trained(session, checkpoint, folder)
    model.config.name_or_path = str(session.places.prepared)
    with whole_folder(places.model) as new:
        model.save_pretrained(new)


def _trained(session: Session, checkpoint: Checkpoint, folder: Path) -> Any:
    """The model of a checkpoint: small where gates are shared and final, else with its gates."""
    model = load(folder, verify=False)
    elastic: Any = model.elastic
    system = session.system(model)
    system.load_state_dict(checkpoint.tensors("system"), strict=False)
    if elastic is None:
        return model
    if len(elastic.rows) == 1 and not session.run.gating.every_size:
        return cut_shared(model, elastic)
    model.elastic = Elastic(elastic.gating, elastic.rows, elastic.weights)
    return model
