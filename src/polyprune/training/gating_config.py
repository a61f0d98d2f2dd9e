"""The gates of a training config: where they come from, and what ranks components for them."""

from dataclasses import dataclass, field, replace
from typing import Literal

from ..errors import ConfigError, UnknownName
from ..own_code import code_hash, split_name
from ..pruning.criteria.criterion import (
    FISHER,
    GROUP,
    NAMES,
    Chance,
    Criterion,
    check_name,
    rule_named,
)
from ..pruning.gates.hard_concrete import HardConcrete
from ..pruning.selection.ranking import Minimum


@dataclass(frozen=True, slots=True)
class GatingConfig:
    """`[gating]`: where gates come from; see `pruning.gates.gatings`."""

    kind: Literal["none", "fixed", "learned", "dynamic"] = field(
        default="none", metadata={"old_values": {"gradient": "fixed", "l0": "learned"}}
    )
    """Fixed by gradients, learned from a random start (L0), or dynamic: for every size at once."""
    setting: Literal["shared", "non-shared"] = "shared"
    sparsity: float = 0.5
    rule: str | None = None
    """What ranks components, for `fixed` and `dynamic`: a rule of gradients (`fisher` unless
    given), `magnitude`, `random`, or `module:name` for one's own; see `polyprune ls methods`.
    """
    rounds: int | None = field(default=None, metadata={"absent": None})
    """Cut in so many rounds before training, each scored anew, if gates are fixed and shared; as
    many as `polyprune prune` takes unless given.
    """
    repair: bool | None = field(default=None, metadata={"absent": None})
    """Whether what is left after such a cut is fitted to the uncut model; as `polyprune prune` does
    unless given.
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
        self._check_rule()
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
    def chosen_rule(self) -> str:
        """The rule that is given, or the best measured for gates, for which nothing makes up."""
        return self.rule or FISHER.name

    def criterion(self, seed: int = 0, rows: int = 1) -> Criterion:
        """What ranks components; the module of a user's own is imported here.

        For dynamic gates, chance may rank the rows of several languages, each in another way.
        """
        found = rule_named(self.chosen_rule, seed)
        if isinstance(found, Chance) and self.every_size:
            return replace(found, rows=rows)
        if self.setting != "shared" and not found.needs_text:
            raise ConfigError(
                f"gating.rule = {self.chosen_rule!r} knows no languages: use setting = 'shared'."
            )
        return found

    def own_code(self) -> dict[str, str]:
        """A hash of the code of a user's own criterion, once it is known to be one."""
        if not self.ranked or self.chosen_rule in NAMES:
            return {}
        self.criterion()
        return {"criterion": code_hash(split_name(self.chosen_rule, GROUP)[0])}

    def _check_rule(self) -> None:
        """Raise if a rule does not exist, or cannot be meant; import none of a user's own."""
        try:
            check_name("rule", self.chosen_rule)
        except UnknownName as error:
            raise ConfigError(f"gating.rule: {error}") from error
        if self.ranked and self.chosen_rule in NAMES:
            self.criterion()
        if self.rounds is not None and self.rounds < 1:
            raise ConfigError(f"There is 1 round or more, not {self.rounds}.")
        if not self.cut_first and (self.repair or (self.rounds or 1) > 1):
            raise ConfigError(
                "rounds and repair are for gates that are cut before training: "
                "kind = 'fixed' and setting = 'shared'."
            )

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
