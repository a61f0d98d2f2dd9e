"""The text of a refit: so many sentences of each language, most to solve on, some to choose by."""

from itertools import islice

from ...corpora.padding import in_parts
from ...errors import DataError
from ...model.network.gated_model import PolyprunePreTrainedModel
from ...progress import SILENT, Progress
from ..criteria.losses import Batch
from ..criteria.scoring import ReadyBatches, Scoring, ScoringText
from ..criteria.scoring_losses import scoring_loss
from .refit import MEANS, Refit

LINES = 160
"""Sentences of each language that a refit reads; with 40, it learns them by heart."""

EVERY = 8
"""One sentence of so many chooses ridges instead of being solved on."""

ENOUGH = 80
"""Sentences of each language from which on a repair is made unasked."""

REPAIRED = 0.8
"""The sparsity from which on sentence encoders are repaired unasked. At nine tenths it brings back
a quarter of what was lost; at seven tenths nothing that could be measured."""


def chosen_refit(
    text: ScoringText,
    model: PolyprunePreTrainedModel,
    scoring: Scoring,
    sparsity: float,
    wanted: bool | None = None,
    progress: Progress = SILENT,
) -> Refit | None:
    """The repair that is wanted; where nobody says, one that was measured to pay.

    That is after curves, if there is enough text: for models that read words one by one, and for
    sentence encoders of which little is left.
    """
    if wanted is None:
        loss = scoring_loss(model, scoring.loss, curves=scoring.curves)
        pays = not loss.embeds or sparsity >= REPAIRED
        wanted = scoring.curves and pays and enough_text(text)
    return refit_on(text, model, progress, scoring.loss, scoring.seed) if wanted else None


def enough_text(text: ScoringText) -> bool:
    """Whether every language has sentences enough for a repair to learn more than these."""
    if isinstance(text, ReadyBatches):
        return False
    codes = text.corpus.codes(text.languages)
    return all(sum(1 for _ in text.corpus.sentences(code, ENOUGH)) == ENOUGH for code in codes)


def refit_on(
    text: ScoringText,
    uncut: PolyprunePreTrainedModel,
    progress: Progress,
    loss: str | None = None,
    seed: int = 0,
) -> Refit:
    """A refit to an uncut model on a text, read as it is read for scoring."""
    solving: list[Batch] = []
    choosing: list[Batch] = []
    read = scoring_loss(uncut, loss)
    for code in text.corpus.codes(text.languages):
        lines = list(text.corpus.sentences(code, LINES))
        if len(lines) < EVERY:
            raise DataError(
                f"A repair needs at least {EVERY} sentences of each language, {code} has "
                f"{len(lines)}; {LINES} are better. Give more text, or leave `repair` out."
            )
        others = [line for i, line in enumerate(lines) if i % EVERY]
        chosen = islice(lines, 0, None, EVERY)
        solving += in_parts(read.batches(text.batching, others, seed))
        choosing += in_parts(read.batches(text.batching, chosen, seed))
    return Refit(uncut, solving, choosing, progress, MEANS if read.embeds else 0.0)
