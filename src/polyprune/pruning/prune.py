"""Criterion × budget × setting × repair on a loaded model; nothing is written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import CheckpointError, ConfigError
from ..model.history import PruningStep
from ..model.network.gated_model import PolyprunePreTrainedModel
from .gates.dynamic import boundaries
from .gates.dynamic_gating import DynamicGating
from .gates.elastic import Elastic
from .ranker import Ranker
from .repair import NO_REPAIR, Repair, put_back
from .selection.budgets import Budget
from .selection.ranking import ComponentWeights, Minimum
from .selection.selection import Selection
from .shrinking import shrink_with_history, with_ranks


@dataclass(frozen=True, slots=True)
class Pruned:
    """A smaller model, and what it was made of."""

    model: PolyprunePreTrainedModel
    uncut: PolyprunePreTrainedModel
    """The model that was cut, its word table split where ranks were scored."""
    selection: Selection
    """What the model keeps: a selection of one row."""
    languages: tuple[str, ...]
    """The languages that it is for; none where it was ranked without text."""


def prune_model(
    model: PolyprunePreTrainedModel,
    budget: Budget,
    ranker: Ranker,
    *,
    language: str | None = None,
    repair: Repair = NO_REPAIR,
    uncut: PolyprunePreTrainedModel | None = None,
) -> Pruned:
    """Rank, select, shrink, repair: the smaller model and what was selected.

    Args:
        model: As it was loaded, and scored.
        budget: How much may stay.
        ranker: The criterion, the setting, and the scores of this model.
        language: Whose row of gates to cut by, where every language has its own.
        repair: How the weights that are left make up for the others.
        uncut: `with_ranks(model, ranker.table)`, where that is at hand: splitting a large word
            table takes a while.
    """
    selection = select(model, budget, ranker)
    return apply_selection(model, selection, ranker, language=language, repair=repair, uncut=uncut)


def select(model: PolyprunePreTrainedModel, budget: Budget, ranker: Ranker) -> Selection:
    """What stays of a model, once its weights are known to be numbers."""
    check_finite(model)
    return budget.select(model, ranker)


def apply_selection(
    model: PolyprunePreTrainedModel,
    selection: Selection,
    ranker: Ranker,
    *,
    language: str | None = None,
    repair: Repair = NO_REPAIR,
    uncut: PolyprunePreTrainedModel | None = None,
) -> Pruned:
    """Shrink and repair: what `prune_model` does once it is known what stays."""
    row = selection if language is None else selection.row(language)
    name = row.only.name
    languages = (name,) if ranker.setting.per_language else ranker.languages
    uncut = with_ranks(model, ranker.table) if uncut is None else uncut
    try:
        step = replace(describe_selection(ranker, languages), made_up=repair.name)
        small = shrink_with_history(uncut, row.gates, step)
    except ValueError as error:
        raise ConfigError(f"These gates cannot be cut: {error}") from error
    if repair is not NO_REPAIR:
        small = repair.apply(small, uncut, row)
        uncut = put_back(uncut, small, row.gates)
    return Pruned(small, uncut, row, languages)


def elastic_gates(model: PolyprunePreTrainedModel, ranker: Ranker) -> Elastic:
    """The gates of a ranking for every size at once (Eqs. 14–16); see `DynamicGating`."""
    weights = ComponentWeights.of(model.shape)
    start = boundaries(ranker.rank(model, weights), weights, minimum=Minimum(rank=1))
    return Elastic(DynamicGating(*start), ranker.rows, weights)


def describe_selection(
    ranker: Ranker, languages: Sequence[str] = (), command: str = ""
) -> PruningStep:
    """How gates were selected, for the history; of the text its name, not where it lies."""
    criterion = ranker.criterion
    about = ranker.sheet.about if criterion.needs_text and ranker.sheet is not None else None
    return PruningStep(
        method=criterion.method,
        rule=criterion.rule,
        setting=ranker.setting.name,
        languages=tuple(languages),
        loss="" if about is None else about.loss,
        corpus="" if about is None else Path(about.corpus).name,
        sentences=(min(about.examples), max(about.examples)) if about and about.examples else None,
        command=command,
    )


def check_finite(model: PolyprunePreTrainedModel) -> None:
    """Raise if a weight of the model is not a number."""
    for name, weight in model.named_parameters():
        # The least and the largest are no numbers where any is none, and need no copy of a table.
        if weight.numel() and not all(each.isfinite() for each in weight.aminmax()):
            raise CheckpointError(
                f"{name} holds what is not a number. Copy or make the model again."
            )
