"""What a model card is made of, as far as a folder knows it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import CheckpointError
from ..loading.conversion import readout_of
from ..loading.hub import TOKENIZER_FILES, is_own, own_config, read_shape
from ..model.files.tensor_file import metadata_of
from ..model.history import History, ModelSize, history_of, size_of
from ..model.network.folder import GATING, read_certificate
from ..model.network.modeling_polyprune import PolypruneConfig
from ..model.network.readouts import Readout
from ..model.network.source import prompt_of


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """What a task has come to, before and after."""

    task: str
    title: str
    metric: str
    """What the hub calls it: `accuracy`, `f1`."""
    mean: tuple[float | None, float | None]
    """Of the dense model and of this one, in percent; None where it was not measured."""
    languages: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpeedGain:
    """How many times as fast as the dense model, measured in turns."""

    faster: float
    low: float | None = None
    high: float | None = None
    """The 95 % interval of that."""
    where: str = ""
    """The machine, and what it was given."""


@dataclass(frozen=True, slots=True)
class CardFacts:
    """All that a card tells; what is not known is left empty, and the card says so."""

    name: str
    """The folder's, which the snippet loads."""
    family: str
    readout: Readout
    size: ModelSize
    story: History = field(default_factory=History)
    width: int = 0
    precision: str = ""
    differences: Mapping[str, float] = field(default_factory=dict)
    """The largest |gated − shrunk|, as the certificate has it."""
    own_code: bool = True
    """Whether it is of our class, whose code lies beside it, or plain transformers'."""
    tokenizer: bool = True
    modules: bool = False
    """Whether sentence-transformers loads it."""
    prompt: str = ""
    """What its sentences begin with."""
    gating: str = ""
    """Of an elastic folder: `dynamic` for every size, else one size per row."""
    rows: tuple[str, ...] = ()
    compared: tuple[TaskComparison, ...] = ()
    speed: SpeedGain | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """Languages in English."""


def facts_of(folder: Path, name: str) -> CardFacts:
    """What can be known of a model folder that has everything but a card."""
    config, readout = _shape(folder)
    gating, rows = _gating(folder)
    return CardFacts(
        name=name,
        family=config.family,
        readout=readout,
        size=size_of(config, readout),
        story=history_of(config),
        width=config.hidden_size,
        precision=str(config.dtype or "").removeprefix("torch."),
        differences=differences_of(folder),
        own_code=is_own(folder),
        tokenizer=any((folder / file).is_file() for file in TOKENIZER_FILES),
        modules=(folder / "modules.json").is_file(),
        prompt=prompt_of(folder),
        gating=gating,
        rows=rows,
    )


def _shape(folder: Path) -> tuple[PolypruneConfig, Readout]:
    """Of our own folders without a look at the weights, which may have any name (`variant=`)."""
    if not is_own(folder):
        return read_shape(folder)
    config = own_config(folder)
    return config, readout_of(config.architectures)


def differences_of(folder: Path) -> dict[str, float]:
    """What a folder's certificate says; nothing without one, or after a training."""
    found = (read_certificate(folder) or {}).get("differences")
    pairs = found.items() if isinstance(found, dict) else ()
    return {str(k): float(v) for k, v in pairs if isinstance(v, int | float)}


def _gating(folder: Path) -> tuple[str, tuple[str, ...]]:
    """The kind of the gates that lie beside a model, and what each row is for."""
    if not (folder / GATING).is_file():
        return "", ()
    metadata = metadata_of(folder / GATING)
    try:
        rows = json.loads(metadata["rows"])
        return metadata["kind"], tuple(str(row) for row in rows)
    except (KeyError, ValueError, TypeError) as error:
        path = folder / GATING
        raise CheckpointError(f"{path} has no right gating ({error}). Make it again.") from error
