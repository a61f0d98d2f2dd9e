"""What the documents say is true: names exist, examples run."""

import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

import polyprune as pp
from polyprune import cli
from polyprune.corpora.probes import probe_texts
from support.commands import polyprune
from support.paths import REPOSITORY
from support.xtreme import xtreme_folder

ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|").split("|")]
    for line in (REPOSITORY / "docs" / "equations.md").read_text().splitlines()
    if line.startswith(("| ", "|1")) and "---" not in line and "| what |" not in line
]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]} {row[1]}"[:40] for row in ROWS])
def test_every_equation_has_its_function_and_its_test(row):
    _, _, function, test = row
    module, _, name = function.rpartition(".")
    assert hasattr(import_module(module), name)
    path, _, name = test.partition("::")
    assert f"def {name}" in (REPOSITORY / path).read_text()


def test_every_public_name_is_there_and_described():
    for name in set(pp.__all__) - {"Gates"}:  # an alias, described where it stands
        assert getattr(pp, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'prnue'"):
        pp.prnue  # noqa: B018


def blocks(language: str) -> list[str]:
    text = (REPOSITORY / "README.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.slow
def test_the_python_of_the_readme_runs(tmp_path, narrow_e5_cache):
    first, second, third = blocks("python")
    third = "from sentence_transformers import SentenceTransformer\n" + third
    environment = {"XDG_CACHE_HOME": str(narrow_e5_cache)}
    run_python(first + second + third, tmp_path, environment)
    assert (tmp_path / "small" / "certificate.json").is_file()


def readme_commands() -> list[list[str]]:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith("polyprune ")]


@pytest.mark.slow
def test_the_commands_of_the_readme_run(tmp_path, narrow_e5_cache, monkeypatch):
    commands = readme_commands()
    assert len(commands) >= 6
    work_in(tmp_path, narrow_e5_cache, monkeypatch)
    for command in commands:
        if command[1] != "demo":  # tests/cli/test_demo.py
            run_command(command)


@pytest.mark.slow
def test_the_examples_of_every_help_run(tmp_path, narrow_e5_cache, monkeypatch):
    work_in(tmp_path, narrow_e5_cache, monkeypatch)
    run_above = readme_commands()
    for verb, command in typer.main.get_command(cli.app).commands.items():
        example = shlex.split(command.epilog)
        assert example[:2] == ["polyprune", verb]
        if verb != "demo" and example not in run_above:  # tests/cli/test_demo.py
            run_command(example)


def work_in(folder, cache, monkeypatch):
    """A working directory with what examples read, and a cache with e5-small in it."""
    write_text(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


def write_text(folder):
    """What the examples read: configs, tasks, and probe sentences, a file a language in `text`."""
    xtreme_folder(folder / "xtreme")
    (folder / "configs").symlink_to(REPOSITORY / "configs")
    (folder / "text").mkdir()
    for code, lines in probe_texts().items():
        (folder / "text" / f"{code}.txt").write_text("\n".join(lines), encoding="utf-8")


def run_command(command):
    """Run a command as a shell would, with `> file` at its end or without."""
    words, into = (command[:-2], command[-1]) if command[-2] == ">" else (command, None)
    if "--speed" in words:  # beside other tests a machine is never quiet
        words = [*words, "--allow-noisy"]
    status, out, error = polyprune(*words[1:])
    assert status == 0, (command, error)
    if into is not None:
        Path(into).write_text(out, encoding="utf-8")


def run_python(script, cwd, environment):
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=cwd, capture_output=True, text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,  # others are busy beside it
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    return run
