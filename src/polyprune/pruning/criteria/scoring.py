"""A model and a corpus in, a score sheet out."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast, get_args

import torch
from torch import Tensor

from ...corpora.batching import Batching
from ...corpora.corpus import Corpus
from ...corpora.padding import in_parts
from ...device import on_device
from ...errors import ConfigError, DataError, UnknownName
from ...model.files.fingerprint import fingerprint
from ...model.network.components import Gates
from ...model.network.gated_model import PolyprunePreTrainedModel
from ...progress import SILENT, Progress
from ..second_order.measured_curves import curves_of
from ..second_order.moments import Covariances, Moments
from ..shrinking import WEIGHTED, with_ranks
from .importance import GateGradients, Per, gate_gradients, stack_gradients
from .losses import Batch, PerExampleLoss
from .scores_file import ScoreSheet, ScoringRecord
from .scoring_losses import ScoringLoss, loss_named, scoring_loss

TABLES = ("spectral", WEIGHTED, "identity", "as it is")

Line = TypeVar("Line")


@dataclass(frozen=True, slots=True)
class Scoring:
    """How to score: with how much text, by which loss, on which device."""

    sentences: int = 300
    """Sentences per language; the paper takes 3,000 samples."""
    loss: str | None = None
    """One of `LOSSES`; what fits the model's readout unless given."""
    per: str = "example"
    """What gets a private copy of the gates: an example, a token or a batch; see `Per`."""
    parallel: str | None = None
    """The language that all files are line by line translations of, for the contrastive loss."""
    table: str = "spectral"
    """How a plain word table is split first, so that its ranks can be pruned (Eq. 3)."""
    seed: int = 0
    """The seed of the words that are masked, and of labels that are drawn."""
    device: str = "cpu"
    """Where to compute: cpu, cuda, cuda:1, mps, or auto."""
    curves: bool = False
    """Measure removal curves too, which the second-order rule ranks by."""
    skip: int = 0
    """Sentences of each language that others have read; from the start again where text ends."""
    own_curves: bool = False
    """One order of removal for each language, rather than one for all."""
    curves_by_language: bool = True
    """What each language loses by a removal, rather than their mean: it takes memory."""

    def __post_init__(self):
        if self.sentences < 1:
            raise ConfigError(f"Score with at least one sentence, not {self.sentences}.")
        if not 0 <= self.seed < 2**63:
            raise ConfigError(f"A seed is a number from 0 to 2⁶³, not {self.seed}.")
        if self.loss is not None:
            loss_named(self.loss)
        if self.per not in get_args(Per):
            raise UnknownName("`per`", self.per, get_args(Per), "example, token or batch.")
        if self.table not in TABLES:
            raise UnknownName("table", self.table, TABLES, f"There are: {', '.join(TABLES)}.")


@dataclass(frozen=True, slots=True)
class ScoringText:
    """The text to score with, and how it becomes batches."""

    corpus: Corpus
    batching: Batching
    languages: Sequence[str] | None = None
    """All that the corpus has unless given."""

    def batches(self, code: str, loss: ScoringLoss, scoring: Scoring) -> Iterator[Batch]:
        """The first sentences of a language, in batches that a loss needs."""
        pivot, last = scoring.parallel, scoring.skip + scoring.sentences
        if pivot is not None and pivot != code:  # the pivot itself is paired with its own dropout
            both = self.corpus.translations(code, pivot, last)
            return self.batching.pairs(_after(both, scoring.skip, scoring.sentences))
        lines = _after(self.corpus.sentences(code, last), scoring.skip, scoring.sentences)
        return loss.batches(self.batching, lines, scoring.seed)


@dataclass(frozen=True, slots=True)
class ReadyBatches(ScoringText):
    """Batches that somebody else made, by language; a masked-LM loss needs `labels` in them."""

    ready: Mapping[str, Iterable[Batch]] = field(default_factory=dict)

    def batches(self, code: str, loss: ScoringLoss, scoring: Scoring) -> Iterator[Batch]:
        """Return the batches of a language as they are."""
        return iter(self.ready[code])


def score(
    model: PolyprunePreTrainedModel,
    text: ScoringText,
    scoring: Scoring | None = None,
    progress: Progress = SILENT,
    uncut: PolyprunePreTrainedModel | None = None,
) -> ScoreSheet:
    """Gate gradients of a model in every language of a text.

    `uncut` is `with_ranks(model, scoring.table)` where that is at hand: splitting a large word
    table takes a while. Scores are of the model in single precision: another is made so.
    """
    scoring = scoring or Scoring()
    loss = scoring_loss(model, scoring.loss, curves=scoring.curves)
    if scoring.parallel is not None:
        if not loss.pairs:
            raise ConfigError(f"Parallel text is for the contrastive loss; this is {loss.name}.")
        scoring = replace(scoring, parallel=text.corpus.codes([scoring.parallel])[0])
    codes = text.corpus.codes(text.languages)
    seen: Counter[str] = Counter()
    batches = {
        code: progress.track(
            code,
            _counted(text.batches(code, loss, scoring), code, seen, scoring.seed),
        )
        for code in codes
    }
    if scoring.curves and loss.divisible and scoring.per == "example":
        batches = {code: in_parts(own) for code, own in batches.items()}
    # In single precision, as half has no room for a unit's gradient; split where it will be cut.
    if uncut is None:
        single = model if model.dtype == torch.float32 else deepcopy(model).float()
        uncut = with_ranks(single, scoring.table)
    elif uncut.dtype != torch.float32:
        uncut = deepcopy(uncut).float()
    stage = progress.stage("Scoring", len(codes) * -(-scoring.sentences // text.batching.size))
    with stage, torch.random.fork_rng(), on_device(uncut, scoring.device):
        made = loss.make(model)
        if scoring.curves:
            gradients, covariances = _with_curves(uncut, batches, made, scoring, progress)
        else:
            gradients = gate_gradients(uncut, batches, made, cast(Per, scoring.per))
            covariances = None
    _check_not_silent(gradients, codes)
    about = ScoringRecord(
        model=fingerprint(model),
        table=scoring.table,
        loss=loss.name,
        per=scoring.per,
        languages=tuple(codes),
        examples=tuple(seen[code] for code in codes),
        corpus=str(text.corpus.folder),
        seed=scoring.seed,
    )
    return ScoreSheet(gradients, about, covariances)


def _after(lines: Iterator[Line], skip: int, count: int) -> Iterator[Line]:
    """So many lines after those skipped; where there are too few, from the start again."""
    if not skip:
        return lines
    found = list(lines)
    count = min(count, len(found))
    return (found[(skip + i) % len(found)] for i in range(count))


def _with_curves(
    model: PolyprunePreTrainedModel,
    batches: Mapping[str, Iterable[Batch]],
    loss: PerExampleLoss,
    scoring: Scoring,
    progress: Progress,
) -> tuple[GateGradients, Covariances | None]:
    """Gate gradients and removal curves, from the same passes, and what making up needs."""
    moments = Moments(model, by_language=scoring.curves_by_language)
    rows: list[GateGradients] = []

    def watched(model: PolyprunePreTrainedModel, batch: Batch, gates: Gates) -> Tensor:
        moments.start(batch)
        found = loss(model, batch, gates)
        if not found.isfinite().all():
            moments.check_finite(code)  # which says where
        return found

    for code, own in batches.items():
        if scoring.own_curves:
            moments = Moments(model)
        with moments.watching():
            row = gate_gradients(model, {code: own}, watched, cast(Per, scoring.per))
        moments.close(code)
        if scoring.own_curves:
            row = replace(row, curves=curves_of(model, moments, row.squared.rank / 2, progress))
        rows.append(row)
    gradients = stack_gradients(rows)
    if not scoring.own_curves:
        curves = curves_of(model, moments, gradients.squared.rank / 2, progress)
        gradients = replace(gradients, curves=curves)
    one_for_all = not scoring.own_curves or len(rows) == 1
    return gradients, moments.covariances() if one_for_all else None


def _check_not_silent(gradients: GateGradients, codes: Sequence[str]) -> None:
    for row, code in enumerate(codes):
        if not any(scores[row].any() for scores in gradients.absolute.leaves()):
            raise DataError(
                f"The text in {code} says nothing about any component: every gradient is 0. Give "
                "text that the tokenizer knows, and two sentences or more for a contrastive loss."
            )


def _counted(batches: Iterator[Batch], code: str, seen: Counter[str], seed: int) -> Iterator[Batch]:
    torch.manual_seed(seed)  # labels may be drawn: the same ones, whatever language came before
    for batch in batches:
        seen[code] += len(batch["input_ids"])
        yield batch
