"""The tour, stage by stage."""

from itertools import chain

import torch
from torch import Tensor

import polyprune

from ..evaluation.quality import find_translations, guess_words
from ..loading.finding import find
from ..measuring.speed import compare_speed
from ..model.footprint import footprint_of, weight_bytes
from ..progress import Progress
from ..pruning.architecture import architecture_record
from .tour import StageTable, Tour, TourModel, by_language
from .tour_plan import ENGLISH

BATCH = 32
"""Examples in a step of recovery."""

MEASURED = (8, 32)
"""Sentences and tokens of the batch that speed is measured with."""


def score_components(tour: Tour, progress: Progress) -> StageTable:
    """How much every head, unit and rank matters, from the first lines of each language."""
    plan, folder = tour.plan, find(tour.plan.model)
    tour.original = polyprune.load(folder, dtype=torch.float32)
    tour.systems.append(TourModel("dense", 0.0, folder))
    tour.scores = polyprune.score(
        tour.original,
        corpus=tour.texts.folder,
        languages=tour.texts.codes,
        sentences=plan.sentences,
        parallel=None if plan.predicts_words else ENGLISH,
        progress=progress,
    )
    kinds = tour.scores.sheet.gradients.absolute
    rows = []
    for i, code in enumerate(tour.scores.languages):
        parts = [
            sum(float(each[i].sum()) for each in kind)
            for kind in (kinds.heads, kinds.units, (kinds.rank,))
        ]
        rows.append((code, *(f"{part / sum(parts):.0%}" for part in parts)))
    title = f"What matters to {plan.model}: importance by kind of component"
    return StageTable(title, ("language", "heads", "units", "rank"), tuple(rows))


def prune(tour: Tour, progress: Progress) -> StageTable:
    """The model in several sizes, each a folder that reloads, compared with the gated one."""
    assert tour.original is not None
    rows = []
    for size in progress.track("", tour.plan.sizes):
        folder = tour.work / f"pruned-{size:g}"
        result = polyprune.prune(
            tour.original, scores=tour.scores, sparsity=size, out=folder, progress=progress
        )
        (audit,) = result.audits.values()
        system = TourModel("pruned", size, folder)
        tour.systems.append(system)
        worst = max(result.differences.values())
        rows.append(
            (
                system.title,
                f"{audit.parameters / 1e6:.1f} M",
                f"{sum(audit.heads)} of {sum(tour.original.shape.heads)}",
                f"{sum(audit.units):,} of {sum(tour.original.shape.units):,}",
                f"{audit.rank} of {tour.original.shape.rank}",
                f"{worst:.0e}",
            )
        )
    columns = ("cut", "parameters", "heads", "units", "rank", "error")
    return StageTable("What was kept, and how exactly it computes that", columns, tuple(rows))


def recover(tour: Tour, progress: Progress) -> StageTable:
    """Train what was cut for a little while; a sentence encoder learns from the uncut one."""
    plan = tour.plan
    pruned = next(each for each in tour.systems if each.size == plan.recovered)
    result = polyprune.recover(
        pruned.folder,
        teacher=tour.original,
        corpus=tour.texts.folder,
        parallel=None if plan.predicts_words else ENGLISH,
        steps=plan.steps,
        batch_size=BATCH,
        held_out=0,
        progress=progress,
    )
    model = result.save(tour.work / "model")
    tour.systems.append(TourModel("recovered", plan.recovered, model))
    log = result.log
    shown = sorted({0, len(log) // 2, len(log) - 1})
    rows = [(f"{log[i]['step']}", f"{log[i]['losses']['total']:.3f}") for i in shown]
    title = f"Recovery of the model cut by {plan.recovered:.0%}: {plan.steps} steps"
    return StageTable(title, ("step", "loss"), tuple(rows))


def translations(tour: Tour, progress: Progress) -> StageTable:
    """How often the nearest English line is the translation, on lines that nobody has seen."""
    tokenizer, found = tour.tokenizer(), {}
    for system in tour.systems:
        model = tour.load(system, "hidden-states")
        own = find_translations(model, tokenizer, tour.texts.held_out, ENGLISH, progress)
        found[system.title] = own
        tour.note_scores(system, "retrieval", "accuracy", own)
    title = f"Translations found, in percent, among {tour.plan.held_out} English lines"
    return by_language(title, found)


def words(tour: Tour, progress: Progress) -> StageTable:
    """How often a masked word is guessed."""
    tokenizer, found = tour.tokenizer(), {}
    for system in tour.systems:
        own = guess_words(tour.load(system), tokenizer, tour.texts.held_out, progress)
        found[system.title] = own
        tour.note_scores(system, "masked words", "accuracy", own)
    return by_language("Masked words guessed, in percent", found)


def speed(tour: Tour, progress: Progress) -> StageTable:
    """Parameters, megabytes and sentences per second, side by side."""
    systems = [each for each in tour.systems if each.name != "recovered"]
    models = {each.title: tour.load(each, "hidden-states") for each in systems}
    found = compare_speed(models, _batch(tour), rounds=tour.plan.rounds, progress=progress)
    rows = []
    for system in systems:
        model, fast = models[system.title], found[system.title]
        size = footprint_of(model.config, model.readout_kind)
        weight = weight_bytes(model.config, size)
        # A recovered model is as large and as fast as what it was before.
        for each in [system, *(s for s in tour.systems if _is_recovered(s, system))]:
            tour.note(
                each,
                parameters=size.parameters,
                encoder_parameters=size.encoder_parameters,
                multiply_adds=size.multiply_adds,
                bytes=weight,
                sentences_per_second=fast.sentences_per_second,
                ratio=fast.ratio,
                low=fast.low,
                high=fast.high,
                **architecture_record(model, models["dense"].shape),
            )
        rows.append(
            (
                system.title,
                f"{size.encoder_parameters / 1e6:.1f} M",
                f"{size.parameters / 1e6:.1f} M",
                f"{weight / 1e6:.0f}",
                f"{fast.sentences_per_second:.0f}",
                f"{fast.ratio:.2f}×",
                f"{fast.low:.2f}–{fast.high:.2f}",
            )
        )
    sentences, tokens = MEASURED
    title = f"Size and speed, {sentences} sentences of {tokens} tokens at a time"
    return StageTable(
        title, ("", "layers", "in all", "MB", "a second", "faster", "95 %"), tuple(rows)
    )


def _is_recovered(system: TourModel, pruned: TourModel) -> bool:
    return system.name == "recovered" and pruned.name == "pruned" and system.size == pruned.size


def _batch(tour: Tour) -> Tensor:
    """Tokens of all languages in rows of one length, so that no time goes into padding."""
    sentences, tokens = MEASURED
    lines = list(chain.from_iterable(zip(*tour.texts.held_out.values(), strict=True)))
    ids = tour.tokenizer()(lines, add_special_tokens=False)["input_ids"]
    flat = list(chain.from_iterable(ids))[: sentences * tokens]
    return torch.tensor(flat).reshape(sentences, tokens)
