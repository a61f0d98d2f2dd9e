"""The config of a study as one value: systems, sizes, tasks, regimes, seeds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import ConfigError
from ..pruning.amounts import ROUND, SENTENCES, TOKENS
from ..pruning.criteria.criterion import RULES
from ..training.gating_config import GatingConfig
from ..training.run_config import Run
from ..training.run_sections import CorpusConfig, StartConfig
from .study_checks import check_known, check_regimes, check_seeds
from .study_parts import ClaimConfig, QuickConfig, SystemConfig, TaskConfig, split_size


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
    labels: str | None = None
    """A folder of labels in XTREME's layout, for test files without labels."""
    leave_out: bool = False
    """Whether tasks and languages that cannot be scored are left out; else they are refused."""
    corpus: str | None = None
    """The corpus that systems are trained on; that of their configs unless given."""
    steps: int | None = None
    """Training steps of every system, so that all see as many tokens; its config's unless given."""
    seeds: tuple[int, ...] = (1,)
    regimes: tuple[str, ...] = ("transfer",)
    rounds: int = 30
    """Rounds of speed measurement; 0 to skip it."""
    train_once: bool = False
    """Whether all seeds fine-tune the model of the first; else each has a training of its own."""
    claims: tuple[ClaimConfig, ...] = ()
    """What is to be tested."""
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
        if self.steps is not None and self.steps < 1:
            raise ConfigError(f"There is 1 step or more, not {self.steps}.")
        for claim in self.claims:
            for side in (claim.better, claim.worse):
                self.claimed(side)
        _check_once(self)
        _check_text(self)

    def system(self, name: str) -> SystemConfig:
        """Return the system with this name."""
        return next(system for system in self.systems if system.name == name)

    def claimed(self, side: str) -> tuple[str, float | None]:
        """Return the system and the size that a side of a claim names; raise without them."""
        name, size = split_size(side)
        check_known("system", (name,), [system.name for system in self.systems])
        sizes = self.system(name).sizes or (None,)
        if size is None and len(sizes) == 1:
            size = sizes[0]
        if size not in sizes:
            known = ", ".join(f"{name}@{each:g}" for each in sizes if each is not None) or name
            raise ConfigError(f"There is no {side} in this study. There is: {known}.")
        return name, size

    def quickly(self) -> "Study":
        """Return the study with `[quick]` applied."""
        quick = self.quick
        systems = [_quick_system(s, quick) for s in self.systems if _in(s.name, quick.systems)]
        tasks = [_quick_task(t, quick) for t in self.tasks if _in(t.name, quick.tasks)]
        smaller = replace(
            self,
            name=f"{self.name}-quick",
            claims=(),
            systems=tuple(replace(s, tasks=_only(s.tasks, quick.tasks)) for s in systems),
            tasks=tuple(replace(t, systems=_only(t.systems, quick.systems)) for t in tasks),
            seeds=quick.seeds or self.seeds,
            regimes=quick.regimes or self.regimes,
            rounds=self.rounds if quick.rounds is None else quick.rounds,
            quick=QuickConfig(),
        )
        return replace(smaller, claims=tuple(c for c in self.claims if smaller._has(c)))

    def _has(self, claim: ClaimConfig) -> bool:
        """Return whether both sides of a claim are in this study."""
        try:
            return all(self.claimed(side) for side in (claim.better, claim.worse))
        except ConfigError:
            return False


def scored_combinations(
    study: Study, system: SystemConfig
) -> Iterator[tuple[TaskConfig, str, int]]:
    """Yield every task, regime and seed that a system is scored with.

    A seed counts where study, system and task all have it.
    """
    for plan in study.tasks:
        if not (_in(plan.name, system.tasks) and _in(system.name, plan.systems)):
            continue
        # One model finds the same sentences whatever the seed.
        once = plan.is_retrieval and (not system.made or study.train_once)
        for regime in ("transfer",) if plan.is_retrieval else study.regimes:
            if not (
                _in(regime, plan.regimes) and (plan.is_retrieval or _in(regime, system.regimes))
            ):
                continue
            seeds = [s for s in study.seeds if _in(s, plan.seeds) and _in(s, system.seeds)]
            for seed in seeds[:1] if once else seeds:
                yield plan, regime, seed


def run_of(system: SystemConfig, config: Run | None) -> Run:
    """Return the run that makes a system: its config's, with its rule; or one that only cuts."""
    if config is None:
        curves = system.rule in RULES and RULES[system.rule].needs_curves
        read = ROUND if curves else SENTENCES
        gating = GatingConfig(kind="fixed", rule=system.rule, sentences=read)
        start, text = StartConfig(start="elsewhere"), CorpusConfig(block=TOKENS)
        return Run(model=start, corpus=text, gating=gating)
    if system.rule is None:
        return config
    if not config.gating.ranked:
        raise ConfigError(
            f"{system.name} has a rule, but its config ranks nothing: leave `rule` out, or use "
            'gating.kind = "fixed" or "dynamic".'
        )
    return replace(config, gating=replace(config.gating, rule=system.rule))


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


def _check_text(study: Study) -> None:
    """Raise if a system is only cut, and there is no config that says by which text."""
    cut = next((system.name for system in study.systems if system.only_cut), None)
    if cut is not None and study.corpus is None:
        raise ConfigError(f"{cut} is cut by what a text says: give the study a `corpus`.")


def _quick_system(system: SystemConfig, quick: QuickConfig) -> SystemConfig:
    if not system.made:
        return system
    sizes = quick.sizes if quick.sizes and system.sizes else system.sizes
    steps = None if system.only_cut else quick.steps or system.steps
    return replace(system, sizes=sizes, steps=steps)


def _quick_task(plan: TaskConfig, quick: QuickConfig) -> TaskConfig:
    if plan.is_retrieval:
        return plan
    return replace(
        plan,
        epochs=quick.epochs or plan.epochs,
        epochs_to_try=() if quick.epochs else plan.epochs_to_try[:1],
        learning_rates=plan.learning_rates[:1],
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
