"""What commands are expected to come to."""

import json
from pathlib import Path

from test_commands import polyprune

EXACT = 1e-5
"""More than rounding ever makes of a tiny model's outputs."""


def answer(*arguments) -> dict:
    """The JSON object that a command prints."""
    status, stdout, error = polyprune(*arguments, "--json")
    assert status == 0, error
    return json.loads(stdout)


def refused(folder: Path, *arguments) -> str:
    """The sentence that a command is refused with, nothing in `folder` having changed."""
    before = _contents(folder)
    status, stdout, error = polyprune(*arguments)
    assert status == 2, error
    assert stdout == ""
    assert _contents(folder) == before
    assert len(error.splitlines()) == 1
    return error


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}
