"""A run is understood from its files at any time, by somebody who only reads."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as some

from polyprune.errors import CheckpointError
from polyprune.training.log_tail import MOST, DownsampledSeries, LogTail
from polyprune.training.run_location import Timestamp, recent_speed
from polyprune.training.run_progress import RunReader
from support.run_folders import NOW, add, entry, touch, write_run
from support.runs import tiny_run, train


def read(folder, now=NOW):
    found = RunReader(folder).read(now)
    assert found is not None
    return found


def test_before_the_first_step_it_says_what_will_be_done(tmp_path):
    found = read(write_run(tmp_path / "run", begun=5))
    assert (found.state, found.step, found.steps) == ("preparing", 0, 40)
    assert found.plan.phases == ("gates", "joint")
    assert (found.plan.model, found.plan.corpus, found.plan.gating) == (
        "sprout",
        "sample",
        "learned",
    )
    assert found.losses == {}
    assert found.left_seconds is None


def test_a_running_one_has_its_last_losses_and_the_time_that_is_left(tmp_path):
    steps = [entry(step, loss=8 - step / 10) for step in range(1, 21)]
    found = read(write_run(tmp_path / "run", steps, begun=101, last=1))
    assert (found.state, found.step, found.phase) == ("training", 20, "joint")
    assert found.losses["total"] == 6.0
    assert found.traces["total"] == tuple(8 - step / 10 for step in range(1, 21))
    assert found.steps_per_second == pytest.approx(0.2)
    assert found.left_seconds == pytest.approx(100)
    assert found.tokens_per_second == pytest.approx(20)
    assert found.elapsed_seconds == pytest.approx(101)
    assert (found.density, found.expected_density) == (0.5, 0.6)


def test_held_out_losses_stay_until_there_are_newer_ones(tmp_path):
    dense = {"en": 4.0, "sw": 4.0, "ur": 4.0}
    measured = entry(2, held_out={"en": 4.2, "sw": 4.2, "ur": 6.0})
    found = read(write_run(tmp_path / "run", [entry(1), measured, entry(3)], dense))
    assert found.held_out == {"en": 4.2, "sw": 4.2, "ur": 6.0}
    assert found.held_out_step == 2
    assert found.dense == dense
    assert found.lagging == ("ur",)
    assert found.sizes == {"en": 0.5}


def test_a_killed_one_says_for_how_long_nothing_was_written(tmp_path):
    found = read(write_run(tmp_path / "run", [entry(1), entry(2)], begun=1000, last=720))
    assert found.state == "silent"
    assert found.silent_seconds == pytest.approx(720)
    assert found.elapsed_seconds == pytest.approx(280)
    assert found.left_seconds is None


def test_slow_steps_are_no_silence(tmp_path):
    folder = write_run(tmp_path / "run", [entry(1), entry(2)], begun=300, last=100)
    assert read(folder).state == "training"


def test_the_clock_of_another_machine_may_be_ahead(tmp_path):
    found = read(write_run(tmp_path / "run", [entry(1)], begun=10, last=-30))
    assert (found.state, found.silent_seconds) == ("training", 0.0)


def test_a_finished_one_has_its_model(tmp_path):
    folder = write_run(tmp_path / "run", [entry(step) for step in range(1, 41)], last=900)
    (folder / "model").mkdir()
    (folder / "model" / "config.json").write_text("{}")
    found = read(folder)
    assert (found.state, found.step, found.left_seconds) == ("finished", 40, None)


def test_what_is_no_number_is_none(tmp_path):
    entries = [entry(1, loss=None), entry(2, loss=float("nan"), held_out={"en": None, "sw": 4.0})]
    found = read(write_run(tmp_path / "run", entries, {"en": 4.0, "sw": float("inf")}))
    assert found.losses == {"mlm": None, "sparsity": 0.5, "total": None}
    assert found.traces["total"] == (None, None)
    assert found.held_out == {"en": None, "sw": 4.0}
    assert found.dense == {"en": 4.0, "sw": None}
    assert found.lagging == ()


def test_a_half_written_line_waits_until_it_is_whole(tmp_path):
    folder = write_run(tmp_path / "run", [entry(1)])
    reader = RunReader(folder)
    text = json.dumps(entry(2, loss=2.5)) + "\n"
    for cut in range(0, len(text), 40):
        with (folder / "log.jsonl").open("a") as file:
            file.write(text[cut : cut + 40])
        found = reader.read(NOW)
        assert found is not None
        assert found.step == (1 if cut + 40 < len(text) else 2)
    assert found.losses["total"] == 2.5


def test_a_log_that_a_checkpoint_took_back_is_read_anew(tmp_path):
    folder = write_run(tmp_path / "run", [entry(step, loss=9.0) for step in range(1, 8)])
    reader, log = RunReader(folder), folder / "log.jsonl"
    assert reader.read(NOW).step == 7
    log.write_text("")
    assert reader.read(NOW).step == 0
    add(log, [entry(step, loss=5.0) for step in range(1, 4)])
    found = reader.read(NOW)
    assert (found.step, found.traces["total"]) == (3, (5.0, 5.0, 5.0))


def test_a_log_that_was_taken_back_and_has_overtaken_is_read_anew(tmp_path):
    folder = write_run(tmp_path / "run", [entry(step, loss=9.0) for step in range(1, 4)])
    reader, log = RunReader(folder), folder / "log.jsonl"
    assert reader.read(NOW).step == 3
    log.unlink()
    add(log, [entry(step, loss=5.0) for step in range(1, 9)])
    assert reader.read(NOW).traces["total"] == (5.0,) * 8


def test_lines_that_are_no_steps_are_passed_over(tmp_path):
    folder = write_run(tmp_path / "run", [entry(1)])
    with (folder / "log.jsonl").open("ab") as file:
        file.write(b"\0\0\0\n[1]\n{}\n" + json.dumps({"step": 2, "losses": 3}).encode() + b"\n")
    assert read(folder).step == 2


def test_each_line_is_read_once(tmp_path):
    folder = write_run(tmp_path / "run", [entry(step) for step in range(1, 1001)])
    tail = LogTail(folder / "log.jsonl")
    assert len(tail.read()[1]) == 1000
    add(tail.path, [entry(1001)])
    assert tail.read() == (False, [entry(1001)])
    assert tail.read() == (False, [])


@given(some.lists(some.floats(0, 10) | some.none(), max_size=3 * MOST))
def test_a_trace_is_short_and_keeps_the_mean(values):
    trace = DownsampledSeries()
    for value in values:
        trace.add(value)
    assert len(trace.values) <= MOST
    if len(values) < MOST:
        assert trace.values == tuple(values)
    known = [value for value in trace.values if value is not None]
    given = [value for value in values if value is not None]
    assert bool(known) == bool(given)
    if given:
        assert min(given) - 1e-9 <= min(known) <= max(known) <= max(given) + 1e-9


def test_the_pace_is_the_present_one():
    night = [
        Timestamp(0.0, 0),
        Timestamp(100.0, 100),
        Timestamp(40_000.0, 101),
        Timestamp(40_040.0, 181),
    ]
    assert recent_speed(night) == pytest.approx(2.0)
    assert recent_speed([Timestamp(0.0, 0)]) is None
    assert recent_speed([]) is None
    assert recent_speed([Timestamp(5.0, 1), Timestamp(5.0, 2)]) is None


def test_checkpoints_tell_the_pace_of_a_run_that_went_on(tmp_path):
    folder = write_run(tmp_path / "run", [entry(1), entry(30)], begun=90_000, last=0)
    saved = folder / "checkpoints" / "step-0000020"
    saved.mkdir(parents=True)
    touch(saved, 40)
    assert read(folder).steps_per_second == pytest.approx(0.25)


def test_of_settings_that_are_tried_in_turn_the_present_one_is_shown(tmp_path):
    folder = tmp_path / "tuned"
    done = folder / "lr-1e-05-epochs-1-seed-1"
    done.mkdir(parents=True)
    (folder / "tuning.json").write_text("{}")
    (folder / "examples.arrow").write_text("")
    add(done / "log.jsonl", [entry(1)])
    assert (read(folder).state, read(folder).runs_done) == ("training", 1)
    wrong = entry(3, held_out={"en": 0.25})
    labels = {"objective": {"labels": 1.0}}
    write_run(folder / "lr-2e-05-epochs-1-seed-1", [wrong], **labels)
    found = read(folder)
    assert (found.step, found.runs_done, found.plan.measure) == (3, 1, "wrong")
    assert "lr-2e-05" in found.name


def test_a_model_that_recovers_is_found_by_the_name_it_will_have(tmp_path):
    write_run(tmp_path / "half.recovery" / "run", [entry(4)])
    assert read(tmp_path / "half").step == 4
    assert read(tmp_path / "half.recovery").step == 4


def test_a_model_that_has_recovered_keeps_its_log(tmp_path):
    (tmp_path / "half").mkdir()
    add(tmp_path / "half" / "training.jsonl", [entry(9, held_out={"en": 3.0})])
    found = read(tmp_path / "half")
    assert (found.state, found.step, found.held_out) == ("finished", 9, {"en": 3.0})


def test_what_is_no_run_is_none(tmp_path):
    assert RunReader(tmp_path / "nowhere").read(NOW) is None
    assert RunReader(tmp_path).read(NOW) is None
    (tmp_path / "run.json").write_text('{"phases": 3}')
    assert RunReader(tmp_path).read(NOW) is None


def test_a_damaged_record_is_told(tmp_path):
    folder = write_run(tmp_path / "run")
    (folder / "run.json").write_text('{"phases": [')
    with pytest.raises(CheckpointError, match=r"run\.json is damaged.*`force`"):
        RunReader(folder).read(time.time())


def test_a_real_run_is_followed_step_by_step_without_a_trace(speaking, text, tmp_path):
    run, out = tiny_run(speaking, text), tmp_path / "run"
    reader, steps = RunReader(out), []
    for report in train(run, out):
        before = sorted(out.rglob("*"))
        found = reader.read(time.time())
        assert sorted(out.rglob("*")) == before
        assert found is not None
        assert found.losses == pytest.approx(report.losses)
        steps.append(found.step)
    assert steps == [1, 2, 3, 4, 5, 6]
    found = reader.read(time.time())
    assert (found.state, found.steps) == ("finished", 6)
    assert set(found.held_out) == set(found.dense) != set()
