"""The store of cells: `DIR/cells/<address>/`, with a `cell.json` once a cell is done or failed."""

import fcntl
import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError
from ..storage import atomic_file
from .study_files import RESULT_FILES, CellFiles, StudyFiles

if TYPE_CHECKING:
    from .study_cells import CellGraph, StudyCell


@dataclass(frozen=True, slots=True)
class CellStore:
    """The cells in a study's folder."""

    out: Path

    def folder(self, address: str) -> Path:
        """Return the folder of a cell."""
        return StudyFiles(self.out).cell(address).folder

    def model(self, address: str) -> Path:
        """Return the folder of a cell's model."""
        return StudyFiles(self.out).cell(address).model

    def record(self, address: str) -> dict[str, Any]:
        """Return the record of a cell; empty if it has not finished."""
        try:
            found = json.loads(CellFiles(self.folder(address)).record.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def is_done(self, cell: "StudyCell") -> bool:
        """Return whether a cell's result exists, and its model if it makes one."""
        if self.record(cell.address).get("status") != "done":
            return False
        is_model = cell.kind in ("model", "tuned")
        return not is_model or (self.model(cell.address) / "config.json").is_file()

    def write(self, cell: "StudyCell", status: str, seconds: float, **more: Any) -> dict[str, Any]:
        """Record how a cell ended."""
        record = {
            "kind": cell.kind,
            "title": cell.title,
            "status": status,
            "seconds": round(seconds, 3),
            "settings": cell.settings,
            "needs": list(cell.needs),
            **more,
        }
        with atomic_file(CellFiles(self.folder(cell.address)).record, force=True) as path:
            path.write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
        return record

    def drop_model(self, address: str) -> None:
        """Remove the model of a cell; its record stays."""
        shutil.rmtree(CellFiles(self.folder(address)).work, ignore_errors=True)

    def drop(self, address: str) -> None:
        """Remove a cell."""
        shutil.rmtree(self.folder(address), ignore_errors=True)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the folder during the block; raise if another process holds the lock."""
        self.out.mkdir(parents=True, exist_ok=True)
        with (self.out / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise ConfigError(
                    f"Another study is at work in {self.out}. Wait for it, or choose another `out`."
                ) from error
            yield

    def check(self) -> None:
        """Raise if the folder holds something else."""
        if self.out.is_file():
            raise ConfigError(f"{self.out} is a file. Choose another `out`.")
        others = [path for path in self.out.glob("*") if path.name[0] != "."]
        known = {"cells", "data", *RESULT_FILES}
        if others and not known & {path.name for path in others}:
            raise ConfigError(f"{self.out} is not a study. Choose another `out`.")


def pending_cells(graph: "CellGraph", store: CellStore) -> "list[StudyCell]":
    """Return the cells still needed for every score and speed."""
    wanted: set[str] = set()
    ends = [cell for cell in graph.cells.values() if cell.kind in ("score", "speed")]
    rest = [cell.address for cell in ends if not store.is_done(cell)]
    while rest:
        address = rest.pop()
        if address in wanted:
            continue
        wanted.add(address)
        needs = graph.cells[address].needs
        rest += [below for below in needs if not store.is_done(graph.cells[below])]
    return [cell for cell in graph.cells.values() if cell.address in wanted]


def folder_hash(folder: Path) -> str:
    """Hash the names, the sizes and the ends of a folder's files."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not any(part[0] in "._" for part in name.parts):
            digest.update(f"{name} {path.stat().st_size}\n".encode())
            with path.open("rb") as file:
                digest.update(file.read(1 << 20))
                file.seek(max(0, path.stat().st_size - (1 << 16)))
                digest.update(file.read())
    return digest.hexdigest()[:20]
