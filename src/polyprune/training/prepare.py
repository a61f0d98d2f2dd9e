"""Before the first step: text held out, a model to start from, its gates, cut where they can be."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from ..corpora.batches import Batching
from ..corpora.corpus import open_corpus
from ..corpora.sources import Source
from ..errors import ConfigError
from ..model.components import sizes
from ..model.gates_file import SHARED
from ..model.hub import find, load_tokenizer, longest_of
from ..model.modeling_polyprune import PolyprunePreTrainedModel
from ..model.sentences import prompt_of
from ..model.shrink import drop_layers
from ..model.story import add_cut
from ..pruning.budget import ComponentWeights
from ..pruning.cut import shrunk
from ..pruning.dynamic import TENTHS, boundaries
from ..pruning.elastic import Elastic, load
from ..pruning.gating import DynamicGating, FixedGating, LearnedGating
from ..pruning.prune import Budget, Method, choose
from ..pruning.scores_file import ScoreSheet
from ..pruning.scoring import Scoring, default_loss, prepare, score
from ..pruning.write import told
from ..storage import whole_folder
from .distillation import layers_kept
from .fresh import make_fresh
from .places import Places
from .plan import GatingPlan, Run, Start


def starting_folder(run: Run, places: Places, sources: dict[str, Source]) -> Path:
    """The folder of the uncut model; made here if it is to be a fresh one."""
    if run.model.start != "fresh":
        return find(run.model.start)
    if not (places.start / "config.json").is_file():
        with whole_folder(places.start) as folder:
            make_fresh(run.model.fresh, sources, folder, run.seed)
    return places.start


def tokenizer_of(folder: Path, model: PolyprunePreTrainedModel) -> Any:
    """The tokenizer beside a model, which has to belong to it."""
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
    run: Run, places: Places, folder: Path, languages: Sequence[str], watch: Any
) -> None:
    """Write the model that is trained, with its gates; cut already if they are known and shared."""
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
            sheet = _scores(run, places, model, tokenizer, languages, watch)
        if plan.cut_first:
            gates = choose(model, _method(plan), _budget(plan), sheet)
            model = shrunk(model, gates, told(_method(plan), sheet, languages))
        else:
            model.elastic = make_gating(plan, model, languages, sheet, run.seed)
            if sheet is not None:
                add_cut(model.config, told(_method(plan), sheet, languages))
    model.config.name_or_path = str(folder)
    with whole_folder(places.prepared) as new:
        model.save_pretrained(new)


def check_length(run: Run, model: PolyprunePreTrainedModel) -> None:
    """Raise if a model has fewer positions than an example has tokens."""
    if run.corpus.block > longest_of(model):
        raise ConfigError(
            f"corpus.block is {run.corpus.block}, but this model has positions for "
            f"{longest_of(model)}."
        )


def make_gating(
    plan: GatingPlan,
    model: PolyprunePreTrainedModel,
    languages: Sequence[str],
    sheet: ScoreSheet | None,
    seed: int = 0,
) -> Elastic:
    """The gates of a plan, a row a language or one for all."""
    rows = tuple(languages) if plan.setting == "non-shared" else (SHARED,)
    weights = ComponentWeights.of(model.shape)
    if plan.kind == "l0":
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return Elastic(
                LearnedGating(sizes(model.shape), len(rows), spread=plan.spread), rows, weights
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
    boundary, share = boundaries(scores, weights, grid, plan.least)
    gating = DynamicGating(boundary, share, learned=plan.learned, least_share=least)
    return Elastic(gating, rows, weights)


def _method(plan: GatingPlan) -> Method:
    return Method("gradient", plan.rule, plan.setting)


def _budget(plan: GatingPlan) -> Budget:
    return Budget(sparsity=plan.sparsity, minimum=plan.least)


def _changed(model: PolyprunePreTrainedModel, start: Start) -> PolyprunePreTrainedModel:
    """With fewer layers and another dropout, where a run says so."""
    if start.layers is not None:
        layers = start.layers
        if isinstance(layers, int):
            layers = layers_kept(model.shape.layers, layers)
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
    places: Places,
    model: PolyprunePreTrainedModel,
    tokenizer: Any,
    languages: Sequence[str],
    watch: Any,
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
    batching = Batching(tokenizer, min(run.batch.at_once, 16), longest, prefix)
    wanted = Scoring(sentences=run.gating.sentences, table="as it is", seed=run.seed, device="auto")
    return score(model, batching, corpus, languages, wanted, watch)
