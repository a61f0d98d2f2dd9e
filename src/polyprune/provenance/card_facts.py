"""What a model card is made of, as far as a folder knows it, and how a card says it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..loading.configs import is_own, own_config
from ..loading.conversion import readout_of
from ..loading.hub import read_shape
from ..model.files.gating_file import GatingHeader, gating_header
from ..model.footprint import size_of
from ..model.history import History, ModelSize, history_of
from ..model.network.configuration_polyprune import PolypruneConfig
from ..model.network.folder import read_certificate
from ..model.network.readouts import Readout
from ..model.network.source import ModelSource
from .markdown import code, plain

PRECISIONS = {"float32": "single", "float16": "half", "bfloat16": "half"}


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """What a task has come to, before and after."""

    task: str
    title: str
    metric: str
    """What the hub calls it: `accuracy`, `f1`."""
    mean: tuple[float | None, float | None]
    """The scores of the dense model and of this one, in percent; None if not measured."""
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
    history: History = field(default_factory=History)
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
    """The kind of gates in an elastic folder."""
    rows: tuple[str, ...] = ()
    compared: tuple[TaskComparison, ...] = ()
    speed: SpeedGain | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """Languages in English."""

    @property
    def holds_every_size(self) -> bool:
        """Whether a model of any size can be taken out."""
        return GatingHeader(self.gating, self.rows).holds_every_size


def facts_of(folder: Path, name: str) -> CardFacts:
    """What can be known of a model folder that has everything but a card."""
    config, readout = _shape(folder)
    header, source = gating_header(folder), ModelSource.at(folder)
    return CardFacts(
        name=name,
        family=config.family,
        readout=readout,
        size=size_of(config, readout),
        history=history_of(config),
        width=config.hidden_size,
        precision=str(config.dtype or "").removeprefix("torch."),
        differences=differences_of(folder),
        own_code=is_own(folder),
        tokenizer=source.has_tokenizer,
        modules=(folder / "modules.json").is_file(),
        prompt=source.prompt,
        gating="" if header is None else header.kind,
        rows=() if header is None else header.rows,
    )


def _shape(folder: Path) -> tuple[PolypruneConfig, Readout]:
    """Read the shape; weights, which may have any name (`variant=`), only where it takes them."""
    if not is_own(folder):
        return read_shape(folder)
    config = own_config(folder)
    return config, readout_of(config.architectures)


def differences_of(folder: Path) -> dict[str, float]:
    """What a folder's certificate says; nothing without one, or after a training."""
    found = (read_certificate(folder) or {}).get("differences")
    pairs = found.items() if isinstance(found, dict) else ()
    return {str(k): float(v) for k, v in pairs if isinstance(v, int | float)}


def is_cut(facts: CardFacts) -> bool:
    """Whether the encoder is smaller than it was."""
    before, size = facts.history.before, facts.size
    if facts.gating or before is None:
        return False
    return (before.heads, before.units, before.rank) != (size.heads, size.units, size.rank)


def base_of(facts: CardFacts) -> str:
    """The original's name."""
    return facts.history.base or facts.name


def named(facts: CardFacts) -> str:
    """The original's name, as it would be typed."""
    return code(base_of(facts))


def several(facts: CardFacts, codes: tuple[str, ...]) -> str:
    """Languages by name, or by code where nobody knows names."""
    listed = ", ".join(language(facts, each) for each in codes)
    return listed if len(codes) < 4 else f"{len(codes)} languages: {listed}"


def language(facts: CardFacts, each: str) -> str:
    """A language by name and code."""
    name = facts.names.get(each)
    return plain(each) if name is None or name == each else f"{plain(name)} ({plain(each)})"


def layers(size: ModelSize) -> str:
    """How many there are."""
    return f"{len(size.heads)} layer{'' if len(size.heads) == 1 else 's'}"


def precision(facts: CardFacts) -> str:
    """What a number takes: ` in half precision`."""
    word = PRECISIONS.get(facts.precision)
    return f" in {word} precision" if word else ""


def millions(count: int) -> str:
    """A number of parameters as people say it."""
    return f"{count / 1e6:.1f} million" if count >= 1e5 else f"{count:,}"


def megabytes(count: int) -> str:
    """A size in MB."""
    return f"{count / 1e6:,.1f} MB"
