"""Pruning in rounds, as a request asks for it: which sentences each round reads."""

from dataclasses import replace

from ..memory import give_back_memory
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import Progress
from ..pruning.criteria.scores_file import ScoreSheet
from ..pruning.criteria.scoring import Scoring, ScoringText, score
from ..pruning.criteria.scoring_losses import scoring_loss
from ..pruning.nested import order_of_rounds
from ..pruning.prune import Pruned
from ..pruning.ranker import Ranker
from ..pruning.rounds import Rounds, Scorer, prune_in_rounds
from ..pruning.second_order.refit import Refit, RefitReport
from .inputs import resolve_scoring_text
from .repairing import enough_text, refit_on
from .requests.prune import PruneRequest
from .selecting import budget_of

REPAIRED = 0.8
"""The sparsity from which on sentence encoders are repaired unasked. At nine tenths it brings back
a quarter of what was lost; at seven tenths nothing that could be measured."""


def pruned_in_rounds(
    model: PolyprunePreTrainedModel,
    ranker: Ranker,
    scoring: Scoring,
    request: PruneRequest,
    progress: Progress,
) -> tuple[Pruned, Ranker, RefitReport | None]:
    """Prune in the rounds of a request; the ranker and the repair of the last of them."""
    text, rounds = _text(model, request), RoundScores(scoring, request, progress)
    refit = _refit(text, model, scoring, request, progress)
    pruned = prune_in_rounds(
        model,
        budget_of(request, model, progress),
        ranker,
        rounds.scorer(text),
        Rounds(request.chosen_rounds, refit, scoring.table),
        request.language,
    )
    return pruned, ranker.on(rounds.last), refit.reports[-1] if refit else None


def _refit(
    text: ScoringText,
    model: PolyprunePreTrainedModel,
    scoring: Scoring,
    request: PruneRequest,
    progress: Progress,
) -> Refit | None:
    """The repair that a request asks for; by itself, where it was measured to pay.

    That is after curves, if there is enough text: for models that read words one by one, and for
    sentence encoders of which little is left.
    """
    loss = scoring_loss(model, scoring.loss, curves=scoring.curves)
    wanted = request.repair
    if wanted is None:
        pays = not loss.embeds or float(request.sparsity or 0) >= REPAIRED
        wanted = scoring.curves and pays and enough_text(text)
    return refit_on(text, model, progress, scoring.loss, scoring.seed) if wanted else None


def ordered_in_rounds(
    model: PolyprunePreTrainedModel,
    ranker: Ranker,
    scoring: Scoring,
    request: PruneRequest,
    progress: Progress,
) -> Ranker:
    """The ranker of the last round of a request, which ranks by the order of all of them."""
    rounds = RoundScores(scoring, request, progress)
    scorer = rounds.scorer(_text(model, request))
    order = order_of_rounds(model, ranker, scorer, request.chosen_rounds, scoring.table)
    return replace(ranker.on(rounds.last), order=order)


def _text(model: PolyprunePreTrainedModel, request: PruneRequest) -> ScoringText:
    text = resolve_scoring_text(model, request)
    return text if request.language is None else replace(text, languages=[request.language])


class RoundScores:
    """Scores of round after round, each on other sentences."""

    def __init__(self, scoring: Scoring, request: PruneRequest, progress: Progress):
        self.scoring, self.request, self.progress = scoring, request, progress
        self.last: ScoreSheet | None = None
        """Those of the last round so far, without covariances."""

    def scorer(self, text: ScoringText) -> Scorer:
        """What scores a model in a round."""

        def score_round(
            current: PolyprunePreTrainedModel, number: int, split: PolyprunePreTrainedModel
        ) -> ScoreSheet:
            own = replace(self.scoring, skip=number * self.scoring.sentences)
            with self.progress.stage(f"Round {number + 1} of {self.request.chosen_rounds}"):
                found = score(current, text, own, self.progress, split)
            self.last = replace(found, covariances=None)  # which take as much room as a model
            give_back_memory()
            return found

        return score_round
