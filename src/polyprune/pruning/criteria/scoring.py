"""A model and a corpus in, a score sheet out."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import cast, get_args

import torch

from ...corpora.batching import Batching
from ...corpora.corpus import Corpus
from ...errors import CheckpointError, ConfigError, DataError, UnknownName
from ...model.files.fingerprint import fingerprint
from ...model.network.modeling_polyprune import PolyprunePreTrainedModel
from ...model.network.source import pooling_of
from ...model.surgery.factorize import factorize
from ...progress import SILENT, Progress
from .importance import GateGradients, Per, gate_gradients
from .losses import Batch, PerExampleLoss, contrastive_loss, masked_lm_loss, task_loss
from .scores_file import ScoreSheet, ScoringRecord

LOSSES = ("masked-lm", "contrastive", "task")
TABLES = ("spectral", "identity", "as it is")


@dataclass(frozen=True, slots=True)
class Scoring:
    """What to score with."""

    sentences: int = 300
    """How many a language; the paper takes 3,000 samples."""
    loss: str | None = None
    """One of `LOSSES`; what fits the model's readout unless given."""
    per: str = "example"
    """What has gates of its own; see `Per`."""
    parallel: str | None = None
    """The language that all files are line by line translations of, for the contrastive loss."""
    table: str = "spectral"
    """How a plain word table is split first, so that its ranks can be pruned (Eq. 3)."""
    seed: int = 0
    """Of the words that are masked, and of labels that are drawn."""
    device: str = "cpu"
    """Where to compute: cpu, cuda, cuda:1, mps, or auto."""

    def __post_init__(self):
        if self.sentences < 1:
            raise ConfigError(f"Score with at least one sentence, not {self.sentences}.")
        if not 0 <= self.seed < 2**63:
            raise ConfigError(f"A seed is a number from 0 to 2⁶³, not {self.seed}.")
        if self.loss is not None and self.loss not in LOSSES:
            raise UnknownName("loss", self.loss, LOSSES, f"There are: {', '.join(LOSSES)}.")
        if self.per not in get_args(Per):
            raise UnknownName("--per", self.per, get_args(Per), "example, token or batch.")
        if self.table not in TABLES:
            raise UnknownName("table", self.table, TABLES, f"There are: {', '.join(TABLES)}.")


def score(
    model: PolyprunePreTrainedModel,
    batching: Batching,
    corpus: Corpus,
    languages: Sequence[str] | None = None,
    scoring: Scoring | None = None,
    progress: Progress = SILENT,
) -> ScoreSheet:
    """Gate gradients of a model in these languages of a corpus, or in all that it has."""
    scoring = scoring or Scoring()
    loss = scoring.loss or default_loss(model)
    if scoring.parallel is not None:
        if loss != "contrastive":
            raise ConfigError(f"Parallel text is for the contrastive loss; this is {loss}.")
        scoring = replace(scoring, parallel=corpus.codes([scoring.parallel])[0])
    codes = corpus.codes(languages)
    seen: Counter[str] = Counter()
    batches = {
        code: progress.track(
            code,
            _counted(_batches(code, loss, batching, corpus, scoring), code, seen, scoring.seed),
        )
        for code in codes
    }
    # In single precision, as half has no room for a unit's gradient; split where it will be cut.
    single = model if model.dtype == torch.float32 else deepcopy(model).float()
    base = prepare(single, scoring.table)
    total = len(codes) * -(-scoring.sentences // batching.size)
    stage = progress.stage("Scoring", total)
    with stage, torch.random.fork_rng(), on_device(base, scoring.device):
        gradients = gate_gradients(base, batches, _loss(loss, model), cast(Per, scoring.per))
    _check_not_silent(gradients, codes)
    about = ScoringRecord(
        model=fingerprint(model),
        table=scoring.table,
        loss=loss,
        per=scoring.per,
        languages=tuple(codes),
        examples=tuple(seen[code] for code in codes),
        corpus=str(corpus.folder),
        seed=scoring.seed,
    )
    return ScoreSheet(gradients, about)


def prepare(model: PolyprunePreTrainedModel, table: str) -> PolyprunePreTrainedModel:
    """The model whose components are scored and cut: with ranks, if its word table has none."""
    if table == "as it is" or model.shape.factorized:
        return model
    try:
        return factorize(model, table)
    except ValueError as error:
        raise CheckpointError(f"The word table cannot be split: {error}") from error


@contextmanager
def on_device(model: PolyprunePreTrainedModel, name: str) -> Iterator[None]:
    """Move a model to a device for as long as it is worked on."""
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", name):
        raise ConfigError(f"--device is auto, cpu, cuda, cuda:1 or mps, not {name!r}.")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    home = model.device
    try:
        model.to(name)  # pyright: ignore[reportArgumentType]
    except (RuntimeError, AssertionError) as error:
        why = str(error).partition("\n")[0]
        raise ConfigError(f"--device {name} cannot be used ({why}). Try --device cpu.") from error
    try:
        yield
    finally:
        model.to(home)  # pyright: ignore[reportArgumentType]


def default_loss(model: PolyprunePreTrainedModel) -> str:
    """The loss that a model with this readout can be scored with, given nothing but text."""
    return {"masked-lm": "masked-lm", "hidden-states": "contrastive"}.get(
        model.readout_kind, "task"
    )


def _loss(name: str, model: PolyprunePreTrainedModel) -> PerExampleLoss:
    readout = model.readout_kind
    if name == "masked-lm" and readout != "masked-lm":
        raise ConfigError(
            f"This model has no masked-LM readout but {readout}. Use --loss contrastive."
        )
    if name == "task" and readout in ("masked-lm", "hidden-states"):
        raise ConfigError(f"A model with the readout {readout} has no task. Leave --loss out.")
    if name == "contrastive":
        return contrastive_loss(pooling=pooling_of(model.config.name_or_path))
    return masked_lm_loss if name == "masked-lm" else task_loss


def _batches(
    code: str, loss: str, batching: Batching, corpus: Corpus, scoring: Scoring
) -> Iterator[Batch]:
    pivot, count = scoring.parallel, scoring.sentences
    if pivot is not None and pivot != code:  # the pivot itself is paired with its own dropout
        return batching.pairs(corpus.translations(code, pivot, count))
    lines = corpus.sentences(code, count)
    return batching.masked(lines, scoring.seed) if loss == "masked-lm" else batching.plain(lines)


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
