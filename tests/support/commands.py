"""What commands are expected to come to."""

import json
import resource
import sys
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors.torch import load_file
from typer.testing import CliRunner

from polyprune import cli
from polyprune.cli.command import for_terminal

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


COMMAND = (sys.executable, "-m", "polyprune")


def polyprune(*arguments):
    """Run a command in this process: (exit status, stdout, stderr)."""
    run = CliRunner().invoke(cli.app, [str(a) for a in arguments], catch_exceptions=True)
    if isinstance(run.exception, Exception):
        try:
            cli.fail(run.exception)
        except SystemExit as stop:
            return stop.code, run.stdout, for_terminal(str(run.exception))
    return run.exit_code, run.stdout, run.stderr


def weights(folder):
    return load_file(folder / "model.safetensors")


def equal(one, other) -> bool:
    """Whether two folders hold the same model, to the bit."""
    a, b = weights(one), weights(other)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@contextmanager
def largest_file(size):
    """A limit on the sizes of files that are written; compiled modules would be cut off too."""
    before, written = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = written
