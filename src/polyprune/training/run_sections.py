"""The sections of a training config, each a table in TOML."""

from dataclasses import dataclass, field
from typing import Literal

from ..errors import ConfigError
from ..pruning.gates.hard_concrete import HardConcrete
from ..pruning.selection.ranking import Minimum


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
    lanes: int | None = None
    """The number of parallel streams, a multiple of the processes; as many as processes unless
    given.

    Runs with the same lanes read the same batches, whatever the number of processes.
    """


RANDOM = "random"
"""The rule that ranks by chance."""


@dataclass(frozen=True, slots=True)
class GatingConfig:
    """Where gates come from; see `pruning.gates.gatings`."""

    kind: Literal["none", "fixed", "learned", "dynamic"] = field(
        default="none", metadata={"old_values": {"gradient": "fixed", "l0": "learned"}}
    )
    """Fixed by gradients, learned from a random start (L0), or dynamic: for every size at once."""
    setting: Literal["shared", "non-shared"] = "shared"
    sparsity: float = 0.5
    rule: str = "paper"
    """How gradients are ranked, for `fixed` and `dynamic`; see `polyprune ls methods`. `dynamic`
    gates may start from a `random` ranking, to see what training makes of it.
    """
    learned: bool = False
    """Whether `dynamic` gates are trained."""
    table: str = "spectral"
    """How to factorize a plain word table first, so that its ranks have gates (Eq. 3)."""
    minimum: Minimum = field(default_factory=lambda: Minimum(rank=1), metadata={"was": "least"})
    """The components that a ranking keeps in every layer, whatever their scores."""
    init_std: float = field(default=0.01, metadata={"was": "spread"})
    """The standard deviation of the initial α of `learned` gates."""
    common: float = field(default=0.0, metadata={"absent": 0.0})
    """How many times as fast as its own the part of α that all languages share is learned; 0 for
    no such part.
    """
    init_mean: float = field(default=0.0, metadata={"absent": 0.0})
    """The mean of the initial α: 0 is half open, 2.4 and more is open."""
    temperature: float = field(default=1.0, metadata={"absent": 1.0})
    """β of the hard concrete distribution (Eq. 7)."""
    low: float = field(default=-0.1, metadata={"absent": -0.1})
    """l, below 0: gates are stretched to here, and clipped at 0 (Eq. 8)."""
    high: float = field(default=1.1, metadata={"absent": 1.1})
    """r, above 1: gates are stretched to here, and clipped at 1 (Eq. 8)."""
    sentences: int = 3000
    """Held-out lines per language to score with."""

    def __post_init__(self):
        if not 0 <= self.sparsity < 1:
            raise ConfigError(f"A sparsity is from 0 to less than 1, not {self.sparsity:g}.")
        try:
            _ = self.distribution
        except ValueError as error:
            raise ConfigError(str(error)) from error
        if self.rule == RANDOM and self.kind != "dynamic":
            raise ConfigError(f'gating.rule = "random" is for dynamic gates, not {self.kind} ones.')
        if self.learned and self.kind != "dynamic":
            raise ConfigError(
                f"learned is for dynamic gates: {self.kind} gates are "
                f"{'always' if self.kind == 'learned' else 'never'} trained."
            )

    @property
    def distribution(self) -> HardConcrete:
        """The distribution of trained gates."""
        return HardConcrete(self.temperature, self.low, self.high)

    @property
    def any(self) -> bool:
        """Whether there are gates at all."""
        return self.kind != "none"

    @property
    def cut_when_trained(self) -> bool:
        """Whether gates are learned for one size, so that shared ones are cut once they are."""
        return self.kind == "learned"

    @property
    def ranked(self) -> bool:
        """Whether components are ranked before training."""
        return self.kind in ("fixed", "dynamic")

    @property
    def needs_scores(self) -> bool:
        """Whether they are ranked by what is measured on text."""
        return self.ranked and self.rule != RANDOM

    @property
    def trainable(self) -> bool:
        """Whether the gates have trainable parameters."""
        return self.cut_when_trained or self.learned

    @property
    def every_size(self) -> bool:
        """Whether one set of gates holds every size."""
        return self.kind == "dynamic"

    @property
    def cut_first(self) -> bool:
        """Whether the model is shrunk before training: its gates are fixed and shared."""
        return self.kind == "fixed" and self.setting == "shared"


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
    final: Literal["last", "best"] = "last"
    """Which model is written at the end; with patience, always the best."""
    trackers: tuple[str, ...] = ("tensorboard",)
    """Names of trackers that Accelerate knows."""

    def __post_init__(self):
        if self.every < 1 or self.keep < 1 or self.held_out_every < 1:
            raise ConfigError("every, keep and held_out_every are 1 or more.")

    @property
    def keeps_best(self) -> bool:
        """Whether the model with the lowest held-out loss is written, rather than the last one."""
        return self.final == "best" or self.patience is not None
