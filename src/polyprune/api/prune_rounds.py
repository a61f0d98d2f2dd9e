"""Pruning in rounds, as a request asks for it."""

from dataclasses import replace

from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import Progress
from ..pruning.criteria.scoring import Scoring, ScoringText
from ..pruning.criteria.word_frequencies import frequencies_for
from ..pruning.nested import order_of_rounds
from ..pruning.prune import Pruned
from ..pruning.ranker import Ranker
from ..pruning.rounds import Rounds, RoundScores, prune_in_rounds
from ..pruning.second_order.refit import RefitReport
from ..pruning.second_order.refit_text import chosen_refit
from .inputs import resolve_scoring_text
from .requests.prune import PruneRequest
from .selecting import budget_of


def pruned_in_rounds(
    model: PolyprunePreTrainedModel,
    ranker: Ranker,
    scoring: Scoring,
    request: PruneRequest,
    progress: Progress,
) -> tuple[Pruned, Ranker, RefitReport | None]:
    """Prune in the rounds of a request; the ranker and the repair of the last of them."""
    text = _text(model, request)
    scores = RoundScores(text, scoring, request.chosen_rounds, progress)
    sparsity = float(request.sparsity or 0)
    refit = chosen_refit(text, model, scoring, sparsity, request.repair, progress)
    pruned = prune_in_rounds(
        model,
        budget_of(request, model, progress),
        ranker,
        scores,
        Rounds(
            request.chosen_rounds,
            refit,
            scoring.table,
            frequencies_for(model, text, scoring.table),
        ),
        request.language,
    )
    return pruned, ranker.on(scores.last), refit.reports[-1] if refit else None


def ordered_in_rounds(
    model: PolyprunePreTrainedModel,
    ranker: Ranker,
    scoring: Scoring,
    request: PruneRequest,
    progress: Progress,
) -> Ranker:
    """The ranker of the last round of a request, which ranks by the order of all of them."""
    number = request.chosen_rounds
    scores = RoundScores(_text(model, request), scoring, number, progress)
    order = order_of_rounds(model, ranker, scores, number, scoring.table)
    return replace(ranker.on(scores.last), order=order)


def _text(model: PolyprunePreTrainedModel, request: PruneRequest) -> ScoringText:
    text = resolve_scoring_text(model, request)
    return text if request.language is None else replace(text, languages=[request.language])
