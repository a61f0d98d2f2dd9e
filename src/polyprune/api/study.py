"""`polyprune.study`: systems × sizes × tasks × regimes × seeds, as far as they are not done."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..config import read_study
from ..progress import Progress
from ..reporting.report import Report
from ..reporting.results import Results
from ..reporting.tables.table import Table
from ..studies.cell_work import work
from ..studies.run_study import PlannedStudy, plan_study, run_study
from ..studies.study_files import KINDS
from .inputs import work_folder
from .requests.study import StudyRequest
from .result import Result, make_table
from .verb import verb


@dataclass(frozen=True, slots=True, repr=False)
class StudyPlan(Result):
    """How many cells of each kind a study has, and which of them are still to do."""

    cells: dict[str, int]
    """The number of cells of each kind."""
    pending: tuple[tuple[str, str], ...]
    """The kind and the title of every cell that is still to do."""

    @classmethod
    def of(cls, planned: PlannedStudy) -> "StudyPlan":
        """Count the cells of a study."""
        kinds = [cell.kind for cell in planned.graph.cells.values()]
        pending = tuple((cell.kind, cell.title) for cell in planned.pending)
        return cls({kind: kinds.count(kind) for kind in KINDS}, pending)

    def as_dict(self) -> dict[str, Any]:
        """The counts by kind, and the titles of what is to do."""
        left = [kind for kind, _ in self.pending]
        return {
            "plan": {
                kind: {"cells": count, "to do": left.count(kind)}
                for kind, count in self.cells.items()
            },
            "to do": [title for _, title in self.pending],
        }

    def summary(self) -> Iterator[Table | str]:
        """One row per kind of cell."""
        counts = self.as_dict()["plan"]
        rows = [[kind, *count.values()] for kind, count in counts.items()]
        yield make_table(["", "cells", "to do"], rows)


@dataclass(frozen=True, slots=True, repr=False)
class StudyResult(Result):
    """The report of a study, and what of it failed."""

    folder: Path
    report: Report
    failed: tuple[dict[str, str], ...]
    """The cells that failed: title, address and error."""
    skipped: int
    """The number of cells that need one that failed."""
    temporary: Any = None
    """Keeps the folder for as long as the result, where no place was given."""

    @property
    def results(self) -> Results:
        """The scoreboard of the study."""
        return self.report.results

    def as_dict(self) -> dict[str, Any]:
        """The report, and what failed."""
        return self.report.as_dict() | {"failed": list(self.failed), "skipped": self.skipped}

    def summary(self) -> Iterator[Table | str]:
        """The tables that sum the study up."""
        yield from self.report.summary_tables

    def as_source(self) -> str:
        """The folder of the study, which has more than its report."""
        return str(self.folder)

    def complaints(self) -> Iterator[str]:
        """What failed, and why."""
        for cell in self.failed:
            yield f"Failed: {cell['cell']} ({cell['address']}): {cell['error']}"
        if self.failed:
            many = f"{len(self.failed)} {'cell' if len(self.failed) == 1 else 'cells'} failed"
            without = f", and {self.skipped} above were left out" if self.skipped else ""
            yield f"{many}{without}. The same command tries again."

    @property
    def exit_status(self) -> int:
        """The status of failure if a cell failed."""
        return 1 if self.failed else 0

    def _repr_html_(self) -> str:
        return self.report.html()


@verb(StudyRequest)
def study(config: str | Path, request: StudyRequest, progress: Progress) -> StudyResult | StudyPlan:
    """Train, fine-tune and score all systems of a study, side by side.

    In a folder that is given, a study that was stopped, killed or failed in parts goes on where it
    was, and a changed setting runs again only what it touches. The tables are in `out/tables.md`,
    and `out/page.html` is a page to look at. With `plan`, only what would be done.
    """
    wanted, runs = read_study(Path(config), request.changes or (), quick=request.quick)
    if request.labels is not None:
        wanted = replace(wanted, labels=str(request.labels))
    wanted = replace(wanted, leave_out=wanted.leave_out or request.leave_out)
    folder, temporary = work_folder(request.out)
    planned = plan_study(wanted, runs, folder)
    if request.plan:
        return StudyPlan.of(planned)
    report, schedule = run_study(
        planned, work, progress, workers=request.workers, force=request.force
    )
    failed = tuple(
        {"cell": planned.graph.cells[address].title, "address": address, "error": why}
        for address, why in schedule.failed.items()
    )
    return StudyResult(folder, report, failed, len(schedule.skipped), temporary)
