"""What the documents say is true: names exist, examples run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest
import typer

import polyprune as pp
from polyprune import cli
from polyprune.corpora.probes import probe_texts
from support.commands import polyprune
from support.models import speaking_model
from support.own_tasks import write_file, write_own_task
from support.paths import REPOSITORY
from support.text import SENTENCES
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


TUTORIALS = ("tutorials/classifier.md", "tutorials/tagger.md")


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS)
def test_the_tutorials_run(page, tmp_path, monkeypatch):
    """All their commands, one after the other, on a few sentences and with a small model."""
    write_labelled(tmp_path / "xtreme")
    monkeypatch.chdir(tmp_path)
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8").replace("e5-small", "sprout")
    text = text.replace("--minutes 5", "--minutes 0.05")
    lines = "\n".join(re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)).splitlines()
    commands = [shlex.split(line, comments=True) for line in lines if line.startswith("polyprune ")]
    assert {command[1] for command in commands} == {"ls", "finetune", "evaluate", "prune", "report"}
    for line in lines:
        if line.startswith("polyprune "):
            run_command(shlex.split(line, comments=True))
        elif line:
            subprocess.run(["bash", "-c", line], check=True)
    (card,) = tmp_path.glob("half*/README.md")
    assert "accuracy" in card.read_text(encoding="utf-8").lower()


def write_labelled(folder):
    """Two dozen pairs and tagged sentences in every language of the tutorials."""
    for code in ("ar", "de", "en", "fi", "ru", "sw", "tr", "zh"):
        lines = 2 * SENTENCES.get(code, SENTENCES["en"])  # enough to hold some out
        pairs = [
            f"{a}\t{b}\t{('entailment', 'neutral')[i % 2]}\n"
            for i, (a, b) in enumerate(pairwise(lines))
        ]
        tags = ["".join(f"{word}\tTAG{len(word) % 2}\n" for word in s.split()) for s in lines]
        write_file(folder / "xnli" / f"dev-{code}.tsv", "".join(pairs))
        for split in ("train", "dev"):
            write_file(folder / "udpos" / f"{split}-{code}.tsv", "\n".join(tags))


@pytest.mark.slow
def test_the_commands_for_tasks_of_ones_own_run(tmp_path, monkeypatch):
    text = (REPOSITORY / "docs" / "own-tasks.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    write_own_task(Path("reviews"), "classification", "tsv")
    start = speaking_model(tmp_path / "start")
    run_command(["polyprune", "finetune", start, "--data", "reviews", "--epochs", 1, "--out", "a"])
    for name in ("MODEL", "other"):
        shutil.copytree("a/model", name)
    for line in block.splitlines():
        run_command(shlex.split(line, comments=True))
    assert Path("tuned/model/config.json").is_file()


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
