"""Prepare a run: find or make the starting model and its gates, and shrink it if possible."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from ..corpora.batching import Batching
from ..corpora.corpus import open_corpus
from ..corpora.text_sources import TextSource
from ..errors import ConfigError
from ..loading.hub import find, load_tokenizer, longest_input
from ..model.files.gates_file import SHARED
from ..model.history import add_pruning
from ..model.network.components import sizes
from ..model.network.modeling_polyprune import PolyprunePreTrainedModel
from ..model.network.source import prompt_of
from ..model.surgery.shrink import drop_layers
from ..progress import Progress
from ..pruning.criteria.scores_file import ScoreSheet
from ..pruning.criteria.scoring import Scoring, default_loss, prepare, score
from ..pruning.cut import shrink_with_history
from ..pruning.gates.dynamic import TENTHS, boundaries
from ..pruning.gates.elastic import Elastic, load
from ..pruning.gates.gatings import DynamicGating, FixedGating, LearnedGating
from ..pruning.prune import Budget, Method, choose
from ..pruning.selection.ranking import ComponentWeights
from ..pruning.write import describe_selection
from ..storage import atomic_folder
from .distillation import layers_to_keep
from .fresh_model import write_fresh_model
from .run_config import GatingConfig, Run, StartConfig
from .run_paths import RunPaths


def starting_folder(run: Run, places: RunPaths, sources: dict[str, TextSource]) -> Path:
    """Return the folder of the dense starting model; write it first if it is a fresh one."""
    if run.model.start != "fresh":
        return find(run.model.start)
    if not (places.start / "config.json").is_file():
        with atomic_folder(places.start) as folder:
            write_fresh_model(run.model.fresh, sources, folder, run.seed)
    return places.start


def tokenizer_of(folder: Path, model: PolyprunePreTrainedModel) -> Any:
    """Load the tokenizer in a model's folder; raise if it does not fit the model."""
    tokenizer = load_tokenizer(folder)
    if tokenizer is None:
        raise ConfigError(f"There is no tokenizer in {folder}, so that text cannot be read.")
    # A table may be rounded up, but not by more than this.
    if not 0.9 * model.shape.vocab_size <= len(tokenizer) <= model.shape.vocab_size:
        raise ConfigError(
            f"The tokenizer in {folder} knows {len(tokenizer):,} words, the model "
            f"{model.shape.vocab_size:,}: they do not belong together."
        )
    if model.config.padded_positions and tokenizer.pad_token_id != model.config.pad_token_id:
        raise ConfigError(
            f"The tokenizer in {folder} pads with token {tokenizer.pad_token_id}, the model with "
            f"{model.config.pad_token_id}: they do not belong together."
        )
    return tokenizer


def prepare_model(
    run: Run, places: RunPaths, folder: Path, languages: Sequence[str], progress: Progress
) -> None:
    """Write the model to train, with its gates; shrunk already if they are fixed and shared."""
    if (places.prepared / "config.json").is_file():
        return
    model = load(folder, dtype=torch.float32)  # what is trained has to be precise
    if model.elastic is not None:
        raise ConfigError(
            f"{folder} has gates already. Take a model out of it first: polyprune shrink {folder}."
        )
    tokenizer = tokenizer_of(folder, model)
    check_length(run, model)
    model = _changed(model, run.model)
    plan = run.gating
    if plan.kind != "none":
        model = prepare(model, plan.table)
        sheet = None
        if plan.kind != "l0":
            sheet = _scores(run, places, model, tokenizer, languages, progress)
        if plan.cut_first:
            gates = choose(model, _method(plan), _budget(plan), sheet)
            model = shrink_with_history(
                model, gates, describe_selection(_method(plan), sheet, languages)
            )
        else:
            model.elastic = make_gating(plan, model, languages, sheet, run.seed)
            if sheet is not None:
                add_pruning(model.config, describe_selection(_method(plan), sheet, languages))
    model.config.name_or_path = str(folder)
    with atomic_folder(places.prepared) as new:
        model.save_pretrained(new)


def check_length(run: Run, model: PolyprunePreTrainedModel) -> None:
    """Raise if a model has fewer positions than an example has tokens."""
    if run.corpus.block > longest_input(model):
        raise ConfigError(
            f"corpus.block is {run.corpus.block}, but this model has positions for "
            f"{longest_input(model)}."
        )


def make_gating(
    plan: GatingConfig,
    model: PolyprunePreTrainedModel,
    languages: Sequence[str],
    sheet: ScoreSheet | None,
    seed: int = 0,
) -> Elastic:
    """Make the gates that a config asks for: one row per language, or one for all."""
    rows = tuple(languages) if plan.setting == "non-shared" else (SHARED,)
    weights = ComponentWeights.of(model.shape)
    if plan.kind == "l0":
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return Elastic(
                LearnedGating(sizes(model.shape), len(rows), spread=plan.init_std), rows, weights
            )
    if plan.kind == "gradient":
        return Elastic(
            FixedGating(choose(model, _method(plan), _budget(plan), sheet)), rows, weights
        )
    scores = _method(plan).rank(model, sheet, weights)
    # Gates that are trained open gradually, within half a step of the grid: more, and those of the
    # next size would be open half of the time already. Frozen ones keep the finest boundaries, so
    # that any size can be taken out later.
    grid, least = (TENTHS, TENTHS[1] / 2) if plan.learned else (None, 0.0)
    boundary, share = boundaries(scores, weights, grid, plan.minimum)
    gating = DynamicGating(boundary, share, learned=plan.learned, least_share=least)
    return Elastic(gating, rows, weights)


def _method(plan: GatingConfig) -> Method:
    return Method("gradient", plan.rule, plan.setting)


def _budget(plan: GatingConfig) -> Budget:
    return Budget(sparsity=plan.sparsity, minimum=plan.minimum)


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
    if start.dropout is not None:
        for name in ("hidden", "attention_probs", "attention_output", "feed_forward_output"):
            setattr(model.config, f"{name}_dropout_prob", start.dropout)
    return model


def _scores(
    run: Run,
    places: RunPaths,
    model: PolyprunePreTrainedModel,
    tokenizer: Any,
    languages: Sequence[str],
    progress: Progress,
) -> ScoreSheet:
    corpus = open_corpus(places.held_out)
    missing = [code for code in languages if code not in corpus.files]
    if missing:
        raise ConfigError(
            f"There is no held-out text to score {', '.join(missing)} with: their files are too "
            "small. Leave them out of corpus.languages, or add <lang>.dev.txt."
        )
    longest = min(run.corpus.block, 128)
    prefix = prompt_of(model.config.name_or_path) if default_loss(model) == "contrastive" else ""
    batching = Batching(tokenizer, min(run.batch.micro_batch_size, 16), longest, prefix)
    scoring = Scoring(
        sentences=run.gating.sentences, table="as it is", seed=run.seed, device="auto"
    )
    return score(model, batching, corpus, languages, scoring, progress)
