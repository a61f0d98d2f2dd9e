"""`polyprune.prune`: score, select, cut, and train on if that is wanted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from ..loading.reading import probes_for
from ..measuring.speed_target import MeasuredSelection
from ..model.files.fingerprint import fingerprint
from ..model.files.gates_file import save_gates
from ..model.history import add_pruning, history_of, write_history
from ..model.network.components import open_gates
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.surgery.certify import certify
from ..progress import Progress
from ..pruning.criteria.scores_file import ScoreSheet, load_scores
from ..pruning.criteria.scoring import Scoring
from ..pruning.prune import (
    Pruned,
    apply_selection,
    check_finite,
    describe_selection,
    elastic_gates,
    select,
)
from ..pruning.ranker import Ranker
from ..pruning.second_order.compensation import compensation_of
from ..pruning.selection.budgets import Sparsity
from ..pruning.selection.selection import Selection
from ..pruning.shrinking import with_ranks
from ..storage import refuse_to_overwrite
from .inputs import ModelLike, bundled_text, check_text, model_name, resolve_model
from .prune_fidelity import compare_pruned, lines_read
from .prune_result import PruneResult
from .prune_rounds import ordered_in_rounds, pruned_in_rounds
from .recover import recovered
from .requests.prune import PruneRequest
from .requests.recover import RecoverRequest
from .score import ScoreResult, take_scores
from .selecting import budget_of
from .verb import verb


@verb(PruneRequest)
def prune(model: ModelLike, request: PruneRequest, progress: Progress) -> PruneResult:
    """Prune a model to a sparsity, a size or a speed.

    With `setting="non-shared"`, every language gets a subnetwork of its own: all of them, in every
    size, are in one elastic model, from which `model.at(sparsity=0.5, language="sw")` takes what is
    wanted. Parameters, size and speed may be asked for together. Speed is that of this machine:
    what layers of every width take is measured once, and the result is measured too.
    """
    _refuse_to_overwrite(request)  # before anything is loaded, not only when it is written
    ranker = Ranker.named(request.method, request.chosen_rule, request.setting, request.seed)
    request = _with_text(model, request, ranker, progress)
    original, repair = resolve_model(model), None
    if request.every_size:
        return _prune_to_every_size(original, ranker, request, progress)
    text = request.corpus is not None and request.scores is None
    if text and (request.in_rounds or ranker.criterion.needs_curves):
        check_finite(original)
        scoring = _scoring(request, ranker)
        pruned, ranker, repair = pruned_in_rounds(original, ranker, scoring, request, progress)
        selection = pruned.selection
    else:
        ranker, uncut = _ranked(original, ranker, request, progress)
        selection = select(original, budget_of(request, original, progress), ranker)
        pruned = apply_selection(
            original,
            selection,
            ranker,
            language=request.language,
            repair=compensation_of(ranker),
            uncut=uncut,
        )
    result = replace(_certified(pruned, ranker, request), original=original, repair=repair)
    if isinstance(selection, MeasuredSelection):
        result = replace(result, speed=selection)
    if request.recover is not None:
        result = _recovered(result, (original, model_name(model)), request, progress)
    else:
        result = compare_pruned(result, request, progress)
    return _written(result, selection, request)


def _refuse_to_overwrite(request: PruneRequest) -> None:
    """Raise if something lies where the model or its gates are to be."""
    if request.out is not None:
        refuse_to_overwrite(Path(request.out), force=request.force)
    if request.gates is not None:
        refuse_to_overwrite(Path(request.gates), force=request.force, kind="file")


def _with_text(
    model: ModelLike, request: PruneRequest, ranker: Ranker, progress: Progress
) -> PruneRequest:
    """Return the request with the text that a bundled model is scored on where none is given."""
    if request.corpus is None and request.scores is None and ranker.criterion.needs_text:
        text = bundled_text(model)
        if text is not None:
            progress.message("Without a corpus, this reads the bundled sample text.")
            request = replace(request, corpus=text)
    if request.corpus is not None and request.recover is None:
        check_text(request.corpus, request.languages)
    unused = request.parallel is not None and request.loss is None and request.recover is None
    if unused and ranker.criterion.needs_curves:
        progress.message(
            "Translations are for the contrastive loss: none are needed here, and none are used."
        )
    if request.corpus is None and (request.loss or request.parallel or request.table):
        raise ConfigError("`loss`, `parallel` and `table` are for scoring: they need `corpus`.")
    if request.corpus is None and request.recover is not None:
        raise ConfigError("`recover` trains on text: give `corpus`, with a folder of it.")
    return request


def _ranked(
    model: PolyprunePreTrainedModel, ranker: Ranker, request: PruneRequest, progress: Progress
) -> tuple[Ranker, PolyprunePreTrainedModel | None]:
    """Return the ranker on the scores of a request, and the model that was scored just now."""
    if not ranker.criterion.needs_text:
        return ranker, None
    if request.scores is not None:
        sheet, name = _given_scores(request.scores)
        sheet.check(fingerprint(model), model.shape, name)
        if request.languages is not None:
            sheet = sheet.only(list(request.languages))
        if ranker.criterion.needs_curves and sheet.covariances is None and not request.every_size:
            progress.message(
                "These scores have no covariances of all their languages: what is left does not "
                "make up for what goes. Score with `covariances`, or prune with `corpus`."
            )
        return ranker.on(sheet), None
    if request.corpus is None:
        return ranker, None
    scoring = _scoring(request, ranker)
    uncut = with_ranks(model, scoring.table)
    return ranker.on(take_scores(model, request, scoring, progress, uncut)), uncut


def _scoring(request: PruneRequest, ranker: Ranker) -> Scoring:
    """How a request scores components for a ranker."""
    curves = ranker.criterion.needs_curves
    # Translations are for contrasts between sentences; curves are about embeddings, unless asked.
    parallel = None if curves and request.loss is None else request.parallel
    return Scoring(
        sentences=request.chosen_sentences,
        loss=request.loss,
        per=ranker.criterion.per or "example",
        parallel=parallel,
        table=request.table or "spectral",
        seed=request.seed,
        device=request.device,
        curves=curves,
        own_curves=ranker.setting.per_language,
        curves_by_language=request.worst or request.every_size,
    )


def _given_scores(scores: Any) -> tuple[ScoreSheet, str]:
    """Return scores given as a file, a result of `polyprune.score` or a sheet, and their name."""
    if isinstance(scores, ScoreResult):
        return scores.sheet, "This result"
    if isinstance(scores, ScoreSheet):
        return scores, "This sheet"
    return load_scores(Path(scores)), str(scores)


def _certified(pruned: Pruned, ranker: Ranker, request: PruneRequest) -> PruneResult:
    """Return the result for a smaller model, compared with the gated one in every language."""
    history = history_of(pruned.model.config)
    *before, last = history.cuts
    last = replace(last, command=request.command)
    write_history(pruned.model.config, replace(history, cuts=(*before, last)))
    probes = probes_for(pruned.uncut, pruned.languages or None)
    gates = pruned.selection.gates
    return PruneResult(
        model=pruned.model,
        ranker=ranker,
        audits=pruned.selection.audits,
        differences=certify(pruned.uncut, gates, pruned.model, probes),
        gates=gates,
        languages=pruned.languages,
        fairness=pruned.selection.only.fairness,
        binds=pruned.selection.only.binds,
    )


def _recovered(
    result: PruneResult,
    teacher: tuple[PolyprunePreTrainedModel, str],
    request: PruneRequest,
    progress: Progress,
) -> PruneResult:
    """Train the pruned model on, in memory, and write it once."""
    assert request.recover is not None
    assert request.corpus is not None
    wanted = RecoverRequest(
        steps=request.recover,
        minutes=request.minutes,
        out=request.out,
        languages=request.languages,
        parallel=request.parallel,
        prefix=request.prefix,
        tokens=request.tokens,
        compare=request.compare,
        seed=request.seed,
        force=request.force,
    )
    read = lines_read(result, request)
    recovery = recovered(result.model, teacher, request.corpus, wanted, progress, read)
    return replace(
        result,
        model=recovery.model,
        recovery=recovery,
        fidelity=recovery.fidelity,
        out=recovery.out,
    )


def _prune_to_every_size(
    model: PolyprunePreTrainedModel,
    ranker: Ranker,
    request: PruneRequest,
    progress: Progress,
) -> PruneResult:
    """Return dense weights with gates for every size; a sparsity only says which one to report."""
    uncut = None
    if request.corpus is not None and request.in_rounds:
        scoring = _scoring(request, ranker)
        ranker = ordered_in_rounds(model, ranker, scoring, request, progress)
    else:
        ranker, uncut = _ranked(model, ranker, request, progress)
    check_finite(model)
    uncut = with_ranks(model, ranker.table) if uncut is None else uncut
    sizes, languages = elastic_gates(uncut, ranker), ranker.languages
    selection = None
    if request.sparsity is not None:
        selection = Sparsity(float(request.sparsity)).select(model, ranker)
    probes = probes_for(model, languages or None)
    differences = certify(model, open_gates(model.shape), uncut, probes)
    elastic = uncut.sharing_weights()
    elastic.elastic = sizes
    step = describe_selection(ranker, languages, request.command)
    add_pruning(elastic.config, replace(step, rounds=request.chosen_rounds))
    result = PruneResult(
        model=elastic,
        ranker=ranker,
        audits={} if selection is None else selection.audits,
        differences=differences,
        gates=None if selection is None else selection.gates,
        languages=languages or ranker.rows,
    )
    return _written(result, selection, request)


def _written(
    result: PruneResult, selection: Selection | None, request: PruneRequest
) -> PruneResult:
    """Return the result once its model and its gates are where the request wants them."""
    if request.out is not None and result.out is None:
        result = replace(result, out=result.save(request.out, force=request.force))
    if request.gates is not None and selection is not None:
        path, table = Path(request.gates), result.ranker.table
        save_gates(path, selection.gates, selection.names, table=table, force=request.force)
    return result
