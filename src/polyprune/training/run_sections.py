"""The sections of a training config, each a table in TOML; that of gates is a file of its own."""

from dataclasses import dataclass, field
from typing import Literal

from ..errors import ConfigError


@dataclass(frozen=True, slots=True)
class FreshConfig:
    """`[model.fresh]`: the shape of an encoder with random weights."""

    layers: int = 4
    width: int = 128
    heads: int = 4
    units: int = 512
    positions: int = 514
    vocabulary: int = 8000
    """The vocabulary size of the tokenizer that is trained on the corpus."""
    lines: int = 60_000
    """The number of lines to train the tokenizer on, over all languages."""
    tokenizer: str | None = None
    """A folder or Hugging Face id whose tokenizer to use instead."""
    dropout: float = 0.1
    init_std: float = field(default=0.02, metadata={"was": "spread"})
    """The standard deviation of random weights; the default is XLM-R's, for a width of 768."""
    neighbours: bool = False
    """Initialize the heads of the first layer to attend to neighbouring words."""

    def __post_init__(self):
        if min(self.layers, self.width, self.heads, self.units) < 1 or self.width % self.heads:
            raise ConfigError(
                f"An encoder of width {self.width} cannot have {self.heads} heads in "
                f"{self.layers} layers of {self.units} units: the width is a multiple of the heads."
            )
        if self.vocabulary < 100 or self.positions < 8:
            raise ConfigError("A tokenizer has 100 pieces or more, an encoder 8 positions or more.")


IN_MEMORY = "in memory"
"""The start of a run whose models are given to it, not named."""


@dataclass(frozen=True, slots=True)
class StartConfig:
    """`[model]`: the model that training starts from."""

    start: str = "fresh"
    """A folder, a Hugging Face id, `e5-small`, or `fresh`."""
    fresh: FreshConfig = field(default_factory=FreshConfig)
    layers: int | tuple[int, ...] | None = None
    """Keep this many layers, or these layers, counted from 0 (DistilBERT's are 0 2 4 7 9 11)."""
    dropout: float | None = None
    """The dropout of hidden states and attention; the model's own unless given."""


@dataclass(frozen=True, slots=True)
class CorpusConfig:
    """`[corpus]`: the text to train on."""

    source: str = "sample"
    """A folder with one `<lang>.txt[.gz|.xz|.zst]` a language, a Hugging Face data set, or
    `sample`."""
    languages: tuple[str, ...] | None = None
    """The languages to read; all that the source has unless given."""
    exponent: float = 0.3
    """Languages are drawn in proportion to their size to this power (XLM-R's)."""
    block: int = 512
    """The number of tokens in an example, filled with as many whole lines as fit."""
    window: int = 1024
    """The number of documents that are shuffled together."""
    held_out: int = 3000
    """Lines per language that are held out for scoring and the held-out loss, at most a tenth."""
    parallel: str | None = None
    """The language that all files are line by line translations of."""
    prefix: str | None = None
    """A prefix for every line, such as `query: `; the model's own prompt unless given."""
    damaged: Literal["stop", "skip"] = "stop"
    """At a damaged place in a file: `stop`, or `skip` it with a warning."""
    lines_apart: bool = field(default=False, metadata={"absent": False})
    """Whether each line of a file is a document: shuffled, and held out, by itself."""
    lanes: int | None = None
    """The number of parallel streams, a multiple of the processes; as many as processes unless
    given.

    Runs with the same lanes read the same batches, whatever the number of processes.
    """


@dataclass(frozen=True, slots=True)
class TeacherConfig:
    """`[teacher]`: the model that a student learns from."""

    start: str | None = None
    """A folder or Hugging Face id; the model that training starts from, uncut, unless given."""
    cache: bool = False
    """Embed all text once before training; for sentence encoders, and text that fits in memory.

    The teacher may then read other words than the student, and be wider.
    """


@dataclass(frozen=True, slots=True)
class BatchConfig:
    """`[batch]`: the number of examples per step."""

    size: int = 2048
    """The number of examples per step, over all processes and micro-batches."""
    micro_batch_size: int = field(default=16, metadata={"was": "at_once"})
    """The number of examples in one forward pass of one process; gradients are accumulated."""

    def __post_init__(self):
        smallest = min(self.size, self.micro_batch_size)
        if smallest < 1:
            raise ConfigError(f"A batch has 1 example or more, not {smallest}.")


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """`[engine]`: how steps are computed."""

    precision: Literal["no", "fp16", "bf16"] = "no"
    """The precision of the model; gates are always in single precision."""
    checkpointing: bool = False
    """Recompute activations in the backward pass instead of storing them."""
    compile: bool = False
    """Compile the encoder with torch.compile."""
    clip: float = 1.0
    """The maximum norm of the gradient; 0 for no limit."""
    betas: tuple[float, float] = (0.9, 0.98)
    epsilon: float = 1e-6
    ahead: int = 4
    """The number of batches that are prepared in advance, in the background."""

    def __post_init__(self):
        if self.ahead < 1 or self.clip < 0 or self.epsilon <= 0:
            raise ConfigError("ahead is 1 or more, clip 0 or more, epsilon more than 0.")


@dataclass(frozen=True, slots=True)
class SavingConfig:
    """`[saving]`: what is written during training; it is not part of a run's identity."""

    every: int = 1000
    """Steps from one checkpoint to the next."""
    keep: int = 2
    """The number of latest checkpoints to keep, beside the best."""
    held_out_every: int = 1000
    """Steps from one held-out loss to the next."""
    patience: int | None = None
    """Stop after this many held-out losses without improvement."""
    final: Literal["last", "best", "never worse"] = "last"
    """Which model is written at the end; with patience, at least the best.

    `never worse` counts the model before the first step among the best, and takes it where training
    has done harm or diverged. It is for models without gates.
    """
    trackers: tuple[str, ...] = ("tensorboard",)
    """Names of trackers that Accelerate knows."""

    def __post_init__(self):
        if self.every < 1 or self.keep < 1 or self.held_out_every < 1:
            raise ConfigError("every, keep and held_out_every are 1 or more.")

    @property
    def keeps_best(self) -> bool:
        """Whether the model with the lowest held-out loss is written, rather than the last one."""
        return self.final != "last" or self.patience is not None

    @property
    def counts_start(self) -> bool:
        """Whether the model before the first step may be the best."""
        return self.final == "never worse"
