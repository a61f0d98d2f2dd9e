"""What `polyprune.prune` is asked for, and what of it does not go together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from ...pruning.amounts import ROUND, SENTENCES, rounds_for
from ...quantities import (
    parse_batch,
    parse_bytes,
    parse_count,
    parse_seconds,
    parse_sparsity,
    parse_speed_up,
)
from ..request import Option, Request
from .recover import Minutes, RecoverSteps, refused_minutes
from .shared import (
    TEXT,
    BatchSize,
    Command,
    Compare,
    Corpus,
    Device,
    Force,
    Languages,
    Loss,
    Out,
    Parallel,
    Prefix,
    Seed,
    Table,
    Tokens,
    as_path,
)

SIZE, SPEED, RANKING = "How much stays", "How fast it becomes", "What stays"
REPAIR = "--repair/--no-repair"


@dataclass(frozen=True, kw_only=True)
class PruneRequest(Request):
    """How much of a model stays, what of it, and what happens to it then."""

    sparsity: Annotated[
        int | float | str | None,
        Option("How much of the encoder goes: 0.5 or 50%.", parse=parse_sparsity),
    ] = None
    parameters: Annotated[
        int | str | None,
        Option("How many parameters the model may have in all: 60M.", parse=parse_count),
    ] = None
    size: Annotated[
        int | str | None, Option("How large the weights may be: 100MB.", parse=parse_bytes)
    ] = None
    speedup: Annotated[
        int | float | str | None,
        Option("How many times faster, on this machine: 2.", parse=parse_speed_up),
    ] = None
    latency: Annotated[
        int | float | str | None,
        Option("How long a batch may take, on this machine: 10ms.", parse=parse_seconds),
    ] = None
    corpus: Corpus = None
    languages: Languages = None
    setting: Annotated[
        str, Option("One subnetwork for all languages, shared, or one for each, non-shared.")
    ] = "shared"
    elastic: Annotated[bool, Option("Make one folder that holds every size.")] = False
    recover: RecoverSteps = None
    minutes: Minutes = None
    out: Out = None
    force: Force = False
    speed_at: Annotated[
        str | tuple[int, int],
        Option("The batch: sentences x tokens.", SPEED, parse=parse_batch),
    ] = "1x128"
    threads: Annotated[
        int | None, Option("Threads of the processor; all unless given.", SPEED, least=1)
    ] = None
    scores: Annotated[Any, Option("A scores file of this model, or its scores.", RANKING)] = None
    language: Annotated[
        str | None, Option("With non-shared: make this language's model.", RANKING)
    ] = None
    method: Annotated[str, Option("See polyprune ls methods.", RANKING)] = "gradient"
    rule: Annotated[
        str | None,
        Option("What ranks components, or module:name; second-order from text.", RANKING),
    ] = None
    rounds: Annotated[
        int | None,
        Option(
            "Cut in so many rounds, each scored anew; 3 to 6 by second-order.", RANKING, least=1
        ),
    ] = None
    repair: Annotated[
        bool | None,
        Option("Fit what is left to the uncut model, untrained.", RANKING, flag=REPAIR),
    ] = None
    worst: Annotated[bool, Option("Let the language that loses most lose least.", RANKING)] = False
    exact: Annotated[bool, Option("Solve the knapsack, not one ranking.", SIZE)] = False
    min_heads: Annotated[
        int, Option("Heads that every layer keeps.", SIZE, least=0, formerly="least_heads")
    ] = 0
    min_units: Annotated[
        int, Option("Units that every layer keeps.", SIZE, least=0, formerly="least_units")
    ] = 0
    unit_multiple: Annotated[
        int,
        Option("Units of a layer are a multiple of this.", SIZE, least=1, formerly="multiple"),
    ] = 1
    gates: Annotated[
        str | Path | None, Option("Write the gates to this file too.", SIZE, parse=as_path)
    ] = None
    sentences: Annotated[
        int | None,
        Option("Sentences to read in each language: 300, or 64 a round by second-order.", TEXT),
    ] = None
    compare: Compare = None
    loss: Loss = None
    parallel: Parallel = None
    table: Table = None
    batch_size: BatchSize = 16
    tokens: Tokens = 128
    prefix: Prefix = None
    seed: Seed = 0
    device: Device = "auto"
    command: Command = ""

    @property
    def every_size(self) -> bool:
        """Whether one folder with all sizes is made, rather than one size."""
        return self.elastic or (self.per_language and self.language is None)

    @property
    def per_language(self) -> bool:
        """Whether every language gets a subnetwork of its own."""
        from ...pruning.setting import setting_named

        return setting_named(self.setting).per_language

    @property
    def chosen_rule(self) -> str:
        """The rule that is asked for, or the best measured.

        That is second-order where what is left can make up for what goes: for one size, with text.
        """
        if self.rule is not None:
            return self.rule
        return "fisher" if self.every_size or self.scores is not None else "second-order"

    @property
    def by_curves(self) -> bool:
        """Whether the rule measures removal curves."""
        return self._criterion.needs_curves

    @property
    def chosen_rounds(self) -> int:
        """The rounds that are asked for, or as many as the rule is best with."""
        if self.rounds is not None:
            return self.rounds
        cut_anew = self.by_curves and self.scores is None and not self.every_size
        if not cut_anew or self._ready_batches:
            return 1
        return rounds_for(float(self.sparsity or 0.0))

    @property
    def chosen_sentences(self) -> int:
        """Sentences of each language to read, in every round."""
        if self.sentences is not None:
            return self.sentences
        return ROUND if self.by_curves else SENTENCES

    @property
    def _ready_batches(self) -> bool:
        """Whether the text is batches that can be read only once."""
        from ...corpora.sentences import is_sentences

        return isinstance(self.corpus, Mapping) and not is_sentences(self.corpus)

    @property
    def in_rounds(self) -> bool:
        """Whether text is read while the model is cut, not only before."""
        return self.chosen_rounds > 1 or bool(self.repair) or self.table == "weighted"

    @property
    def timed(self) -> bool:
        """Whether a speed is asked for."""
        return self.speedup is not None or self.latency is not None

    @property
    def scores_with_text(self) -> bool:
        """Whether components are ranked by what they do to text."""
        return self._criterion.needs_text

    @property
    def _criterion(self) -> Any:
        """What ranks components."""
        from ...pruning.criteria.criterion import criterion_named

        return criterion_named(self.method, self.chosen_rule, self.seed)

    def refusals(self) -> Iterator[tuple[bool, str]]:
        """Options that cannot both be meant."""
        yield from self._refused_budgets()
        yield from self._refused_languages()
        yield from self._refused_text()
        yield from self._refused_rounds()
        yield from refused_minutes(self.minutes, self.recover, "recover")

    def _refused_budgets(self) -> Iterator[tuple[bool, str]]:
        sized = self.parameters is not None or self.size is not None
        other = self.timed or sized
        special = self.exact or self.unit_multiple > 1 or self.min_heads > 0 or self.min_units > 0
        yield (
            self.every_size and (other or special),
            "An elastic folder holds every size of one ranking: `parameters`, `size`, `speedup`, "
            "`latency`, `exact`, `unit_multiple`, `min_heads` and `min_units` are for one size.",
        )
        yield (
            self.every_size and self.gates is not None and self.sparsity is None,
            "Gates are of one size: give `sparsity` too, or leave `gates` out.",
        )
        yield (
            not self.every_size and self.sparsity is None and not other,
            "Give a budget: `sparsity=0.5`, or `parameters='60M'`, `size='100MB'`, `speedup=2` or "
            "`latency='10ms'`, alone or together.",
        )
        yield (
            self.sparsity is not None and self.timed,
            "A sparsity goes with `parameters` and `size`, not with a time: leave `sparsity` out, "
            "or `speedup` and `latency`.",
        )
        yield (
            self.speedup is not None and self.latency is not None,
            "Ask for `speedup` or for `latency`, not for both.",
        )
        yield (
            (self.exact or self.worst) and (self.sparsity is None or sized),
            "`exact` and `worst` go with a `sparsity`, not with another budget.",
        )

    def _refused_languages(self) -> Iterator[tuple[bool, str]]:
        yield (
            self.language is not None and not self.per_language,
            f"`language={self.language!r}` is for `setting='non-shared'`; see `languages`.",
        )
        yield (
            self.language is not None and self.elastic,
            "`elastic` is for every language: leave `language` or `elastic` out.",
        )
        yield (
            self.languages is not None and not self.scores_with_text,
            f"Method {self._criterion.method!r} knows no languages: leave `languages` out.",
        )
        yield (
            self.per_language and not self.scores_with_text,
            f"Method {self._criterion.method!r} knows no languages: use `setting='shared'`.",
        )
        yield (
            self.recover is not None and (self.elastic or self.per_language),
            "`recover` is for one size that all languages share; for others see polyprune train.",
        )

    def _refused_rounds(self) -> Iterator[tuple[bool, str]]:
        yield (
            self.worst and (self.every_size or self.per_language),
            "`worst` is for one subnetwork that all languages share, in one size.",
        )
        yield (
            self.in_rounds and (self.scores is not None or not self.scores_with_text),
            "`rounds` and `repair` read text while they cut: they need `corpus`, not `scores`, and "
            "a rule of gradients.",
        )
        yield (
            self.table == "weighted" and (self.every_size or self.gates is not None),
            "`table='weighted'` is for one size, without `gates`: use `table='spectral'`.",
        )
        yield (
            bool(self.repair) and self.every_size,
            "`repair` is for one size and one subnetwork: leave `elastic` out, and with "
            "`setting='non-shared'` give `language`. What comes out of an elastic folder is "
            "repaired by `polyprune shrink`.",
        )
        yield (
            self.chosen_rounds > 1 and self.every_size and self.per_language,
            "`rounds` are for one subnetwork: with `setting='non-shared'` give `language`, or "
            "leave `rounds` out.",
        )

    def _refused_text(self) -> Iterator[tuple[bool, str]]:
        yield (
            not self.scores_with_text and self.scores is not None,
            f"Method {self._criterion.method!r} reads no text: leave `scores` out.",
        )
