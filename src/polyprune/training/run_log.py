"""The log of a run as JSON lines: every step exactly once, across interruptions."""

import json
import os
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any


class RunLog:
    """A file of JSON lines that can be truncated to the state of a checkpoint."""

    def __init__(self, path: Path, length: int = 0):
        """Open a log and drop whatever was written after a checkpoint of this length."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        self._file.truncate(min(length, path.stat().st_size))

    def write(self, record: Mapping[str, Any]) -> None:
        """Append one line."""
        line = json.dumps(_finite(record), ensure_ascii=False, allow_nan=False)
        self._file.write(line.encode() + b"\n")
        self._file.flush()  # to others who look, though not yet to the disk

    def flush(self) -> int:
        """Flush everything to disk, and return the file's length."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self.path.stat().st_size

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _finite(value: Any) -> Any:
    """Replace numbers that JSON cannot write, such as an overflow in half precision, by null."""
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    return None if isinstance(value, float) and not isfinite(value) else value
