"""What a run has done, as JSON lines: never a step twice, never one lost."""

import json
import os
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any


class RunLog:
    """A file of JSON lines that a checkpoint can be taken back to."""

    def __init__(self, path: Path, length: int = 0):
        """Open a log and drop whatever was written after a checkpoint of this length."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        self._file.truncate(min(length, path.stat().st_size))

    def write(self, record: Mapping[str, Any]) -> None:
        """Add a line."""
        line = json.dumps(_finite(record), ensure_ascii=False, allow_nan=False)
        self._file.write(line.encode() + b"\n")
        self._file.flush()  # to others who look, though not yet to the disk

    def flush(self) -> int:
        """Have the disk hold all of it; its length."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self.path.stat().st_size

    def close(self) -> None:
        """No more lines."""
        self._file.close()


def _finite(value: Any) -> Any:
    """The same with null for numbers that JSON does not know, such as half precision's overflow."""
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    return None if isinstance(value, float) and not isfinite(value) else value


def read_log(path: Path) -> list[dict[str, Any]]:
    """Every whole line of a log, also of one that is being written."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in lines]
