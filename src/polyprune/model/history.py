"""How a model came about, as its `config.json` carries it from one folder to the next.

It stands there under `polyprune`, because a config goes along wherever a model goes (through
cutting, training, fine-tuning, `to_transformers`), while certificates are made anew each time. A
card can be written from it at any time.
"""

from dataclasses import asdict, dataclass, field, replace

from pydantic import TypeAdapter, ValidationError
from transformers import PreTrainedConfig

from .fidelity import Fidelity

FIELD = "polyprune"
"""The field of `config.json`."""


@dataclass(frozen=True, slots=True)
class ModelSize:
    """The widths of an encoder, and what the model weighs with its readout."""

    heads: tuple[int, ...] = ()
    units: tuple[int, ...] = ()
    rank: int = 0
    parameters: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class PruningStep:
    """Something was ranked, and cut; whatever is not known is left empty."""

    sparsity: float | None = None
    """In the units of App. B; None for gates of every size, of which nothing is cut yet."""
    method: str = ""
    rule: str = ""
    setting: str = ""
    languages: tuple[str, ...] = ()
    """That it was scored on, or taken out for."""
    loss: str = ""
    corpus: str = ""
    sentences: tuple[int, int] | None = None
    """That were scored in each language, the fewest and the most."""
    command: str = ""
    rounds: int = 1
    """In how many cuts, each after scores of what was left."""
    made_up: str = ""
    """How what is left makes up for what went, without training: compensation, refit, or both."""


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """Weights were trained."""

    steps: int = 0
    on: str = ""
    """The name of the text, or of the task."""
    languages: tuple[str, ...] = ()
    teacher: str = ""
    held_out: float | None = None
    """The loss of the model that was written, on text that it was not trained on."""


@dataclass(frozen=True, slots=True)
class History:
    """What a model was, and what was done to it since."""

    base: str = ""
    """The name of the original: on the hub where it is known there, else of its folder."""
    base_model: tuple[str, ...] = ()
    """Names on the hub only."""
    license: dict[str, str] = field(default_factory=dict)
    """What the original's own card says, under the hub's names for it."""
    languages: tuple[str, ...] = ()
    """The languages that the original's own card names."""
    before: ModelSize | None = None
    cuts: tuple[PruningStep, ...] = ()
    trainings: tuple[TrainingStep, ...] = ()
    fidelity: Fidelity | None = None
    """What is kept of the model before the last cut; whatever changes weights takes it away."""

    @property
    def sparsity(self) -> float | None:
        """How much all cuts took away together; None where that was not written down."""
        known = [cut.sparsity for cut in self.cuts if cut.sparsity is not None]
        density = 1.0
        for sparsity in known:
            density *= 1 - sparsity
        return 1 - density if known else None

    @property
    def cut_for(self) -> tuple[str, ...]:
        """The languages that the last cut was made for."""
        return next((cut.languages for cut in reversed(self.cuts) if cut.languages), ())


def history_of(config: PreTrainedConfig) -> History:
    """What a config says of how its model came about; an empty one where it says nothing right."""
    try:
        return TypeAdapter(History).validate_python(getattr(config, FIELD, None))
    except ValidationError:
        return History()


def write_history(config: PreTrainedConfig, history: History) -> None:
    """Write a history into a config."""
    setattr(config, FIELD, asdict(history))


def add_pruning(config: PreTrainedConfig, cut: PruningStep) -> None:
    """Add to the history that something was cut."""
    history = history_of(config)
    write_history(config, replace(history, cuts=(*history.cuts, cut), fidelity=None))


def add_training(config: PreTrainedConfig, training: TrainingStep) -> None:
    """Add to the history that weights were trained."""
    history = history_of(config)
    trainings = (*history.trainings, training)
    write_history(config, replace(history, trainings=trainings, fidelity=None))


def add_fidelity(config: PreTrainedConfig, fidelity: Fidelity) -> None:
    """Write into the history what is kept of the model that this one was cut from."""
    write_history(config, replace(history_of(config), fidelity=fidelity))
