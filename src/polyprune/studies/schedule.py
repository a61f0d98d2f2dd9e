"""Run the cells of a study: choose the next one, record results and failures."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from .cell_store import CellStore, pending_cells
from .pool import Job, Outcome, Pool, Work
from .study_cells import CellGraph, StudyCell
from .study_progress import write_plan

TICK = 0.25
"""Seconds between checks for a request to stop."""


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """Where and how a study runs: its store, workers, data and starting model."""

    store: CellStore
    start: Path
    """The study's starting model."""
    data: str
    workers: int
    work: Work
    stop: Callable[[], bool] = lambda: False
    labels: str | None = None
    """The folder of labels, for test files without labels."""


@dataclass(frozen=True, slots=True)
class ScheduleState:
    """The progress of a study."""

    done: int
    total: int
    running: tuple[str, ...]
    left: float | None
    """Estimated seconds left, from the finished cells; None before there are any."""
    ended: tuple[str, ...] = ()
    """The addresses of the cells that have just finished."""


@dataclass(slots=True)
class ScheduleReport:
    """The cells that failed, were skipped, or not started."""

    failed: dict[str, str] = field(default_factory=dict)
    """The addresses of failed cells, each with the reason in one sentence."""
    skipped: dict[str, str] = field(default_factory=dict)
    """The addresses of skipped cells, each with the failed cell that it needs."""
    stopped: bool = False


def run_cells(
    graph: CellGraph, context: ExecutionContext, report: ScheduleReport
) -> Iterator[ScheduleState]:
    """Run all pending cells; yield a state whenever something has changed."""
    store = context.store
    write_plan(graph, store.out)
    drop_scored_models(graph, store, graph.cells)
    pending = {cell.address: cell for cell in pending_cells(graph, store)}
    course = _Schedule(graph, context, report, pending, _seconds(graph, store))
    with Pool(context.work, context.workers) as pool:
        while course.pending or course.running:
            if context.stop():
                report.stopped = True
                course.take(pool.stop())
                break
            course.begin(pool)
            yield course.state(course.take(pool.wait(TICK)))
    yield course.state(())


@dataclass(slots=True)
class _Schedule:
    """The pending and running cells, and how long each kind takes."""

    graph: CellGraph
    context: ExecutionContext
    report: ScheduleReport
    pending: dict[str, StudyCell]
    seconds: dict[str, list[float]]
    running: dict[str, StudyCell] = field(default_factory=dict)
    total: int = 0

    def __post_init__(self):
        self.total = len(self.graph.cells)

    def begin(self, pool: Pool) -> None:
        """Give a job to every idle worker."""
        while pool.has_room:
            cell = next_cell(self.pending, self.running)
            if cell is None:
                return
            self.running[cell.address] = self.pending.pop(cell.address)
            pool.submit(self._job(cell))

    def take(self, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
        """Record the finished jobs; return the addresses of those that succeeded."""
        done = []
        for outcome in outcomes:
            cell = self.running.pop(outcome.address)
            if outcome.error is not None:
                self._fail(cell, outcome)
            elif outcome.result is not None:
                self._finish(cell, outcome)
                done.append(cell.address)
            else:  # interrupted
                self.pending[cell.address] = cell
        return tuple(done)

    def state(self, ended: tuple[str, ...]) -> ScheduleState:
        """Return the current progress."""
        titles = tuple(cell.title for cell in self.running.values())
        open_cells = [*self.pending.values(), *self.running.values()]
        left = time_left([cell.kind for cell in open_cells], self.seconds, self.context.workers)
        lost = len(self.report.failed) + len(self.report.skipped)
        return ScheduleState(self.total - len(open_cells) - lost, self.total, titles, left, ended)

    def _job(self, cell: StudyCell) -> Job:
        store, context = self.context.store, self.context
        models = tuple(store.model(address) for address in cell.needs) or (context.start,)
        cores = cores_here()
        return Job(
            address=cell.address,
            kind=cell.kind,
            settings=cell.settings,
            folder=store.folder(cell.address),
            models=models,
            start=context.start,
            data=context.data,
            labels=context.labels,
            payload=cell.payload,
            threads=cores if cell.kind == "speed" else max(1, cores // context.workers),
        )

    def _finish(self, cell: StudyCell, outcome: Outcome) -> None:
        more = {"processor_seconds": outcome.processor, "result": outcome.result}
        self.context.store.write(cell, "done", outcome.seconds, **more)
        self.seconds.setdefault(cell.kind, []).append(outcome.seconds)
        drop_scored_models(self.graph, self.context.store, cell.needs)

    def _fail(self, cell: StudyCell, outcome: Outcome) -> None:
        self.context.store.write(cell, "failed", outcome.seconds, error=outcome.error)
        self.report.failed[cell.address] = outcome.error or ""
        if outcome.processor is not None:  # one that was killed may go on where it was
            self.context.store.drop_model(cell.address)
        lost = {cell.address}
        for address, each in list(self.pending.items()):  # those below come before those above
            if lost & set(each.needs):
                lost.add(address)
                self.report.skipped[address] = cell.address
                del self.pending[address]


def cores_here() -> int:
    """Return the number of cores to use: all, or fewer if OMP_NUM_THREADS says so."""
    cores, wanted = os.cpu_count() or 1, os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, int(wanted)) if wanted.isdigit() and int(wanted) else cores


def next_cell(
    pending: Mapping[str, StudyCell], running: Mapping[str, StudyCell]
) -> StudyCell | None:
    """Return the next cell: scores first, so their models can be removed; speeds last, alone."""
    ready = [
        cell
        for cell in pending.values()
        if not any(need in pending or need in running for need in cell.needs)
    ]
    busy = [cell for cell in (*pending.values(), *running.values()) if cell.kind != "speed"]
    if not busy:
        return ready[0] if ready and not running else None
    ready = [cell for cell in ready if cell.kind != "speed"]
    return min(ready, key=lambda cell: cell.kind != "score", default=None)


def time_left(
    kinds: Sequence[str], seconds: Mapping[str, Sequence[float]], workers: int
) -> float | None:
    """Estimate the seconds that cells of these kinds will take, from the finished ones."""
    known = [each for own in seconds.values() for each in own]
    if not known:
        return None
    usual = fmean(known)
    each = {kind: fmean(seconds[kind]) if seconds.get(kind) else usual for kind in set(kinds)}
    alone = sum(each[kind] for kind in kinds if kind == "speed")
    return alone + sum(each[kind] for kind in kinds if kind != "speed") / workers


def drop_scored_models(graph: CellGraph, store: CellStore, addresses: Collection[str]) -> None:
    """Remove fine-tuned models whose scores are all done."""
    for address in addresses:
        if graph.cells[address].kind != "tuned" or not store.model(address).is_dir():
            continue
        if all(store.is_done(graph.cells[above]) for above in graph.above(address)):
            store.drop_model(address)


def _seconds(graph: CellGraph, store: CellStore) -> dict[str, list[float]]:
    """Return the seconds of cells that finished earlier."""
    found: dict[str, list[float]] = {}
    for cell in graph.cells.values():
        record: dict[str, Any] = store.record(cell.address)
        if record.get("status") == "done":
            found.setdefault(cell.kind, []).append(record["seconds"])
    return found
