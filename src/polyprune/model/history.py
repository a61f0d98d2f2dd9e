"""How a model came about, as its `config.json` carries it from one folder to the next.

It stands there under `polyprune`, because a config goes along wherever a model goes (through
cutting, training, fine-tuning, `to_transformers`), while certificates are made anew each time. A
card can be written from it at any time.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from huggingface_hub import metadata_load
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id
from pydantic import TypeAdapter, ValidationError
from transformers import PreTrainedConfig

from ..storage import cache_folder
from .footprint import footprint_of, weight_bytes
from .network.modeling_polyprune import PolypruneConfig
from .network.readouts import Readout

FIELD = "polyprune"
"""The field of `config.json`."""

CARD = "README.md"
HUB_IDS = {"e5-small": "intfloat/multilingual-e5-small"}
"""What models made on this machine are called on the hub."""
LICENSE = ("license", "license_name", "license_link")


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


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """Weights were trained."""

    steps: int = 0
    on: str = ""
    """The name of the text, or of the task."""
    languages: tuple[str, ...] = ()
    teacher: str = ""


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
    """Of the original's own card."""
    before: ModelSize | None = None
    cuts: tuple[PruningStep, ...] = ()
    trainings: tuple[TrainingStep, ...] = ()

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


def write_history(config: PreTrainedConfig, story: History) -> None:
    """Write a story into a config."""
    setattr(config, FIELD, asdict(story))


def add_pruning(config: PreTrainedConfig, cut: PruningStep) -> None:
    """Go on with the story: something was cut."""
    story = history_of(config)
    write_history(config, replace(story, cuts=(*story.cuts, cut)))


def add_training(config: PreTrainedConfig, training: TrainingStep) -> None:
    """Go on with the story: something was trained."""
    story = history_of(config)
    write_history(config, replace(story, trainings=(*story.trainings, training)))


def size_of(config: PolypruneConfig, readout: Readout) -> ModelSize:
    """The size of the model that a config describes."""
    shape, found = config.shape, footprint_of(config, readout)
    return ModelSize(
        shape.heads, shape.units, shape.rank, found.parameters, weight_bytes(config, found)
    )


def start_history(config: PolypruneConfig, readout: Readout, folder: Path) -> None:
    """Write down what a model was before anything was done to it, unless that is known."""
    story = history_of(config)
    if story.before is not None:
        return
    said, known = read_metadata(folder / CARD), hub_id(folder)
    base = [known] if known else _words(said.get("base_model"))
    write_history(
        config,
        replace(
            story,
            base=known or folder.name,
            base_model=tuple(name for name in base if is_hub_id(name)),
            license={name: str(said[name]) for name in LICENSE if isinstance(said.get(name), str)},
            languages=tuple(_words(said.get("language"))),
            before=size_of(config, readout),
        ),
    )


def read_metadata(card: Path) -> Mapping[str, Any]:
    """What a card tells the hub; nothing where there is none, or none that can be read."""
    try:
        return metadata_load(card) or {}
    except Exception:  # no card, or whatever YAML and the hub do not like about it
        return {}


def hub_id(folder: Path) -> str | None:
    """The name on the hub of what lies in a folder, as far as the folder's own name shows it."""
    if folder.parent == cache_folder():
        return HUB_IDS.get(folder.name)
    cached = next((part for part in folder.parts if part.startswith("models--")), None)
    name = None if cached is None else cached.removeprefix("models--").replace("--", "/", 1)
    return name if name and is_hub_id(name) else None


def is_hub_id(name: str) -> bool:
    """Whether something could be the name of a model on the hub."""
    try:
        validate_repo_id(name)
    except HFValidationError:
        return False
    return True


def _words(said: Any) -> list[str]:
    """One or several, as YAML may have it."""
    several = said if isinstance(said, list) else [said]
    return [each for each in several if isinstance(each, str)]
