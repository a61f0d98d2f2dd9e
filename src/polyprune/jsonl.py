"""Files of JSON lines: one object per line, read also while somebody else is writing them."""

import json
from pathlib import Path
from typing import Any


class DamagedLine(ValueError):
    """A line that is not JSON, though others follow it."""

    def __init__(self, number: int, reason: Exception):
        super().__init__(f"Line {number} is not JSON ({reason}).")
        self.number = number
        self.reason = reason


def parse_object(line: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object of a line; None if the line is torn or holds something else."""
    try:
        return _object(line if isinstance(line, str) else line.decode())
    except ValueError:
        return None


def read_objects(path: Path, *, strict: bool = False) -> list[dict[str, Any]]:
    """Return the JSON objects of a file, one per line; an empty list if there is no file.

    Lines that are not JSON are left out. A strict reader raises `DamagedLine` for them instead,
    except for the last line, which may still be half-written. It also raises if the file is not
    text.
    """
    if not path.is_file():
        return []
    if not strict:
        found = map(parse_object, path.read_bytes().split(b"\n"))
        return [each for each in found if each is not None]
    last = path.read_text(encoding="utf-8").rpartition("\n")[2]
    return [*read_log(path), *filter(None, [parse_object(last)])]


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the JSON objects of a log's ended lines; an empty list if there is no file.

    A line that does not end yet is still being written, and may be continued: it never counts.
    Raises `DamagedLine` for an ended line that is not JSON.
    """
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    found = [_checked(line, number) for number, line in enumerate(lines, 1)]
    return [each for each in found if each is not None]


def _checked(line: str, number: int) -> dict[str, Any] | None:
    try:
        return _object(line)
    except ValueError as error:
        raise DamagedLine(number, error) from error


def _object(line: str) -> dict[str, Any] | None:
    found = json.loads(line) if line.strip() else None
    return found if isinstance(found, dict) else None
