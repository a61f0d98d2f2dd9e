"""The config of a study as one value: systems, sizes, tasks, regimes, seeds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import ConfigError
from ..evaluation.finetune_config import EPOCHS
from ..evaluation.tasks import Task, find_task
from ..training.run_config import Run
from .study_checks import (
    check_known,
    check_like,
    check_regimes,
    check_seeds,
    check_sizes,
    check_task,
)


@dataclass(frozen=True, slots=True)
class SystemConfig:
    """`[[systems]]`: a way to make a small model, one row of the tables."""

    name: str
    title: str = ""
    """The title in tables; the name unless given."""
    config: str | None = None
    """A training config beside the study's; without one, the system is the starting model."""
    sizes: tuple[float, ...] = ()
    """Sparsities: each needs a training run, or all come from one if gates are dynamic."""
    steps: int | None = None
    """Training steps; the config's own unless given."""
    cut_first: bool = False
    """Whether an elastic model is shrunk to each size before fine-tuning."""
    seeds: tuple[int, ...] | None = None
    regimes: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    """The tasks that it is scored on; all unless given."""

    def __post_init__(self):
        check_sizes(self.sizes)
        check_seeds(self.seeds)
        check_regimes(self.regimes)
        if not self.name:
            raise ConfigError("A system has a name.")
        if self.config is None and (self.sizes or self.steps):
            raise ConfigError(f"{self.name} has no config, so it has neither sizes nor steps.")

    @property
    def called(self) -> str:
        """The title in tables."""
        return self.title or self.name


@dataclass(frozen=True, slots=True)
class TaskConfig:
    """`[[tasks]]`: a task, and how models are fine-tuned for it.

    A task may be there twice, once for each regime, with other settings.
    """

    name: str
    epochs: int | None = None
    learning_rate: float | None = None
    """The learning rate; the task's own unless given, as for epochs."""
    batch: int = 32
    limit: int | None = None
    """The maximum number of training examples per language."""
    test_limit: int | None = None
    """The maximum number of test examples per language."""
    languages: tuple[str, ...] | None = None
    """The languages to score; all that have data unless given."""
    words: bool = True
    """Whether the word table is trained too."""
    like: str | None = None
    """The task whose fine-tuned models are used, if both train on the same data: XQuAD's for MLQA.
    """
    regimes: tuple[str, ...] | None = None
    seeds: tuple[int, ...] | None = None
    systems: tuple[str, ...] | None = None
    """The systems that are scored on it; all unless given."""

    def __post_init__(self):
        check_seeds(self.seeds)
        check_regimes(self.regimes)
        check_task(self.name)
        check_like(self.name, self.like)
        least = [self.epochs, self.limit, self.test_limit, self.batch]
        if any(value is not None and value < 1 for value in least):
            raise ConfigError("epochs, limit, test_limit and batch are 1 or more.")
        if self.learning_rate is not None and not self.learning_rate > 0:
            raise ConfigError(f"A learning rate is more than 0, not {self.learning_rate}.")
        trained = (self.epochs, self.learning_rate, self.limit, self.test_limit, self.regimes)
        if self.is_retrieval and any(value is not None for value in trained):
            raise ConfigError(
                f"{self.task.title} has nothing to train on and needs all its sentences: leave out "
                "epochs, learning_rate, limit, test_limit and regimes."
            )

    @property
    def task(self) -> Task:
        """The record of the task."""
        return find_task(self.name)

    @property
    def is_retrieval(self) -> bool:
        """Whether any encoder can do it without fine-tuning."""
        return self.task.defaults is None

    def tuning(self, regime: str) -> dict[str, Any]:
        """Return the hyperparameters of fine-tuning in a regime, as JSON."""
        task = self.task if self.like is None else find_task(self.like)
        defaults = task.defaults
        assert defaults is not None
        own = defaults.epochs if regime == "transfer" else EPOCHS[regime][0]
        return {
            "task": task.name,
            "version": task.version,
            "regime": regime,
            "epochs": self.epochs or own,
            "learning_rate": self.learning_rate or defaults.learning_rate,
            "batch": self.batch,
            "limit": self.limit,
            "words": self.words,
        }


@dataclass(frozen=True, slots=True)
class QuickConfig:
    """`[quick]`: what `--quick` changes; other settings stay."""

    seeds: tuple[int, ...] | None = None
    regimes: tuple[str, ...] | None = None
    systems: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    sizes: tuple[float, ...] | None = None
    steps: int | None = None
    epochs: int | None = None
    limit: int | None = None
    test_limit: int | None = None
    rounds: int | None = None

    def __post_init__(self):
        check_seeds(self.seeds)
        check_regimes(self.regimes)
        check_sizes(self.sizes or ())


@dataclass(frozen=True, slots=True)
class Study:
    """The whole config of a study."""

    model: str
    """The model that every system starts from: a folder, a Hugging Face id, `sprout`, `e5-small`.
    """
    systems: tuple[SystemConfig, ...]
    tasks: tuple[TaskConfig, ...]
    name: str = "study"
    data: str = "miniature"
    """A folder in XTREME's layout, or `miniature`, which is generated."""
    corpus: str | None = None
    """The corpus that systems are trained on; that of their configs unless given."""
    seeds: tuple[int, ...] = (1,)
    regimes: tuple[str, ...] = ("transfer",)
    rounds: int = 30
    """Rounds of speed measurement; 0 to skip it."""
    quick: QuickConfig = field(default_factory=QuickConfig)

    def __post_init__(self):
        check_seeds(self.seeds)
        check_regimes(self.regimes)
        if not self.systems or not self.tasks:
            raise ConfigError("A study has one system and one task or more.")
        names = [system.name for system in self.systems]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ConfigError(f"There are two systems called {twice}: give each its own name.")
        tasks = [plan.name for plan in self.tasks]
        quick = self.quick
        named = [system.tasks for system in self.systems]
        for given in (*named, quick.tasks):
            check_known("task", given, tasks)
        for given in (*(plan.systems for plan in self.tasks), quick.systems):
            check_known("system", given, names)
        _check_once(self)

    def system(self, name: str) -> SystemConfig:
        """Return the system with this name."""
        return next(system for system in self.systems if system.name == name)

    def quickly(self) -> "Study":
        """Return the study with `[quick]` applied."""
        quick = self.quick
        systems = [_quick_system(s, quick) for s in self.systems if _in(s.name, quick.systems)]
        tasks = [_quick_task(t, quick) for t in self.tasks if _in(t.name, quick.tasks)]
        return replace(
            self,
            name=f"{self.name}-quick",
            systems=tuple(replace(s, tasks=_only(s.tasks, quick.tasks)) for s in systems),
            tasks=tuple(replace(t, systems=_only(t.systems, quick.systems)) for t in tasks),
            seeds=quick.seeds or self.seeds,
            regimes=quick.regimes or self.regimes,
            rounds=self.rounds if quick.rounds is None else quick.rounds,
            quick=QuickConfig(),
        )


def scored_combinations(
    study: Study, system: SystemConfig
) -> Iterator[tuple[TaskConfig, str, int]]:
    """Yield every task, regime and seed that a system is scored with.

    A seed counts where study, system and task all have it.
    """
    for plan in study.tasks:
        if not (_in(plan.name, system.tasks) and _in(system.name, plan.systems)):
            continue
        # The uncut model finds the same sentences whatever the seed.
        once = plan.is_retrieval and system.config is None
        for regime in ("transfer",) if plan.is_retrieval else study.regimes:
            if not (
                _in(regime, plan.regimes) and (plan.is_retrieval or _in(regime, system.regimes))
            ):
                continue
            seeds = [s for s in study.seeds if _in(s, plan.seeds) and _in(s, system.seeds)]
            for seed in seeds[:1] if once else seeds:
                yield plan, regime, seed


def placed(run: Run, model: str, corpus: str | None) -> Run:
    """Return the run with another starting model and corpus."""
    start = run.model
    if start.start != "fresh":
        start = replace(start, start=model)
    elif start.fresh.tokenizer is not None:
        start = replace(start, fresh=replace(start.fresh, tokenizer=model))
    teacher = run.teacher
    if teacher.start is not None:
        teacher = replace(teacher, start=model)
    text = run.corpus if corpus is None else replace(run.corpus, source=corpus)
    return replace(run, model=start, teacher=teacher, corpus=text)


def at_size(run: Run, size: float | None, seed: int, steps: int | None) -> Run:
    """Return the run for one size and seed; a run with dynamic gates serves all sizes."""
    gating = run.gating
    if size is not None and not gating.every_size:
        gating = replace(gating, sparsity=size)
    run = replace(run, gating=gating, seed=seed)
    return run if steps is None else run.with_steps(steps)


def _check_once(study: Study) -> None:
    """Raise if a system would be scored twice on the same task, regime and seed."""
    for system in study.systems:
        seen = set()
        for plan, regime, seed in scored_combinations(study, system):
            key = (plan.task.name, regime, seed)
            if key in seen:
                raise ConfigError(
                    f"{plan.name} is there twice for {regime} and seed {seed}: give each entry its "
                    "own regimes, seeds or systems."
                )
            seen.add(key)


def _quick_system(system: SystemConfig, quick: QuickConfig) -> SystemConfig:
    if system.config is None:
        return system
    sizes = quick.sizes if quick.sizes and system.sizes else system.sizes
    return replace(system, sizes=sizes, steps=quick.steps or system.steps)


def _quick_task(plan: TaskConfig, quick: QuickConfig) -> TaskConfig:
    if plan.is_retrieval:
        return plan
    return replace(
        plan,
        epochs=quick.epochs or plan.epochs,
        limit=quick.limit or plan.limit,
        test_limit=quick.test_limit or plan.test_limit,
    )


def _in(name: Any, names: Sequence[Any] | None) -> bool:
    return names is None or name in names


def _only(names: tuple[str, ...] | None, wanted: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the names that are wanted."""
    if names is None or wanted is None:
        return names
    return tuple(name for name in names if name in wanted)
