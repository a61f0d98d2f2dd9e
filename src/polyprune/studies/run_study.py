"""A study from its config to its report: plan its cells, run those that are pending, report."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..progress import SILENT, Progress, Stopped
from ..quantities import clock_time
from ..reporting.report import Report
from ..training.run_config import Run
from .cell_store import CellStore, pending_cells
from .inputs import environment_facts, find_labels, hash_inputs, prepare_data
from .pool import Work
from .results import Lines, Outline, lines_of, outline_of, write_report
from .schedule import ExecutionContext, ScheduleReport, run_cells
from .scorable import with_scorable_only
from .study_cells import CellGraph, StudyCell, plan_cells
from .study_config import Study

SECONDS_BETWEEN_WRITES = 5
"""Results are written as they come, but no more often than this."""


@dataclass(frozen=True, slots=True)
class PlannedStudy:
    """A study whose inputs are read: its cells, and where they are stored."""

    graph: CellGraph
    outline: Outline
    store: CellStore
    start: Path
    """The starting model."""
    data: str
    facts: Mapping[str, Any]
    """The versions and the hardware that results may depend on."""
    labels: str | None = None
    """The folder of labels, for test files without labels."""
    notes: tuple[str, ...] = ()
    """What is left out, and what makes systems hard to compare, in sentences."""

    @property
    def pending(self) -> list[StudyCell]:
        """The cells that are still to do."""
        return pending_cells(self.graph, self.store)

    def write_lines(self) -> Lines:
        """Write the results that are there."""
        lines = lines_of(self.graph, self.outline, self.store, self.facts)
        lines.write(self.store.out, self.outline.study)
        return lines


def plan_study(study: Study, runs: Mapping[str, Run], out: Path) -> PlannedStudy:
    """Read a study's inputs and plan its cells; raise if the folder holds something else."""
    store = CellStore(out.resolve())
    store.check()
    study, data = find_labels(study), prepare_data(study, store.out)
    study, notes = with_scorable_only(study, data)
    hashes, start = hash_inputs(study, data)
    graph = plan_cells(study, runs, hashes, str(start))
    outline = outline_of(study, graph, runs, notes)
    return PlannedStudy(
        graph, outline, store, start, data, environment_facts(), study.labels, notes
    )


def run_study(
    planned: PlannedStudy,
    work: Work,
    progress: Progress = SILENT,
    *,
    workers: int | None = None,
    force: bool = False,
) -> tuple[Report, ScheduleReport]:
    """Let workers do all pending cells, or all anew; write the report, and return what failed.

    If `progress` asks to stop, running cells save where they are, and `Stopped` is raised.
    """
    graph, store = planned.graph, planned.store
    schedule = ScheduleReport()
    for note in planned.notes:
        progress.message(note)
    with store.alone():
        for address in graph.cells if force else ():
            store.drop(address)
        many = workers or os.cpu_count() or 1
        place = ExecutionContext(
            store, planned.start, planned.data, many, work, progress.should_stop, planned.labels
        )
        _run_cells(graph, place, schedule, progress, planned.write_lines)
    lines = planned.write_lines()
    if schedule.stopped:
        done = len(graph.cells) - len(planned.pending)
        raise Stopped(f"Stopped: {done} of {len(graph.cells)} cells are done.")
    return write_report(lines, planned.outline.study, store.out), schedule


def _run_cells(
    graph: CellGraph,
    place: ExecutionContext,
    schedule: ScheduleReport,
    progress: Progress,
    write: Callable[[], Any],
) -> None:
    """Run what is pending; results are written as they come."""
    kinds = {address: cell.kind for address, cell in graph.cells.items()}
    written = time.monotonic()
    with progress.stage("Cells", len(graph.cells)):
        for state in run_cells(graph, place, schedule):
            left = "" if state.left is None else f"{clock_time(state.left)} left: "
            progress.update(state.done, f"{left}{', '.join(state.running)}")
            ended = any(kinds[address] in ("score", "speed") for address in state.ended)
            # All is written once more at the end.
            if ended and time.monotonic() > written + SECONDS_BETWEEN_WRITES:
                write()
                written = time.monotonic()
