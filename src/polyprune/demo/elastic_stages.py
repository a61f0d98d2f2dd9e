"""One small checkpoint that holds every size, fine-tuned for two tasks and looked at in four."""

from dataclasses import replace
from pathlib import Path

import polyprune

from ..averages import mean
from ..evaluation.finetune_config import FineTuneConfig, SearchSpace
from ..evaluation.gate_rows import own_row
from ..evaluation.hyperparameter_search import HyperparameterSearch
from ..evaluation.run_search import run_search
from ..evaluation.tasks import find_task
from ..progress import Progress
from ..reporting.read.folders import size_lines
from ..training.gating_config import GatingConfig
from ..training.phases import Phase
from ..training.run_config import Run
from ..training.run_sections import (
    BatchConfig,
    CorpusConfig,
    SavingConfig,
    StartConfig,
)
from .tour import StageTable, Tour, TourModel, one_digit
from .tour_plan import TourPlan, TourTexts

TASKS = ("xnli", "udpos")
START = "sprout"
"""What becomes elastic: small enough to be trained in every size within a minute."""

BATCH = 32
LEARNING_RATE = 1e-3
"""The learning rate of fine-tuning: a small model in few steps needs more than the tasks' 2e-5."""


def elastic_run(plan: TourPlan, texts: TourTexts) -> Run:
    """Dynamic Sparsification (Eqs. 14–16): every step trains another size."""
    return Run(
        phases=(
            Phase(
                steps=plan.elastic_steps,
                train="weights",
                name="every size",
                learning_rate=2e-4,
                warmup=plan.elastic_steps // 10,
            ),
        ),
        model=StartConfig(start=START),
        corpus=CorpusConfig(source=str(texts.folder), block=128, held_out=plan.sentences),
        gating=GatingConfig(kind="dynamic", sentences=plan.sentences),
        batch=BatchConfig(size=16, micro_batch_size=16),
        saving=SavingConfig(
            every=plan.elastic_steps, keep=1, held_out_every=plan.elastic_steps, trackers=()
        ),
    )


def every_size(tour: Tour, progress: Progress) -> StageTable:
    """Train the bundled model so that any size can be taken out of it."""
    run = elastic_run(tour.plan, tour.texts)
    result = polyprune.train(run, out=tour.work / "every-size", progress=progress)
    elastic = tour.work / "elastic"
    (result.folder / "model").rename(elastic)
    for line in size_lines(elastic, tour.plan.all_sizes):
        tour.note(TourModel("elastic", line["sparsity"], elastic), **line)
    log = result.log
    rows = [
        (f"{each['step']}", f"{each['losses']['total']:.3f}", f"{1 - (each['density'] or 0):.0%}")
        for each in (log[0], log[len(log) // 2], log[-1])
    ]
    last = result.held_out
    ending = f"; held-out loss {mean(last.values()):.2f}" if last else ""
    title = f"Every size of {START} at once: {tour.plan.elastic_steps} steps{ending}"
    return StageTable(title, ("step", "loss", "cut in that step"), tuple(rows))


def tasks(tour: Tour, progress: Progress) -> StageTable:
    """Fine-tune all sizes for two tasks, and ask some of them."""
    from ..miniature.write_tasks import write_miniature  # which makes a few thousand sentences

    data = tour.work / "tasks"
    write_miniature(data, progress=progress)
    found = {name: _scores(tour, name, data, progress) for name in TASKS}
    rows = [
        (
            find_task(name).title,
            *(one_digit(own[size]) for size in tour.plan.all_sizes),
        )
        for name, own in found.items()
    ]
    sizes = ("dense", *(f"{size:.0%}" for size in tour.plan.sizes))
    title = f"Tasks of the elastic {START} by size, mean over languages"
    return StageTable(title, ("task", *sizes), tuple(rows))


def _scores(tour: Tour, name: str, data: Path, progress: Progress) -> dict[float, float]:
    """The mean of a task's score over its languages, by size."""
    plan, task = tour.plan, find_task(name)
    out = tour.work / "tuning" / name
    setup = FineTuneConfig(str(tour.work / "elastic"), task, str(data), limit=plan.examples)
    fine_tune(setup, plan, out, progress)
    spoken = tuple(tour.texts.codes)
    wanted = [code for code in task.languages if own_row(code, spoken) is not None]
    there = task.reader.languages(str(data), "test", wanted)
    result = polyprune.evaluate(
        out,
        task=name,
        data=data,
        languages=there,
        limit=plan.asked,
        sparsity=plan.all_sizes,
        device="cpu",
        progress=progress,
    )
    found = {}
    for size, system in zip(plan.all_sizes, result.systems, strict=True):
        score = next(iter(system.mean or {}), "")
        found[size] = (system.mean or {}).get(score, float("nan"))
        own = {
            code: (each.scores or {}).get(score, float("nan"))
            for code, each in system.languages.items()
        }
        tour.note_scores(TourModel("elastic", size, out), name, score, own)
    return found


def fine_tune(setup: FineTuneConfig, plan: TourPlan, out: Path, progress: Progress) -> None:
    """Train all sizes of a model for a task, in `out`."""
    space = SearchSpace((LEARNING_RATE,), (plan.epochs,), batch=BATCH)
    # Nothing is chosen here, so that dev is looked at once, at the end.
    run_search(HyperparameterSearch(setup, space, out), progress, _look_once)


def _look_once(run: Run) -> Run:
    return replace(run, saving=replace(run.saving, trackers=(), held_out_every=run.steps))
