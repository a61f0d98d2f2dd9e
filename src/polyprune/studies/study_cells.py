"""The cells of a study: what each depends on, and its address.

A cell's address is a hash of everything that its result depends on, the addresses of the cells it
is built on among it. So a changed setting changes the addresses of what it touches, and no others.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from ..errors import ConfigError
from ..training.run_config import Run
from .cell_store import folder_hash
from .study_config import Study, at_size, placed, scored_combinations
from .study_parts import SystemConfig, TaskConfig

FORMAT = 1
"""Increased whenever the same settings would give other results."""

Kind = Literal["model", "tuned", "score", "speed"]

SPEED_BATCH = (16, 64)
"""The batch for measuring speed: sentences and tokens."""


@dataclass(frozen=True)  # without slots, so that an address is computed once
class StudyCell:
    """One unit of work of a study."""

    kind: Kind
    settings: dict[str, Any]
    """Everything that decides the result except the cells it needs, as JSON."""
    needs: tuple[str, ...] = ()
    """The addresses of the cells that it is built on."""
    about: dict[str, Any] = field(default_factory=dict)
    """What it is about: system, size, task, regime, seed."""
    payload: Any = None
    """What the worker needs in addition: a `Run` with its paths, the folder of a task."""

    @cached_property
    def address(self) -> str:
        """A hash of everything that the result depends on."""
        whole = {"format": FORMAT, "kind": self.kind, "settings": self.settings}
        text = json.dumps(whole | {"needs": list(self.needs)}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @property
    def title(self) -> str:
        """A short display name."""
        about = self.about
        size = "" if about.get("size") is None else f" {about['size']:.0%}"
        regime = " all" if about.get("regime") == "translate-train-all" else ""
        seed = "" if about.get("seed") is None else f" seed {about['seed']}"
        task = f" {about['task']}" if "task" in about else ""
        return f"{self.kind} {about.get('system', '')}{size}{task}{regime}{seed}"


@dataclass(frozen=True, slots=True)
class InputHashes:
    """Hashes of the files that all cells depend on."""

    model: str
    data: str
    corpus: str
    labels: str = ""


@dataclass(frozen=True, slots=True)
class ScoredCell:
    """A score cell, and the system, size, task, regime and seed that it scores."""

    system: str
    size: float | None
    task: str
    regime: str
    seed: int
    address: str


@dataclass(frozen=True, slots=True)
class CellGraph:
    """All cells, each after the cells that it needs."""

    cells: dict[str, StudyCell]
    scores: tuple[ScoredCell, ...]
    speeds: dict[tuple[str, float | None], str]
    """The speed cell of a system and size."""

    def above(self, address: str) -> list[str]:
        """Return the cells that need a cell."""
        return [name for name, cell in self.cells.items() if address in cell.needs]


def plan_cells(
    study: Study, runs: Mapping[str, Run], prints: InputHashes, model: str = ""
) -> CellGraph:
    """Build the graph of a study; `runs` maps the names of trained systems to their runs.

    Seeds come first, so that a study that is stopped has all systems once rather than some thrice.
    """
    model = model or study.model
    maker = _GraphBuilder(study, runs, prints, model)
    scores = []
    for seed in study.seeds:
        for system in study.systems:
            for plan, regime, own in scored_combinations(study, system):
                if own == seed:
                    scores += maker.scores(system, plan, regime, seed)
    speeds = {key: maker.speed(*key) for key in _sizes(study, scores)} if study.rounds else {}
    return CellGraph(maker.cells, tuple(scores), speeds)


def _sizes(study: Study, scores: Iterable[ScoredCell]) -> list[tuple[str, float | None]]:
    """Systems and sizes, as tables have them."""
    there = {(each.system, each.size) for each in scores}
    wanted = [(s.name, size) for s in study.systems for size in s.sizes or (None,)]
    return [key for key in wanted if key in there]


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run that was trained elsewhere."""

    run: Run
    folder: Path


def finished_run(name: str) -> Path:
    """Return the folder of a finished run; raise if there is none."""
    folder = Path(name).expanduser().resolve()
    if not (folder / "model" / "config.json").is_file():
        raise ConfigError(
            f"There is no finished run {name}. Train it first, or leave `trained` out of the study."
        )
    return folder


@dataclass(slots=True)
class _GraphBuilder:
    """Builds the graph; makes each cell once."""

    study: Study
    runs: Mapping[str, Run]
    prints: InputHashes
    model: str
    cells: dict[str, StudyCell] = field(default_factory=dict)

    def scores(
        self, system: SystemConfig, plan: TaskConfig, regime: str, seed: int
    ) -> Iterator[ScoredCell]:
        """Return the score of every size, with all the cells that it needs."""
        for size in system.sizes or (None,):
            address = self._score(system, plan, regime, (size, seed))
            yield ScoredCell(system.name, size, plan.task.name, regime, seed, address)

    def speed(self, name: str, size: float | None) -> str:
        """Return the cell that measures a system's size and speed."""
        system = self.study.system(name)
        needs = self._model(system, size, self._seeds(system)[0])
        settings = {
            "model": self.prints.model,
            "sparsity": size if self._every_size(system) else None,
            "rounds": self.study.rounds,
            "batch": list(SPEED_BATCH),
        }
        return self._add(StudyCell("speed", settings, needs, {"system": name, "size": size}))

    def _score(
        self, system: SystemConfig, plan: TaskConfig, regime: str, of: tuple[float | None, int]
    ) -> str:
        size, seed = of
        every = self._every_size(system)
        about = {"system": system.name, "size": size, "task": plan.task.name, "seed": seed}
        settings = {
            "data": self.prints.data,
            "task": plan.task.name,
            "version": plan.task.version,
            "limit": plan.test_limit,
            "languages": None if plan.languages is None else list(plan.languages),
            "sparsity": size if every and (plan.is_retrieval or not system.cut_first) else None,
        }
        if self.prints.labels:
            settings["labels"] = self.prints.labels
        # Its content is in the version of a task of one's own: where it is does not matter.
        folder = None if plan.data is None else str(Path(plan.data).expanduser().resolve())
        needs = self._model(system, size, seed)
        if plan.is_retrieval and not needs:
            settings["model"] = self.prints.model
        if not plan.is_retrieval:
            about["regime"] = regime
            tuned = plan.tuning(regime) | {
                "data": self.prints.data,
                "seed": seed,
                "sparsity": size if every and system.cut_first else None,
                "model": None if needs else self.prints.model,
            }
            whole = every and not system.cut_first
            of_all = about | {"size": None} if whole else about
            needs = (self._add(StudyCell("tuned", tuned, needs, of_all, folder)),)
        return self._add(StudyCell("score", settings, needs, about, folder))

    def _model(self, system: SystemConfig, size: float | None, seed: int) -> tuple[str, ...]:
        """Return the training cell of a system; None for the starting model itself."""
        if not system.made:
            return ()
        seed = self._seeds(system)[0] if self.study.train_once else seed
        run = at_size(self.runs[system.name], size, seed, system.steps or self.study.steps)
        settings = {
            "run": identity(placed(run, "model", "corpus")),
            "model": self.prints.model,
            "corpus": self.prints.corpus,
            **run.gating.own_code(),
        }
        every = self._every_size(system)
        about = {"system": system.name, "size": None if every else size, "seed": seed}
        payload: Any = placed(run, self.model, self.study.corpus)
        if system.trained is not None:
            folder = finished_run(system.trained.format(size=size, seed=seed))
            settings["trained"] = folder_hash(folder / "model")
            payload = FinishedRun(self.runs[system.name], folder)
        return (self._add(StudyCell("model", settings, (), about, payload)),)

    def _seeds(self, system: SystemConfig) -> list[int]:
        return [seed for seed in self.study.seeds if seed in (system.seeds or self.study.seeds)]

    def _every_size(self, system: SystemConfig) -> bool:
        return system.made and self.runs[system.name].gating.every_size

    def _add(self, cell: StudyCell) -> str:
        self.cells.setdefault(cell.address, cell)
        return cell.address


def identity(run: Run) -> dict[str, Any]:
    """Return everything that a run's model depends on, as JSON, without its saving options."""
    fields = run.identity()
    whole = json.loads(json.dumps(asdict(run)))
    fields["phases"] = whole["phases"]  # with learning rates, which a run may change on its way
    fields["final"] = [run.saving.final, run.saving.patience]
    if run.saving.keeps_best:  # then it matters when one looks
        fields["final"].append(run.saving.held_out_every)
    return fields


def setting_of(run: Run | None) -> str:
    """Return `shared` or `non-shared`; None without gates."""
    return "" if run is None or not run.gating.any else run.gating.setting
