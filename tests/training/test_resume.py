"""A run that is stopped is the run that was not: bit by bit, line by line."""

import json
from pathlib import Path

import pytest

from polyprune.errors import CheckpointError, ConfigError
from support.models import speaking_model
from support.runs import finished, tiny_run, train, weights


@pytest.mark.parametrize("stops", [pytest.param((1, 2, 3, 4, 5), marks=pytest.mark.slow), (6,)])
def test_a_stopped_run_ends_like_one_that_was_not(speaking, text, tmp_path, stops):
    run = tiny_run(speaking, text)
    straight = finished(run, tmp_path / "straight")
    broken = finished(run, tmp_path / "broken", stops)
    assert broken == straight
    assert [report.step for report in broken] == [1, 2, 3, 4, 5, 6]
    assert weights(tmp_path / "broken") == weights(tmp_path / "straight")
    log = (tmp_path / "broken" / "log.jsonl").read_text()
    assert log == (tmp_path / "straight" / "log.jsonl").read_text()


@pytest.mark.slow
def test_what_was_done_after_the_last_checkpoint_is_done_again_and_not_logged_twice(
    speaking, text, tmp_path
):
    run = tiny_run(speaking, text)
    finished(run, tmp_path / "straight")
    killed = train(run, tmp_path / "killed")
    for _ in range(5):  # the last checkpoint is that of step 4
        next(killed)
    killed.close()
    log = tmp_path / "killed" / "log.jsonl"
    log.write_text(log.read_text() + '{"step": 5, "los')
    (tmp_path / "killed" / "checkpoints" / ".new-step-0000006").mkdir()
    again = finished(run, tmp_path / "killed")
    assert [report.step for report in again] == [5, 6]
    assert weights(tmp_path / "killed") == weights(tmp_path / "straight")
    assert log.read_text() == (tmp_path / "straight" / "log.jsonl").read_text()


LEARNED = {
    "gating": {"kind": "learned", "setting": "non-shared"},
    "penalties": {"sparsity": 8, "diversity": 1},
    "phases": [
        {"steps": 3, "train": "gates", "gates_learning_rate": 0.1},
        {"steps": 3, "gates_learning_rate": 0.1},
    ],
}
EXACT = {
    "gating": {"kind": "learned", "setting": "non-shared", "common": 3},
    "penalties": {"kind": "exact"},
    "phases": [
        {"steps": 3, "gates_learning_rate": 0.5, "sharpness": 50},
        {"steps": 3, "train": "weights"},
    ],
}
SHARED = {
    "gating": {"kind": "learned"},
    "penalties": {"sparsity": 8, "kind": "lagrangian"},
    "phases": [{"steps": 3, "gates_learning_rate": 0.5}, {"steps": 3, "train": "weights"}],
}
DYNAMIC = {"gating": {"kind": "dynamic", "rule": "fisher", "sentences": 4}}
MOVING = {
    "gating": {
        "kind": "dynamic",
        "setting": "non-shared",
        "rule": "random",
        "learned": True,
        "common": 3.0,
    },
    "penalties": {"kind": "exact", "diversity": 0.1},
    "phases": [
        {"steps": 3, "gates_learning_rate": 0.5, "sharpness": 5.0},
        {"steps": 3, "train": "weights"},
    ],
}
TAUGHT = {"objective": {"mlm": 2, "soft": 5, "cosine": 1, "relations": 1}}
INSIDE = {"objective": {"attention": 1, "values": 1}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "stop"),
    [
        (LEARNED, 3),
        (EXACT, 2),
        (EXACT, 5),
        (SHARED, 3),
        (SHARED, 4),
        (DYNAMIC, 2),
        (MOVING, 2),
        (MOVING, 5),
        (TAUGHT, 2),
        (INSIDE, 4),
    ],
)
def test_so_does_every_kind_of_run(speaking, text, tmp_path, changes, stop):
    run = tiny_run(speaking, text, **changes)
    assert finished(run, tmp_path / "a") == finished(run, tmp_path / "b", [stop])
    assert weights(tmp_path / "a") == weights(tmp_path / "b")


def test_a_finished_run_has_nothing_left_to_do(speaking, text, tmp_path):
    run = tiny_run(speaking, text)
    finished(run, tmp_path / "run")
    assert finished(run, tmp_path / "run") == []


@pytest.mark.slow
def test_a_folder_of_another_config_is_refused_and_kept(speaking, text, tmp_path):
    finished(tiny_run(speaking, text), tmp_path / "run", [3])
    other = tiny_run(speaking, text, batch={"size": 4, "micro_batch_size": 2})
    with pytest.raises(ConfigError, match=r"batch.size: 8 there, 4 here.*`force`"):
        next(train(other, tmp_path / "run"))
    assert len(finished(other, tmp_path / "run2")) == 6
    with pytest.raises(StopIteration):
        next(train(tiny_run(speaking, text), tmp_path / "run"))


@pytest.mark.slow
def test_how_it_is_computed_may_change_on_the_way(speaking, text, tmp_path):
    finished(tiny_run(speaking, text), tmp_path / "run", [3])
    slower = tiny_run(
        speaking,
        text,
        batch={"size": 8, "micro_batch_size": 1},
        phases=[{"steps": 6, "learning_rate": 0.001, "warmup": 2}],
        engine={"checkpointing": True},
    )
    assert list(train(slower, tmp_path / "run")) == []


def test_files_that_have_changed_make_another_run(speaking, text, tmp_path):
    run = tiny_run(speaking, text)
    next(train(run, tmp_path / "run"))
    speaking_model(tmp_path / "other", "hidden-states")
    model = tmp_path / "other" / "model.safetensors"
    (speaking / "model.safetensors").write_bytes(model.read_bytes())
    with pytest.raises(ConfigError, match=r"files\.start"):
        next(train(run, tmp_path / "run"))
    with (text / "sw.txt").open("a") as file:
        file.write("Habari.\n")
    with pytest.raises(ConfigError, match=r"files\.text\.sw"):
        next(train(run, tmp_path / "run"))


@pytest.mark.slow
def test_force_removes_nothing_but_the_run(speaking, text, tmp_path):
    run = tiny_run(speaking, text)
    finished(run, tmp_path / "run")
    (tmp_path / "run" / "notes.txt").write_text("mine")
    assert len(list(train(run, tmp_path / "run", force=True))) == 6
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"


def test_a_run_json_of_something_else_is_not_ours(speaking, text, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.json").write_text("{}")
    with pytest.raises(ConfigError, match="is not a run"):
        next(train(tiny_run(speaking, text), tmp_path / "other", force=True))
    assert (tmp_path / "other" / "run.json").is_file()


@pytest.mark.slow
def test_patience_counts_in_the_last_phase_alone(speaking, text, tmp_path):
    saving = {"every": 50, "held_out_every": 1, "patience": 2, "trackers": []}
    phases = [{"steps": 5, "learning_rate": 1.0}, {"steps": 4, "learning_rate": 1e-5}]
    run = tiny_run(speaking, text, saving=saving, phases=phases)
    assert len(finished(run, tmp_path / "run")) > 6


@pytest.mark.slow
def test_force_begins_anew(speaking, text, tmp_path):
    finished(tiny_run(speaking, text), tmp_path / "run")
    reports = list(train(tiny_run(speaking, text, seed=5), tmp_path / "run", force=True))
    assert len(reports) == 6


def test_a_folder_of_something_else_is_refused(speaking, text, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    for path in (tmp_path / "mine", tmp_path / "mine" / "thesis.tex"):
        with pytest.raises(ConfigError, match="is not a run"):
            next(train(tiny_run(speaking, text), path))


def test_a_damaged_checkpoint_says_what_to_do(speaking, text, tmp_path):
    run = tiny_run(speaking, text)
    stopped = train(run, tmp_path / "run")
    for _ in range(4):
        next(stopped)
    stopped.close()
    state = sorted((tmp_path / "run" / "checkpoints").glob("step-*/state.safetensors"))[-1]
    state.write_bytes(state.read_bytes()[:1000])
    with pytest.raises(CheckpointError, match="Delete the folder"):
        next(train(run, tmp_path / "run"))


def test_only_the_latest_checkpoints_and_the_best_are_kept(speaking, text, tmp_path):
    saving = {"every": 1, "keep": 2, "held_out_every": 2, "trackers": []}
    finished(tiny_run(speaking, text, saving=saving), tmp_path / "run")
    kept = sorted(path.name for path in (tmp_path / "run" / "checkpoints").iterdir())
    last = json.loads((tmp_path / "run" / "checkpoints" / kept[-1] / "checkpoint.json").read_text())
    best = f"step-{last['best']['step']:07}"
    others = [name for name in (f"step-{step:07}" for step in range(1, 7)) if name != best]
    assert kept == sorted([best, *others[-2:]])


def test_training_stops_early_and_takes_the_best(speaking, text, tmp_path):
    saving = {"every": 50, "held_out_every": 1, "patience": 2, "trackers": []}
    phases = [{"steps": 60, "learning_rate": 1.0}]  # much too fast to get better for long
    run = tiny_run(speaking, text, saving=saving, phases=phases)
    reports = finished(run, tmp_path / "run")
    means = [sum(report.held_out.values()) / 4 for report in reports]
    best = min(range(len(means)), key=means.__getitem__)
    assert len(means) == best + 3 < 60
    assert finished(run, tmp_path / "run") == []


def checkpoint_files(out: Path) -> set[str]:
    return {path.suffix for path in (out / "checkpoints").rglob("*") if path.is_file()}


def test_checkpoints_are_safetensors_and_json(speaking, text, tmp_path):
    finished(tiny_run(speaking, text), tmp_path / "run")
    assert checkpoint_files(tmp_path / "run") == {".safetensors", ".json"}
