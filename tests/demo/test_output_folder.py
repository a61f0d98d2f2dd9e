"""What the tour leaves, and that it leaves nothing by halves."""

import json
import shlex

import pytest
from typer.main import get_command

from polyprune import cli
from polyprune.config import read_run
from polyprune.demo.output_folder import (
    KEPT,
    check_free,
    move_in,
    next_commands,
    temporary_folder,
    train_config,
    write_lines,
)
from polyprune.demo.tour import Stage, StageTable, Tour, TourModel, by_language
from polyprune.demo.tour_plan import TourPlan, TourTexts
from polyprune.errors import ConfigError
from polyprune.progress import SILENT
from polyprune.reporting.read.sources import read_results


def test_a_folder_has_to_be_free_unless_told(tmp_path):
    check_free(tmp_path, force=False)
    (tmp_path / "page.html").write_text("mine")
    check_free(tmp_path, force=True)
    with pytest.raises(ConfigError, match=r"not empty\. Choose another --out, or pass --force"):
        check_free(tmp_path, force=False)
    with pytest.raises(ConfigError, match="is a file"):
        check_free(tmp_path / "page.html", force=True)


def test_a_failure_leaves_nothing(tmp_path):
    out = tmp_path / "deep" / "out"

    def fail():
        with temporary_folder(out) as work:
            (work / "half").write_text("written")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list((tmp_path / "deep").iterdir()) == []


def test_what_is_new_replaces_its_own_name_alone(tmp_path):
    out = tmp_path / "out"
    (out / "text").mkdir(parents=True)
    (out / "text" / "old.txt").write_text("old")
    (out / "notes.md").write_text("somebody's")
    with temporary_folder(out) as work:
        (work / "text").mkdir()
        (work / "text" / "new.txt").write_text("new")
        (work / "page.html").write_text("new")
        move_in({name: work / name for name in ("text", "page.html")}, out, work)
    assert sorted(path.name for path in out.rglob("*")) == [
        "new.txt", "notes.md", "page.html", "text",
    ]  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_config_is_one(tmp_path):
    path = tmp_path / "train.toml"
    path.write_text(train_config(tmp_path / 'a "quoted" place'), encoding="utf-8")
    run = read_run(path)
    assert run.gating.every_size
    assert run.corpus.source == str(tmp_path / 'a "quoted" place' / "text")


def test_the_next_commands_are_commands_with_options_that_they_have(tmp_path):
    known = get_command(cli.app).commands
    verbs = []
    for _, line in next_commands(tmp_path):
        program, verb, *words = shlex.split(line)
        assert program == "polyprune"
        options = {option for each in known[verb].params for option in each.opts}
        assert {word for word in words if word.startswith("--")} <= options
        verbs.append(verb)
    assert verbs == ["prune", "train", "shrink", "finetune", "evaluate"]


def test_what_is_not_a_number_is_null_in_a_file(tmp_path):
    tour = Tour(TourPlan(), tmp_path, TourTexts(tmp_path, {"en": ["one"]}))
    system = TourModel("pruned", 0.5, tmp_path)
    tour.note_scores(system, "retrieval", "accuracy", {"sw": float("nan"), "ur": 50.0})
    tour.note_scores(system, "retrieval", "accuracy", {"sw": float("nan")})
    stage = Stage("wait", lambda tour, progress: StageTable("", (), ()))
    tour.take(stage, SILENT)
    write_lines(tmp_path / "results.jsonl", tour.records("polyprune demo"))
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    first, second, third = map(json.loads, lines)
    assert first["languages"] == {"sw": {"accuracy": None}, "ur": {"accuracy": 50}}
    assert (first["mean"], second["mean"]) == ({"accuracy": 50}, {"accuracy": None})
    assert third["stage"] == "wait"
    assert third["seconds"] >= 0
    assert {"polyprune", "torch"} <= first["versions"].keys()
    assert "threads" in first["machine"]


def test_what_a_tour_writes_is_read_as_results(tmp_path):
    tour = Tour(TourPlan(), tmp_path, TourTexts(tmp_path, {"en": ["one"]}))
    for name, size, value in (("dense", 0.0, 90.0), ("pruned", 0.5, 60.0)):
        system = TourModel(name, size, tmp_path)
        tour.note_scores(system, "retrieval", "accuracy", {"sw": value})
        tour.note(system, parameters=10, ratio=1 + size, low=1.0, high=2.0)
    write_lines(tmp_path / "results.jsonl", tour.records("polyprune demo"))
    results = read_results([str(tmp_path)])
    assert [(each.name, each.sparsity) for each in results.systems] == [
        ("dense", None), ("pruned", 0.5),
    ]  # fmt: skip
    assert results.scores[1].languages == {"sw": {"accuracy": 60}}
    assert results.sizes[1].faster == 1.5
    assert results.about["command"] == "polyprune demo"


def test_means_are_of_numbers():
    table = by_language("found", {"dense": {"sw": 50.0, "ur": float("nan")}})
    assert table.rows == (("sw", "50.0"), ("ur", "–"), ("mean", "50.0"))


def test_everything_that_is_left_is_described():
    assert list(KEPT)[-1] == "page.html"
    assert all(KEPT.values())
