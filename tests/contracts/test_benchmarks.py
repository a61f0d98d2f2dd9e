"""Benchmarks use the library as anybody could: by its public names."""

import ast
import os
import subprocess
import sys

import pytest

import polyprune as pp
from polyprune import parts
from support.paths import REPOSITORY

BENCHMARKS = sorted((REPOSITORY / "benchmarks").glob("*.py"))
PUBLIC = {"polyprune": {*pp.__all__, "parts"}, "polyprune.parts": {*parts.__all__}}


def imports(path):
    """The modules of polyprune that a file imports from, with the names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polyprune"):
            yield node.module, {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("polyprune"):
                    yield alias.name, set()


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_benchmarks_import_public_names_only(path):
    for module, names in imports(path):
        assert module in PUBLIC, f"{path.name} imports from {module}"
        assert names <= PUBLIC[module], f"{path.name}: {names - PUBLIC[module]}"


def test_every_part_is_there_and_some_benchmark_needs_it():
    used = {name for path in BENCHMARKS for module, names in imports(path) for name in names}
    for name in parts.__all__:
        assert hasattr(parts, name)
        assert name in used, f"no benchmark uses polyprune.parts.{name}"


@pytest.mark.slow
def test_every_benchmark_can_be_imported():
    """All in one process: what they need of other libraries may be missing, not what of ours."""
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n"
        "        importlib.import_module(name)\n"
        "    except ModuleNotFoundError as error:\n"
        "        assert not error.name.startswith('polyprune'), (name, error)\n"
    )
    names = [path.stem for path in BENCHMARKS]
    folder = REPOSITORY / "benchmarks"
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    subprocess.run(
        [sys.executable, "-c", code, *names], check=True, env=os.environ | {"PYTHONPATH": path}
    )
