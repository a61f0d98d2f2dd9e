"""The parts of a study's config: its systems, its tasks, its claims, and what `--quick` changes."""

from dataclasses import dataclass
from typing import Any

from ..errors import ConfigError, UnknownName
from ..evaluation.finetune_config import EPOCHS
from ..evaluation.tasks import Task, find_task
from ..pruning.criteria.criterion import check_name
from .own_study_task import find_study_task
from .study_checks import (
    check_choices,
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
    """A training config beside the study's; without one, and without a rule, the system is the
    starting model.
    """
    rule: str | None = None
    """What ranks components, in the place of its config's; without a config, the starting model is
    cut by it to each of its sizes, as `polyprune prune` does, and not trained.
    """
    trained: str | None = None
    """The folder of a finished run of the config, which is taken instead of training;
    {size} and {seed} in it stand for those.
    """
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
        self._check_made()
        if self.trained is not None and (self.config is None or self.steps):
            raise ConfigError(
                f"{self.name}: `trained` is a run of its config as it is: give config, no steps."
            )

    def _check_made(self) -> None:
        """Raise if what is given does not say how the system is made."""
        if self.rule is not None:
            try:
                check_name("rule", self.rule)
            except UnknownName as error:
                raise ConfigError(f"{self.name}: {error}") from error
        if not self.made and (self.sizes or self.steps):
            raise ConfigError(
                f"{self.name} has neither config nor rule, so it has neither sizes nor steps."
            )
        if self.only_cut and (self.steps or not self.sizes):
            raise ConfigError(
                f"{self.name} has a rule and no config: it is cut to its sizes and not trained. "
                "Give sizes, and no steps; or a config too."
            )

    @property
    def made(self) -> bool:
        """Whether it is another model than the starting one."""
        return self.config is not None or self.rule is not None

    @property
    def only_cut(self) -> bool:
        """Whether it is cut by a rule and not trained."""
        return self.config is None and self.rule is not None

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
    data: str | None = None
    """The folder or task.toml of a task of one's own; XTREME's are in the study's `data`."""
    epochs: int | None = None
    """The number of epochs; the task's own unless given."""
    epochs_to_try: tuple[int, ...] = ()
    """Several to choose from on dev, each with every learning rate."""
    learning_rate: float | None = None
    """The learning rate; the task's own unless given."""
    learning_rates: tuple[float, ...] = ()
    """Several to choose from on dev, for every system and seed apart, as the paper does."""
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
        check_task(self.name, self.data)
        check_like(self.name, self.like, self.data)
        least = [self.epochs, *self.epochs_to_try, self.limit, self.test_limit, self.batch]
        if any(value is not None and value < 1 for value in least):
            raise ConfigError("epochs, limit, test_limit and batch are 1 or more.")
        check_choices(self)
        trained = (self.epochs, self.learning_rate, self.limit, self.test_limit, self.regimes)
        if self.is_retrieval and (self.chooses or any(value is not None for value in trained)):
            raise ConfigError(
                f"{self.task.title} has nothing to train on and needs all its sentences: leave out "
                "epochs, learning_rate, learning_rates, limit, test_limit and regimes."
            )
        if self.chooses and not self.tuned_for.defaults.search:
            raise ConfigError(
                f"The dev questions of {self.task.title} are those that it is tested with, so that "
                "nothing may be chosen by them: give one learning_rate and number of epochs."
            )

    @property
    def task(self) -> Task:
        """The record of the task."""
        return find_study_task(self.name, self.data)

    @property
    def is_retrieval(self) -> bool:
        """Whether any encoder can do it without fine-tuning."""
        return self.task.defaults is None

    @property
    def tuned_for(self) -> Any:
        """The task that models are fine-tuned for."""
        return self.task if self.like is None else find_task(self.like)

    @property
    def chooses(self) -> bool:
        """Whether there are several settings, of which the best on dev is taken."""
        return len(self.learning_rates) > 1 or len(self.epochs_to_try) > 1

    def tuning(self, regime: str) -> dict[str, Any]:
        """Return the hyperparameters of fine-tuning in a regime, as JSON."""
        task = self.tuned_for
        defaults = task.defaults
        own = defaults.epochs if regime == "transfer" else EPOCHS[regime][0]
        found = {
            "task": task.name,
            "version": task.version,
            "regime": regime,
            "epochs": self.epochs or own,
            "learning_rate": self.learning_rate or defaults.learning_rate,
            "batch": self.batch,
            "limit": self.limit,
            "words": self.words,
        }
        if self.learning_rates:
            found["learning_rate"] = list(self.learning_rates)
        if self.epochs_to_try:
            found["epochs"] = list(self.epochs_to_try)
        return found


@dataclass(frozen=True, slots=True)
class ClaimConfig:
    """`[[claims]]`: that one system does better than another, which the study tests."""

    title: str
    better: str
    """A system and its size: `grad-shared@0.5`; the size may be left out if there is one."""
    worse: str
    margin: float = 0.0
    """By how many points `better` may be below `worse`: more than 0 for "costs no more than"."""
    regimes: tuple[str, ...] | None = None
    """The regimes in which it is tested; all of the study unless given."""
    tasks: tuple[str, ...] | None = None
    """The tasks whose mean is compared; all that are repeated and learned unless given."""
    paper: bool | None = None
    """Whether the paper says so; None if it says nothing about it."""

    def __post_init__(self):
        check_regimes(self.regimes)
        for name in self.tasks or ():
            check_task(name)
        if self.margin < 0:
            raise ConfigError(f"A margin is 0 or more points, not {self.margin:g}.")
        for side in (self.better, self.worse):
            split_size(side)


def split_size(side: str) -> tuple[str, float | None]:
    """Return the system and the size that `grad-shared@0.5` names; None without a size."""
    name, at, size = side.partition("@")
    try:
        return name, float(size) if at else None
    except ValueError:
        raise ConfigError(
            f"A claim names a system and its size, such as grad-shared@0.5, not {side}."
        ) from None


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
