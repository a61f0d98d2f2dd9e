"""The files of a study, on which workers who write them and people who watch them agree.

    OUT/cells/plan.json             every cell: kind, title and the cells that it needs
    OUT/cells/<address>/place.txt   written whenever a worker starts the cell
    OUT/cells/<address>/run/        where the cell is worked on; a model is in its `model`
    OUT/cells/<address>/cell.json   written once the cell is done or has failed
    OUT/results.jsonl, sizes.jsonl, curves.jsonl, claims.jsonl

This module imports nothing heavy: watching a study must not take the seconds that torch needs.
"""

from dataclasses import dataclass
from pathlib import Path

KINDS = ("model", "tuned", "score", "speed")
"""The kinds of cells, in the order in which they need each other."""

RESULT_FILES = ("results.jsonl", "sizes.jsonl", "curves.jsonl", "claims.jsonl")


@dataclass(frozen=True, slots=True)
class CellFiles:
    """The files of one cell."""

    folder: Path

    @property
    def start_note(self) -> Path:
        """The note of a worker that starts the cell: the paths that its work depends on.

        It is written anew at every start, so its time of change is when the cell was last started.
        """
        return self.folder / "place.txt"

    @property
    def record(self) -> Path:
        """How the cell has ended; absent until then."""
        return self.folder / "cell.json"

    @property
    def work(self) -> Path:
        """The folder in which the cell is worked on."""
        return self.folder / "run"

    @property
    def model(self) -> Path:
        """The model that the cell made."""
        return self.work / "model"


@dataclass(frozen=True, slots=True)
class StudyFiles:
    """The files of a folder that studies share."""

    out: Path

    @property
    def cells(self) -> Path:
        """The folder of all cells: its presence makes a folder that of a study."""
        return self.out / "cells"

    @property
    def plan(self) -> Path:
        """The cells of the study that was started last."""
        return self.cells / "plan.json"

    @property
    def results(self) -> Path:
        """One line per score."""
        return self.out / RESULT_FILES[0]

    def cell(self, address: str) -> CellFiles:
        """The files of the cell with this address."""
        return CellFiles(self.cells / address)
