"""The losses that a model can be scored by. To add one, add a value to `LOSSES`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ...corpora.batching import Batching
from ...errors import ConfigError, UnknownName
from ...model.network.gated_model import PolyprunePreTrainedModel
from ...model.network.readouts import Readout
from .losses import (
    Batch,
    PerExampleLoss,
    contrastive_loss,
    embedding_loss,
    masked_lm_loss,
    task_loss,
)


@dataclass(frozen=True, slots=True)
class ScoringLoss:
    """What components have to be important for, and the batches that it is computed on."""

    name: str
    make: Callable[[PolyprunePreTrainedModel], PerExampleLoss]
    """The loss of every example, for a model."""
    batches: Callable[[Batching, Iterable[str], int], Iterator[Batch]]
    """Lines in batches, given a seed."""
    fits: Callable[[Readout], bool] = lambda readout: True
    """Whether a model with this readout can be scored by it."""
    misfit: str = ""
    """What to say where it does not fit."""
    embeds: bool = False
    """Whether it is about embeddings of sentences, which begin with the model's prompt."""
    pairs: bool = False
    """Whether translations are of use to it."""
    divisible: bool = False
    """Whether nothing changes where a batch is computed in parts: no draws, and no contrasts."""


MASKED_LM = ScoringLoss(
    "masked-lm",
    make=lambda model: masked_lm_loss,
    batches=lambda batching, lines, seed: batching.masked(lines, seed),
    fits=lambda readout: readout.predicts_words,
    misfit="This model has no masked-LM readout but {readout}. Use `loss='contrastive'`.",
    divisible=True,
)
CONTRASTIVE = ScoringLoss(
    "contrastive",
    make=lambda model: contrastive_loss(pooling=model.source.pooling),
    batches=lambda batching, lines, seed: batching.plain(lines),
    embeds=True,
    pairs=True,
)
EMBEDDING = ScoringLoss(
    "embedding",
    make=lambda model: embedding_loss(pooling=model.source.pooling),
    batches=lambda batching, lines, seed: batching.plain(lines),
    embeds=True,
)
TASK = ScoringLoss(
    "task",
    make=lambda model: task_loss,
    batches=lambda batching, lines, seed: batching.inputs(lines),
    fits=lambda readout: readout.has_task,
    misfit="A model with the readout {readout} has no task. Leave `loss` out.",
)

LOSSES = {each.name: each for each in (MASKED_LM, CONTRASTIVE, EMBEDDING, TASK)}


def scoring_loss(
    model: PolyprunePreTrainedModel, name: str | None = None, *, curves: bool = False
) -> ScoringLoss:
    """The loss of this name, or the one that fits the model's readout, given nothing but text.

    Removal curves are about what changes, so that those of a sentence encoder are about its
    embeddings; gate gradients are of what it was trained for.
    """
    fitting = model.readout_kind.loss
    if curves and fitting == CONTRASTIVE.name:
        fitting = EMBEDDING.name
    loss = loss_named(name or fitting)
    if not loss.fits(model.readout_kind):
        raise ConfigError(loss.misfit.format(readout=model.readout_kind))
    return loss


def loss_named(name: str) -> ScoringLoss:
    """The loss of this name."""
    if name not in LOSSES:
        raise UnknownName("loss", name, LOSSES, f"There are: {', '.join(LOSSES)}.")
    return LOSSES[name]
