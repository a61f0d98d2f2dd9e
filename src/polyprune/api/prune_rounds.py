"""Pruning in rounds, as a request asks for it: which sentences each round reads."""

from dataclasses import replace

from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import Progress
from ..pruning.criteria.scores_file import ScoreSheet
from ..pruning.criteria.scoring import Scoring, score
from ..pruning.prune import Pruned
from ..pruning.ranker import Ranker
from ..pruning.rounds import Rounds, prune_in_rounds
from ..pruning.second_order.refit import RefitReport
from .inputs import resolve_scoring_text
from .repairing import refit_on
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
    text = resolve_scoring_text(model, request)
    if request.language is not None:
        text = replace(text, languages=[request.language])
    rankers: list[Ranker] = []

    def scorer(
        current: PolyprunePreTrainedModel, number: int, split: PolyprunePreTrainedModel
    ) -> ScoreSheet:
        # Words are cut in the last round: until then, their table stays as it is.
        table = scoring.table if number == request.chosen_rounds - 1 else "as it is"
        own = replace(scoring, skip=number * scoring.sentences, table=table)
        with progress.stage(f"Round {number + 1} of {request.chosen_rounds}"):
            sheet = score(current, text, own, progress, split)
        rankers.append(ranker.on(sheet))
        return sheet

    refit = None
    if request.repair:
        refit = refit_on(text, model, progress, scoring.loss, scoring.seed)
    pruned = prune_in_rounds(
        model,
        budget_of(request, model, progress),
        ranker,
        scorer,
        Rounds(request.chosen_rounds, refit, scoring.table),
        request.language,
    )
    return pruned, rankers[-1], refit.reports[-1] if refit else None
