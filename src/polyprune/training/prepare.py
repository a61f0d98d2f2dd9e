"""Prepare a run: find or make the starting model and its gates, and shrink it if possible."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import torch

from ..corpora.corpus import open_corpus
from ..corpora.text_sources import TextSource
from ..errors import ConfigError
from ..loading.finding import find
from ..loading.hub import load
from ..loading.reading import Reading, fitting_tokenizer, scoring_text
from ..model.history import add_pruning
from ..model.network.components import sizes
from ..model.network.configuration_polyprune import PolypruneConfig
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.surgery.drop_layers import drop_layers
from ..progress import Progress
from ..pruning.amounts import rounds_for
from ..pruning.criteria.scores_file import ScoreSheet
from ..pruning.criteria.scoring import Scoring, ScoringText, score
from ..pruning.criteria.word_frequencies import frequencies_for
from ..pruning.gates.dynamic import boundaries
from ..pruning.gates.dynamic_gating import DynamicGating
from ..pruning.gates.elastic import Elastic
from ..pruning.gates.gating import Gating
from ..pruning.gates.gatings import FixedGating, LearnedGating
from ..pruning.prune import describe_selection, prune_model
from ..pruning.ranker import Ranker
from ..pruning.rounds import Rounds, RoundScores, prune_in_rounds
from ..pruning.second_order.refit_text import chosen_refit
from ..pruning.selection.budgets import Sparsity
from ..pruning.selection.ranking import ComponentWeights
from ..pruning.setting import SHARED_SETTING, setting_named
from ..pruning.shrinking import with_ranks
from ..storage import atomic_folder
from .distillation import layers_to_keep
from .fresh_model import write_fresh_model
from .gating_config import GatingConfig
from .run_config import Run, check_length
from .run_paths import RunPaths
from .run_sections import StartConfig

SOFT_SHARE = 0.3
"""Over how much of the size a trained dynamic gate opens at first: three bins of App. D.

Less, and what lies far from its place gets no gradient; more, and noise hides what it is worth.
"""


def starting_folder(run: Run, paths: RunPaths, sources: dict[str, TextSource]) -> Path:
    """Return the folder of the dense starting model; write it first if it is a fresh one."""
    if run.model.start != "fresh":
        return find(run.model.start)
    if not (paths.start / "config.json").is_file():
        with atomic_folder(paths.start) as folder:
            write_fresh_model(run.model.fresh, sources, folder, run.seed)
    return paths.start


def prepare_model(
    run: Run, paths: RunPaths, folder: Path, languages: Sequence[str], progress: Progress
) -> None:
    """Write the model to train, with its gates; shrunk already if they are fixed and shared."""
    if (paths.prepared / "config.json").is_file():
        return
    model = load(folder, dtype=torch.float32)  # what is trained has to be precise
    if model.elastic is not None:
        raise ConfigError(
            f"{folder} has gates already. Take a model out of it first: polyprune shrink {folder}."
        )
    fitting_tokenizer(model, strict=True)
    if run.phases:  # what is only scored is as long as the model can read
        check_length(run, model)
    model = _changed(model, run.model)
    plan = run.gating
    if plan.any:
        ranker = _ranker(plan, languages, run.seed)
        scored = _ScoredText(run, paths, languages, progress)
        if plan.cut_first:
            model = _cut(model, ranker, scored)
        else:
            model = with_ranks(model, plan.table)
            if plan.ranked and ranker.criterion.needs_text:
                ranker = ranker.on(scored.score(model, ranker))
            model.elastic = make_gating(plan, model, languages, ranker, run.seed)
            if plan.ranked:
                add_pruning(model.config, describe_selection(ranker, languages))
    with atomic_folder(paths.prepared) as new:
        model.save_pretrained(new)


def prepare_in_memory(run: Run, model: PolyprunePreTrainedModel) -> PolyprunePreTrainedModel:
    """Return a copy of a model in memory that is ready to train."""
    if model.elastic is not None or run.gating.kind != "none":
        raise ConfigError("A model in memory is trained as it is, without gates.")
    check_length(run, model)
    config = deepcopy(model.config)
    _set_dropout(config, run.model.dropout)
    state = {name: tensor.detach().float().clone() for name, tensor in model.state_dict().items()}
    return model.assemble(config, state, model.source)


def make_gating(
    plan: GatingConfig,
    model: PolyprunePreTrainedModel,
    languages: Sequence[str],
    ranker: Ranker,
    seed: int = 0,
) -> Elastic:
    """Make the gates that a config asks for: one row per language, or one for all."""
    rows = setting_named(plan.setting).rows(languages)
    gating = _MAKERS[plan.kind](plan, model, ranker, len(rows), seed)
    return Elastic(gating, rows, ComponentWeights.of(model.shape))


def _ranker(plan: GatingConfig, languages: Sequence[str], seed: int) -> Ranker:
    """What ranks components; chance, which knows no languages, gives each a row by itself."""
    if not plan.ranked:
        return Ranker()
    setting = setting_named(plan.setting)
    criterion = plan.criterion(seed, len(setting.rows(languages)))
    return Ranker(criterion, setting if criterion.needs_text else SHARED_SETTING)


def _cut(
    model: PolyprunePreTrainedModel, ranker: Ranker, scored: "_ScoredText"
) -> PolyprunePreTrainedModel:
    """The model cut to its size, as `polyprune prune` does: in rounds and repaired where it pays.

    Without text, words are split as for all other rules, so that these can be compared.
    """
    plan, criterion = scored.run.gating, ranker.criterion
    if not criterion.needs_text:
        return prune_model(with_ranks(model, plan.table), _budget(plan), ranker).model
    number = plan.rounds or (rounds_for(plan.sparsity) if criterion.needs_curves else 1)
    text, scoring = scored.text(model), scored.scoring(ranker, plan.table)
    refit = chosen_refit(text, model, scoring, plan.sparsity, plan.repair, scored.progress)
    scores = RoundScores(text, scoring, number, scored.progress)
    rounds = Rounds(number, refit, plan.table, frequencies_for(model, text, plan.table))
    return prune_in_rounds(model, _budget(plan), ranker, scores, rounds).model


def _fixed(plan: GatingConfig, model: PolyprunePreTrainedModel, ranker: Ranker, *_: int) -> Gating:
    return FixedGating(_budget(plan).select(model, ranker).gates)


def _learned(
    plan: GatingConfig, model: PolyprunePreTrainedModel, _: Ranker, rows: int, seed: int
) -> Gating:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return LearnedGating(
            sizes(model.shape), rows, plan.distribution, plan.init_std, plan.init_mean
        )


def _dynamic(
    plan: GatingConfig, model: PolyprunePreTrainedModel, ranker: Ranker, *_: int
) -> Gating:
    width = SOFT_SHARE if plan.learned else 0.0
    scores = ranker.rank(model, weights := ComponentWeights.of(model.shape))
    start = boundaries(scores, weights, minimum=plan.minimum)
    return DynamicGating(*start, plan.distribution, plan.learned, width)


_MAKERS = {"fixed": _fixed, "learned": _learned, "dynamic": _dynamic}


def _budget(plan: GatingConfig) -> Sparsity:
    return Sparsity(plan.sparsity, minimum=plan.minimum)


def _changed(model: PolyprunePreTrainedModel, start: StartConfig) -> PolyprunePreTrainedModel:
    """Return the model with fewer layers or another dropout, if the run asks for it."""
    if start.layers is not None:
        layers = start.layers
        if isinstance(layers, int):
            layers = layers_to_keep(model.shape.layers, layers)
        try:
            model = drop_layers(model, layers)
        except ValueError as error:
            raise ConfigError(f"model.layers: {error}") from error
    _set_dropout(model.config, start.dropout)
    return model


def _set_dropout(config: PolypruneConfig, dropout: float | None) -> None:
    """Set the dropout of hidden states and attention, if it is given."""
    if dropout is not None:
        for name in ("hidden", "attention_probs", "attention_output", "feed_forward_output"):
            setattr(config, f"{name}_dropout_prob", dropout)


@dataclass(frozen=True, slots=True)
class _ScoredText:
    """The held-out text of a run, and how components are scored on it."""

    run: Run
    paths: RunPaths
    languages: Sequence[str]
    progress: Progress

    def score(self, model: PolyprunePreTrainedModel, ranker: Ranker) -> ScoreSheet:
        """Scores of a model that has its ranks."""
        return score(model, self.text(model), self.scoring(ranker, "as it is"), self.progress)

    def scoring(self, ranker: Ranker, table: str) -> Scoring:
        """How components are scored for a ranker."""
        criterion, plan = ranker.criterion, self.run.gating
        return Scoring(
            sentences=plan.sentences,
            per=criterion.per or "example",
            table=table,
            seed=self.run.seed,
            device="auto",
            curves=criterion.needs_curves,
            own_curves=ranker.setting.per_language,
            curves_by_language=not plan.cut_first,
        )

    def text(self, model: PolyprunePreTrainedModel) -> ScoringText:
        """The held-out text in batches; raise if a language has none."""
        run, corpus = self.run, open_corpus(self.paths.held_out)
        missing = [code for code in self.languages if code not in corpus.files]
        if missing:
            raise ConfigError(
                f"There is no held-out text to score {', '.join(missing)} with: their files are "
                "too small. Leave them out of corpus.languages, or add <lang>.dev.txt."
            )
        reading = Reading(min(run.batch.micro_batch_size, 16), min(run.corpus.block, 128))
        return scoring_text(model, corpus, self.languages, reading=reading)
