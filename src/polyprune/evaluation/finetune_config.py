"""The config of fine-tuning: model, task, data, and the hyperparameters to try."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal

from ..errors import ConfigError, UnknownName
from ..model.network.gated_model import PolyprunePreTrainedModel
from .task_names import REGIMES
from .tasks import Task, TaskDefaults

PRECISIONS = ("no", "fp16", "bf16")

LEARNING_RATES = tuple(
    float(f"{digit}e{power}") for power, last in ((-6, 9), (-5, 5)) for digit in range(1, last + 1)
)
"""The paper's (App. A): [1e-6, 2e-6, …, 5e-5]."""

EPOCHS = {"transfer": (5, 10), "translate-train-all": (3,)}


@dataclass(frozen=True, slots=True)
class TaskTeacher:
    """Whom a model learns from besides gold labels, and how much."""

    model: str
    """A folder or a Hugging Face id of a model that is fine-tuned for the task."""
    weight: float = 0.5
    """The weight of its outputs; that of gold labels is what is missing to 1."""
    temperature: float = 2.0
    """What softens both sides' outputs (Hinton et al., 2015)."""

    def __post_init__(self):
        if not 0 < self.weight < 1:
            raise ConfigError(
                f"`teacher_weight` is between 0 and 1, not {self.weight:g}: the rest of the loss "
                "is that of gold labels. To learn from a teacher alone, see polyprune recover."
            )
        if not self.temperature > 0:
            raise ConfigError(f"`temperature` is more than 0, not {self.temperature:g}.")


@dataclass(frozen=True, slots=True)
class FineTuneConfig:
    """The model, task, data and regime of a fine-tuning."""

    model: str
    """A folder, a Hugging Face id, or `e5-small`."""
    task: Task
    data: str
    """A folder or a data set; see `readers`."""
    regime: str = "transfer"
    """One of `REGIMES`."""
    languages: tuple[str, ...] | None = None
    """The languages to train on; those of the regime unless given."""
    limit: int | None = None
    """The maximum number of training examples per language."""
    sparsity: float | None = None
    """The one size of an elastic model to fine-tune; all sizes unless given."""
    words: bool = True
    """Whether the word table is trained too."""
    fallback: str | None = None
    """The language whose gates are used for one without its own or its family's; English unless
    given.
    """
    teacher: TaskTeacher | None = None
    """Whom to learn from besides gold labels."""
    precision: str = "no"
    """The precision of steps, one of `PRECISIONS`; `no` is single precision."""

    def __post_init__(self):
        for what, given, known in (
            ("regime", self.regime, tuple(REGIMES)),
            ("precision", self.precision, PRECISIONS),
        ):
            if given not in known:
                raise UnknownName(what, given, known, f"There are: {', '.join(known)}.")
        if self.task.defaults is None:
            raise ConfigError(
                f"{self.task.title} has nothing to train on: polyprune evaluate MODEL "
                f"{self.task.option} takes any encoder."
            )

    @property
    def defaults(self) -> TaskDefaults:
        """The hyperparameters that the task defaults to."""
        assert self.task.defaults is not None
        return self.task.defaults

    @property
    def training(self) -> list[str]:
        """The languages to train on, in the task's order."""
        if self.languages is None and self.regime == "transfer":
            return ["en"]
        return self.task.find(self.data, self.split, self.languages)

    @property
    def split(self) -> Literal["train", "translated"]:
        """What the run trains on."""
        return "train" if self.regime == "transfer" else "translated"

    @property
    def missing(self) -> list[str]:
        """The task's languages that are not trained on for want of data."""
        if self.languages is not None or self.regime == "transfer":
            return []
        there = self.training
        return [code for code in self.task.languages if code not in there]

    @property
    def development(self) -> list[str]:
        """The languages with dev data, on which a model is chosen."""
        wanted = self.training if self.regime == "transfer" else self.task.languages
        return self.task.reader.languages(self.data, "dev", wanted)


@dataclass(frozen=True, slots=True)
class Trial:
    """One combination of hyperparameters and a seed."""

    learning_rate: float
    epochs: int
    seed: int = 1
    batch: int = 32

    def __post_init__(self):
        if not (isfinite(self.learning_rate) and self.learning_rate > 0):
            raise ConfigError(
                f"A learning rate is a number more than 0, such as 2e-5, not {self.learning_rate}."
            )
        if self.epochs < 1:
            raise ConfigError(f"There is 1 epoch or more, not {self.epochs}.")
        if self.batch < 1:
            raise ConfigError(f"A batch has 1 example or more, not {self.batch}.")
        if not 0 <= self.seed < 2**63:
            raise ConfigError(f"A seed is a number from 0 to 2⁶³, not {self.seed}.")

    @property
    def name(self) -> str:
        """The name of its folder."""
        batch = "" if self.batch == 32 else f"-batch-{self.batch}"
        return f"lr-{self.learning_rate:g}-epochs-{self.epochs}{batch}-seed-{self.seed}"


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """The trials: every learning rate with every number of epochs, then every seed."""

    learning_rates: tuple[float, ...]
    epochs: tuple[int, ...]
    seeds: tuple[int, ...] = (1,)
    batch: int = 32

    def __post_init__(self):
        if not (self.learning_rates and self.epochs and self.seeds):
            raise ConfigError("Give one learning rate, number of epochs and seed or more.")
        if len(set(self.seeds)) < len(self.seeds):
            given = ", ".join(map(str, self.seeds))
            raise ConfigError(f"The seeds {given} are not all different: give each of them once.")
        assert self.cells  # which checks every setting

    @classmethod
    def of(cls, setup: FineTuneConfig, search: bool = False) -> "SearchSpace":
        """Return a task's defaults, or the paper's search space."""
        if search:
            return cls(LEARNING_RATES, EPOCHS[setup.regime])
        transfer = setup.regime == "transfer"
        epochs = setup.defaults.epochs if transfer else EPOCHS[setup.regime][0]
        return cls((setup.defaults.learning_rate,), (epochs,))

    @property
    def cells(self) -> list[Trial]:
        """The trials with the first seed."""
        return [
            Trial(rate, epochs, self.seeds[0], self.batch)
            for epochs in self.epochs
            for rate in self.learning_rates
        ]


def check_sparsity(model: PolyprunePreTrainedModel, sparsity: float | None) -> None:
    """Raise if a sparsity is requested of a model that has only one size."""
    every = model.elastic is not None and model.elastic.holds_every_size
    if sparsity is not None and not every:
        raise ConfigError(
            "This model has one size. Give a sparsity for elastic models only, or first: "
            "polyprune prune MODEL --sparsity."
        )
