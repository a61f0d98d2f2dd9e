"""The tour from its first stage to its folder."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polyprune

from ..progress import Progress
from . import elastic_stages, stages
from .output_folder import KEPT, move_in, temporary_folder, train_config, write_lines
from .tour import Stage, StageTable, Tour
from .tour_plan import TourPlan, split_text

Show = Callable[[str, StageTable], None]
"""Shows which of how many stages was done, and what it found."""


def tour_stages(plan: TourPlan) -> list[Stage]:
    """From the uncut model to a page about what became of it."""
    return [
        Stage("score", stages.score_components),
        Stage("prune", stages.prune),
        Stage("recover", stages.recover),
        Stage("find translations", stages.translations),
        *([Stage("guess words", stages.words)] if plan.predicts_words else []),
        Stage("size and speed", stages.speed),
        Stage("train every size", elastic_stages.every_size),
        Stage("tasks", elastic_stages.tasks),
    ]


def run_tour(plan: TourPlan, out: Path, progress: Progress, show: Show) -> list[dict[str, Any]]:
    """Go through all stages and leave the tour's folder; return every number."""
    with _quiet(), temporary_folder(out) as work:
        tour = Tour(plan, work, split_text(plan, work / "text"))
        parts = tour_stages(plan)
        for number, stage in enumerate(parts, 1):
            place = f"{number} of {len(parts)}"
            with progress.stage(f"{place}: {stage.name}"):
                table = tour.take(stage, progress)
            show(place, table)
        records = tour.records(f"polyprune demo --model {plan.model}")
        write_lines(work / "results.jsonl", records)
        polyprune.report(work / "results.jsonl", out=work / "page.html")
        (work / "train.toml").write_text(train_config(out), encoding="utf-8")
        move_in({name: work / name for name in KEPT}, out, work)
    return records


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what transformers says: that a task's readout begins anew is as it should be."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)
