"""What a run has done, as JSON lines: never a step twice, never one lost."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Log:
    """A file of JSON lines that a checkpoint can be taken back to."""

    def __init__(self, path: Path, length: int = 0):
        """Open a log and drop whatever was written after a checkpoint of this length."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        self._file.truncate(length)

    def write(self, record: Mapping[str, Any]) -> None:
        """Add a line."""
        self._file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")

    def flush(self) -> int:
        """Have the disk hold all of it; its length."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self.path.stat().st_size

    def close(self) -> None:
        """No more lines."""
        self._file.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Every whole line of a log, also of one that is being written."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in lines]
