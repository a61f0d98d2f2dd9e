"""Rounds: cut a little, let the rest make up for it, score what is left anew, and go on.

What a component is worth changes when others go. A ranking that was made once knows nothing of
that; rounds do. Words are left alone until the last one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..memory import give_back_memory
from ..model.history import history_of, write_history
from ..model.network.components import Gates, open_gates
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import Progress
from .criteria.scores_file import ScoreSheet
from .criteria.scoring import Scoring, ScoringText, score
from .prune import Pruned, apply_selection, select
from .ranker import Ranker
from .repair import put_back
from .second_order.compensation import compensation_of
from .second_order.refit import Refit
from .selection.audit import Audit, audit
from .selection.budgets import Budget, Sparsity
from .selection.ranking import ComponentWeights, counts_of, density_of
from .selection.selection import SelectedRow, Selection
from .shrinking import with_ranks

LEAST = 0.1
"""The least share of the heads and units of a model that a round leaves, if it is not the last."""

Scorer = Callable[[PolyprunePreTrainedModel, int, PolyprunePreTrainedModel], ScoreSheet]
"""The scores of a model, on the sentences of a round, counted from 0; and the model with ranks."""


class RoundScores:
    """Scores of round after round on one text, each on other sentences."""

    def __init__(self, text: ScoringText, scoring: Scoring, rounds: int, progress: Progress):
        self.text, self.scoring, self.rounds, self.progress = text, scoring, rounds, progress
        self.last: ScoreSheet | None = None
        """Those of the last round so far, without covariances."""

    def __call__(
        self, current: PolyprunePreTrainedModel, number: int, split: PolyprunePreTrainedModel
    ) -> ScoreSheet:
        """Score a model, on the sentences of a round."""
        own = replace(self.scoring, skip=number * self.scoring.sentences)
        with self.progress.stage(f"Round {number + 1} of {self.rounds}"):
            found = score(current, self.text, own, self.progress, split)
        self.last = replace(found, covariances=None)  # which take as much room as a model
        give_back_memory()
        return found


@dataclass(frozen=True, slots=True)
class Rounds:
    """How often to score and cut, each time to the same share, and what refits the last cut."""

    number: int = 1
    refit: Refit | None = None
    table: str = "spectral"
    """How a plain word table is split before the last round, in which ranks may go."""
    frequencies: Tensor | None = None
    """What the error of each word weighs, where that is `weighted`."""


def prune_in_rounds(
    model: PolyprunePreTrainedModel,
    budget: Budget,
    ranker: Ranker,
    scorer: Scorer,
    rounds: Rounds,
    language: str | None = None,
) -> Pruned:
    """Prune to a budget in several cuts: one subnetwork, for all languages or for one."""
    current, gates = model, open_gates(model.shape)
    weights, budget = ComponentWeights.of(model.shape), budget.begun(model)
    asked: Audit | None = None  # what the budget would leave if all were cut at once
    for number in range(rounds.number - 1):
        ranked = ranker.on(scorer(current, number, current))
        asked = asked or _row(budget.estimate(current, ranked), language).audit
        density = float(density_of(gates, weights))
        left = density * (asked.density / density) ** (1 / (rounds.number - number))
        words = float(density_of(replace(gates.map(torch.zeros_like), rank=gates.rank), weights))
        left = max(left, words + LEAST * (density - words))  # words stay until the last round
        part = _part_of(budget, current, 1 - left / density, weights)
        pruned = _cut(current, part, ranked, language, current)
        current, gates = pruned.model, compose(gates, pruned.selection.gates)
        del ranked, pruned  # covariances and a second model: no room for them in the next round
        # The same words, and the largest of all tensors: one is enough until ranks go.
        current.encoder.embedding.words.weight = model.encoder.embedding.words.weight
    split = with_ranks(current, rounds.table, rounds.frequencies)
    ranked = ranker.on(scorer(current, rounds.number - 1, split))
    rest = budget.within(float(density_of(gates, weights)))
    last = _cut(current, rest, ranked, language, split)
    del ranked
    if rounds.refit is not None:
        rounds.refit.solve(last.model)
    gates = compose(gates, last.selection.gates)
    _write_one_cut(model, last, rounds, 1 - float(density_of(gates, weights)))
    whole = split if current is model else _with_words_of(split, model)
    return replace(
        last,
        uncut=put_back(whole, last.model, gates),
        selection=_of_the_whole(model, gates, last.selection, asked or last.selection.only.audit),
    )


def compose(first: Gates, then: Gates) -> Gates:
    """One row of gates for two cuts: `then` has gates for what `first` keeps."""

    def both(outer: torch.Tensor, inner: torch.Tensor) -> torch.Tensor:
        gate = outer.clone()
        gate[0, outer[0] > 0] = inner[0].to(gate)
        return gate

    return first.map(both, then)


def _with_words_of(
    split: PolyprunePreTrainedModel, model: PolyprunePreTrainedModel
) -> PolyprunePreTrainedModel:
    """A model whose word table is split as that of a smaller one, which has the same words."""
    if split.shape.factorized == model.shape.factorized:
        return model
    state = split.state_dict()
    words = {f"encoder.embedding.{part}.weight" for part in ("words", "project")}
    both = model.state_dict() | {name: state[name] for name in words}
    return model.rebuilt(replace(model.shape, factorized=True), both)


def _cut(
    model: PolyprunePreTrainedModel,
    budget: Budget,
    ranker: Ranker,
    language: str | None,
    split: PolyprunePreTrainedModel,
) -> Pruned:
    """Cut once: what is left makes up for what goes, if it is known how."""
    make_up = compensation_of(ranker)
    selection = select(model, budget, ranker)
    return apply_selection(model, selection, ranker, language=language, repair=make_up, uncut=split)


def _write_one_cut(
    model: PolyprunePreTrainedModel, last: Pruned, rounds: Rounds, sparsity: float
) -> None:
    """One step in the history for all rounds."""
    earlier, history = history_of(model.config), history_of(last.model.config)
    step = history.cuts[-1]
    refitted = rounds.refit is not None and rounds.refit.helped
    ways = [way for way in (step.made_up, "refit" if refitted else "") if way]
    step = replace(step, sparsity=sparsity, rounds=rounds.number, made_up=" and ".join(ways))
    write_history(last.model.config, replace(history, cuts=(*earlier.cuts, step)))


def _of_the_whole(
    model: PolyprunePreTrainedModel, gates: Gates, last: Selection, asked: Audit
) -> Selection:
    """The selection of the last cut as one of the model that nothing was cut from."""
    sizes = audit(
        model, gates, sparsity=asked.requested_sparsity, parameters=asked.requested_parameters
    )
    return replace(last, gates=gates, rows=(replace(last.only, audit=sizes),))


def _row(selection: Selection, language: str | None) -> SelectedRow:
    return (selection if language is None else selection.row(language)).only


def _part_of(
    budget: Budget, model: PolyprunePreTrainedModel, sparsity: float, weights: ComponentWeights
) -> Sparsity:
    """So much of what a budget takes away, but no words, and nothing that has to stay."""
    worst = isinstance(budget, Sparsity) and budget.worst
    least = replace(budget.least(model.shape), rank=model.shape.rank)
    forced = least.forced(open_gates(model.shape))
    counts = counts_of(open_gates(model.shape))
    cost = torch.cat(weights.spread(counts).leaves())
    floor = (float((forced[0] * cost).sum()) + 1) / weights.total(counts)
    return Sparsity(max(0.0, min(sparsity, 1 - floor)), worst=worst, minimum=least)
