"""The progress of a study, read from its files while another process writes them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..storage import atomic_file
from ..training.run_location import modified_at, read_json
from ..training.run_progress import PATIENCE, RunProgress, RunReader
from .standings import Standing, standings
from .study_files import KINDS, CellFiles, StudyFiles


@dataclass(frozen=True, slots=True)
class CellState:
    """The state of one cell."""

    kind: str
    """The kind of cell; empty if it is unknown."""
    title: str
    state: str
    """`done`, `running`, `failed`, `left out` (it needs one that failed), `to do`."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class CellCount:
    """The number of cells of a kind, by state."""

    kind: str
    done: int = 0
    running: int = 0
    failed: int = 0
    left_out: int = 0
    to_do: int = 0

    @property
    def total(self) -> int:
        """The number of cells in all states."""
        return self.done + self.running + self.failed + self.left_out + self.to_do


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """The progress of a study."""

    name: str
    state: str
    """`preparing`, `running`, `silent` (nothing was written for a while), `finished`."""
    planned: bool
    """Whether the pending cells are known."""
    counts: tuple[CellCount, ...] = ()
    failed: tuple[CellState, ...] = ()
    running: tuple[CellState, ...] = ()
    training: tuple[RunProgress, ...] = ()
    """The progress of running trainings, latest first; each is named after its cell."""
    standings: tuple[Standing, ...] = ()
    silent_seconds: float | None = None

    @property
    def whole(self) -> CellCount:
        """The counts over all kinds."""
        fields = ("done", "running", "failed", "left_out", "to_do")
        return CellCount(
            "all", **{f: sum(getattr(each, f) for each in self.counts) for f in fields}
        )


def write_plan(graph: Any, out: Path) -> None:
    """Write the list of cells for `polyprune watch`."""
    cells = {
        address: {"kind": cell.kind, "title": cell.title, "needs": list(cell.needs)}
        for address, cell in graph.cells.items()
    }
    with atomic_file(StudyFiles(out).plan, force=True) as path:
        path.write_text(json.dumps(cells, ensure_ascii=False), encoding="utf-8")


def is_study(folder: Path) -> bool:
    """Return whether `polyprune study` writes to this folder."""
    return StudyFiles(folder).cells.is_dir()


@dataclass(slots=True)
class StudyReader:
    """Reads a study's progress repeatedly, each time only what has changed; never writes."""

    folder: Path
    _records: dict[Path, tuple[float, dict[str, Any]]] = field(default_factory=dict)
    _runs: dict[str, RunReader] = field(default_factory=dict)
    _standings: tuple[float | None, tuple[Standing, ...]] = (None, ())

    def read(self, now: float) -> StudyProgress | None:
        """Return the progress at time `now`; None if there is no study."""
        if not is_study(self.folder):
            return None
        plan = read_json(StudyFiles(self.folder).plan)
        found = self._found()
        cells = _known(plan, found) if plan else found
        training = self._training(cells, now)
        silent = _silence(now, self._last_written(found), training)
        return StudyProgress(
            name=self.folder.resolve().name,
            state=_state(cells, bool(plan), silent),
            planned=bool(plan),
            counts=tuple(_counts(cells)),
            failed=tuple(cell for cell in cells.values() if cell.state == "failed"),
            running=tuple(cell for cell in cells.values() if cell.state == "running"),
            training=training,
            standings=self._scores(),
            silent_seconds=silent,
        )

    def _found(self) -> dict[str, CellState]:
        """Return the cells that have a folder, by address."""
        cells = {}
        for path in sorted(StudyFiles(self.folder).cells.iterdir()):
            if path.is_dir() and path.name[0] != ".":
                cells[path.name] = self._cell(path)
        return cells

    def _cell(self, path: Path) -> CellState:
        files = CellFiles(path)
        record, ended = self._record(files.record), modified_at(files.record)
        kind, title = str(record.get("kind") or ""), str(record.get("title") or path.name)
        status, error = record.get("status"), str(record.get("error") or "")
        begun = modified_at(files.start_note)
        # One that failed is tried again by the same command; a second, as copies have new times.
        again = None not in (begun, ended) and begun > ended + 1  # pyright: ignore[reportOptionalOperand]
        if status == "done":
            return CellState(kind, title, "done")
        if status == "failed" and not again:
            return CellState(kind, title, "failed", error)
        return CellState(kind, title, "running")

    def _record(self, path: Path) -> dict[str, Any]:
        when = modified_at(path)
        if when is None:
            return {}
        if path not in self._records or self._records[path][0] != when:
            self._records[path] = (when, read_json(path))
        return self._records[path][1]

    def _training(self, cells: Mapping[str, CellState], now: float) -> tuple[RunProgress, ...]:
        """Return the progress of running cells from their logs."""
        running = {address: cell for address, cell in cells.items() if cell.state == "running"}
        self._runs = {address: self._runs[address] for address in running if address in self._runs}
        found = []
        for address, cell in running.items():
            place = StudyFiles(self.folder).cell(address).work
            progress = self._runs.setdefault(address, RunReader(place)).read(now)
            if progress is not None:
                found.append(replace(progress, name=cell.title))
        return tuple(sorted(found, key=lambda each: each.silent_seconds or 0.0))

    def _scores(self) -> tuple[Standing, ...]:
        path = StudyFiles(self.folder).results
        when = modified_at(path)
        if when != self._standings[0]:
            self._standings = (when, standings(path))
        return self._standings[1]

    def _last_written(self, found: Mapping[str, CellState]) -> float | None:
        study = StudyFiles(self.folder)
        cells = [study.cell(address) for address in found]
        files = [path for cell in cells for path in (cell.record, cell.start_note)]
        looked = [study.results, study.plan, *files]
        return max(
            (when for path in looked if (when := modified_at(path)) is not None), default=None
        )


def _silence(now: float, last: float | None, training: Sequence[RunProgress]) -> float | None:
    """Return the seconds since a cell or the log of a training was last written."""
    heard = [] if last is None else [max(0.0, now - last)]
    heard += [run.silent_seconds for run in training if run.silent_seconds is not None]
    return min(heard, default=None)


def _known(plan: Mapping[str, Any], found: Mapping[str, CellState]) -> dict[str, CellState]:
    """Return the planned cells, without those of other studies in the folder."""
    cells: dict[str, CellState] = {}
    for address, about in plan.items():
        if not isinstance(about, dict):
            continue
        kind, title = str(about.get("kind") or ""), str(about.get("title") or address)
        there = found.get(address)
        state = there.state if there else "to do"
        needs = [cells[need].state for need in about.get("needs") or () if need in cells]
        if state == "to do" and {"failed", "left out"} & set(needs):
            state = "left out"
        cells[address] = CellState(kind, title, state, there.error if there else "")
    return cells


def _counts(cells: Mapping[str, CellState]) -> Iterator[CellCount]:
    kinds = [cell.kind for cell in cells.values()]
    for kind in [*KINDS, *sorted(set(kinds) - set(KINDS))]:
        own = [cell.state for cell in cells.values() if cell.kind == kind]
        if own:
            states = ("done", "running", "failed", "left out", "to do")
            yield CellCount(kind, **{each.replace(" ", "_"): own.count(each) for each in states})


def _state(cells: Mapping[str, CellState], planned: bool, silent: float | None) -> str:
    states = {cell.state for cell in cells.values()}
    if planned and not {"running", "to do"} & states:
        return "finished"
    if silent is not None and silent > PATIENCE:
        return "silent"
    return "running" if states - {"to do"} else "preparing"
