"""Exported folders as models that can be measured."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from .runners import EXPORT_RECORD, load_runner, read_export_record
from .runtimes import runtime_named

SUFFIXES = (".onnx", ".xml", ".bin", ".data")
"""The files of runtimes."""


@dataclass(frozen=True, slots=True)
class ExportLoader:
    """Loads the model of an exported folder into the runtime that it was exported for."""

    path: str
    threads: int

    def prepare(self) -> None:
        """Import the runtime."""
        record = read_export_record(Path(self.path)) or {}
        runtime = runtime_named(str(record.get("runtime")))
        runtime.need()
        for package in runtime.runs_with:
            import_module(package)

    def __call__(self) -> Any:
        """Return a function of arrays."""
        return load_runner(self.path, self.threads)


def is_export(folder: Path) -> bool:
    """Whether a folder was written by `polyprune export`."""
    return (folder / EXPORT_RECORD).is_file()


def export_bytes(folder: Path) -> int:
    """The size of an exported folder's own files: in int8 it is not what parameters say."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.suffix in SUFFIXES)
