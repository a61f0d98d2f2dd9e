"""`polyprune demo`, as a user types it."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time

import pytest
import typer

import polyprune as pp
from polyprune import cli
from polyprune.demo import run_tour
from polyprune.demo.output_folder import KEPT
from polyprune.demo.tour import Stage, StageTable, TourModel
from polyprune.miniature import write_tasks as miniature
from support.commands import polyprune


@pytest.fixture
def two_stages(monkeypatch):
    """A tour that makes what the real one makes, of nothing."""

    def make(tour, progress):
        for name in progress.track("making", ("model", "elastic", "tasks")):
            (tour.work / name).mkdir()
        tour.note_scores(TourModel("dense", 0.0, tour.work), "retrieval", "accuracy", {"sw": 90.0})
        return StageTable("What was made", ("name", "count"), (("folders", "3"),))

    def fail(tour, progress):
        raise MemoryError

    shown = [Stage("make", make)]
    monkeypatch.setattr(run_tour, "tour_stages", lambda plan: shown)
    return shown, Stage("fail", fail)


def test_a_tour_tells_what_it_did_and_where_it_is(two_stages, tmp_path):
    out = tmp_path / "tour"
    status, told, _ = polyprune("demo", "--model", "sprout", "--out", out)
    assert status == 0
    assert sorted(path.name for path in out.iterdir()) == sorted(KEPT)
    assert "1 of 1. What was made" in told
    assert f"polyprune shrink {out}/elastic" in told.replace("\n", " ")
    assert [path.name for path in tmp_path.iterdir()] == ["tour"]


def test_a_tour_as_json(two_stages, tmp_path):
    answer = json.loads(polyprune("demo", "--model", "sprout", "--out", tmp_path, "--json")[1])
    assert answer["results"][0]["mean"] == {"accuracy": 90}
    assert answer["out"] == str(tmp_path)


def test_a_folder_that_is_not_empty_needs_force(two_stages, tmp_path):
    (tmp_path / "notes").write_text("mine")
    status, told, error = polyprune("demo", "--model", "sprout", "--out", tmp_path)
    assert (status, told) == (2, "")
    assert "is not empty" in error
    assert polyprune("demo", "--model", "sprout", "--out", tmp_path, "--force")[0] == 0
    assert (tmp_path / "notes").read_text() == "mine"


def test_a_tour_that_fails_leaves_nothing(two_stages, tmp_path):
    shown, fail = two_stages
    shown.append(fail)
    with pytest.raises(MemoryError):
        polyprune("demo", "--model", "sprout", "--out", tmp_path / "tour")
    assert list(tmp_path.iterdir()) == []


def test_without_the_real_model_it_says_so(two_stages, tmp_path, monkeypatch):
    monkeypatch.setattr("polyprune.demo.tour_plan.find_spec", lambda name: None)
    status, _, error = polyprune("demo", "--out", tmp_path / "tour")
    assert status == 0
    assert "sprout" in error


def test_the_tasks_alone(tmp_path, monkeypatch):
    def write(folder, progress):
        for name in progress.track("Writing", ("xnli", "udpos")):
            (folder / name).mkdir(parents=True)
            (folder / name / "test-en.tsv").write_text("")

    monkeypatch.setattr(miniature, "write_miniature", write)
    status, told, _ = polyprune("demo", "--data-only", "--out", tmp_path / "tasks")
    assert status == 0
    assert "udpos" in told
    assert (tmp_path / "tasks" / "xnli" / "test-en.tsv").is_file()
    answer = polyprune("demo", "--data-only", "--out", tmp_path / "more", "--json")[1]
    assert json.loads(answer)["files"] == {"udpos": 1, "xnli": 1}


@pytest.mark.slow
def test_the_whole_tour_and_what_to_do_next(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = shlex.split(typer.main.get_command(cli.app).commands["demo"].epilog)
    assert example == ["polyprune", "demo", "--quick", "--out", "tour"]
    status, told, error = polyprune(*example[1:], "--model", "sprout")
    assert status == 0, error
    assert max(map(len, told.partition("Next:")[0].splitlines())) <= 80
    assert pp.load(tmp_path / "tour" / "model").readout_kind.name == "masked-lm"
    assert pp.load(tmp_path / "tour" / "elastic").at(sparsity=0.7).elastic is None
    lines = (tmp_path / "tour" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    scored = {(row["system"], row["task"]) for row in rows if "task" in row}
    assert {("recovered", "retrieval"), ("pruned", "masked words"), ("elastic", "udpos")} <= scored
    assert {row["system"] for row in rows if "kept" in row} == {
        "dense", "pruned", "recovered", "elastic",
    }  # fmt: skip
    for line in told.splitlines():
        if line.startswith("polyprune "):
            status, _, error = polyprune(*shlex.split(line)[1:])
            assert status == 0, (line, error)


@pytest.mark.slow
def test_a_tour_that_is_killed_leaves_nothing(tmp_path):
    words = ["demo", "--model", "sprout", "--quick", "--out", "tour"]
    process = subprocess.Popen(
        [sys.executable, "-m", "polyprune", *words], cwd=tmp_path,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ,
    )  # fmt: skip
    while not list(tmp_path.glob(".tour.*/pruned-0.3")):
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    assert process.wait() != 0
    assert list(tmp_path.iterdir()) == []
