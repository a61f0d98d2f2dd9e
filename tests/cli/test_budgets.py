"""`polyprune prune` by size and speed, on a machine whose speed is known."""

from functools import partial

import pytest

import polyprune as pp
from polyprune.api import selecting
from polyprune.errors import ConfigError
from polyprune.measuring import latency_timing
from polyprune.model.history import history_of
from polyprune.quantities import parse_bytes, parse_seconds, parse_speed_up
from support.clocks import Machine, put
from support.commands import answer, polyprune, refused
from support.models import speaking_model
from support.text import SENTENCES


@pytest.fixture
def machine(monkeypatch, tmp_path):
    machine = put(Machine(mixed=1.1), monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(
        latency_timing, "measure_table", partial(latency_timing.measure_table, clock=machine)
    )
    monkeypatch.setattr(selecting, "Speed", partial(selecting.Speed, clock=machine))
    return machine


def prune(folder, *options):
    return ("prune", folder, "--method", "magnitude", *options)


def test_a_speedup_is_asked_for_and_got(tmp_path, dense, machine):
    out = tmp_path / "fast"
    report = answer(*prune(dense, "--speedup", "2x", "--speed-at", "1x8", "--out", out))
    found = report["speed"]
    before, after = (machine.seconds(pp.load(path).shape) for path in (dense, out))
    assert 2 <= before / after < 2.3
    assert found["speedup"] == pytest.approx(before / after)
    assert found["low"] <= found["speedup"] <= found["high"]
    assert (found["batch"], found["tokens"], found["binds"]) == (1, 8, ["time"])


def test_a_speedup_by_text_is_reached_in_three_rounds(tmp_path, machine):
    whole = pp.load(speaking_model(tmp_path))
    made = pp.prune(whole, corpus=SENTENCES, speedup=2.0, speed_at="1x8", sentences=4, tokens=16)
    assert history_of(made.model.config).cuts[-1].rounds == 3
    true = machine.seconds(whole.shape) / machine.seconds(made.model.shape)
    assert 2 <= true < 2.3
    found = made.as_dict()
    assert found["speed"]["speedup"] == pytest.approx(true)
    assert found["speed"]["asked"]["speedup"] == 2
    assert found["parameters"] == made.model.num_parameters()
    assert found["largest_difference"] < 1e-4


def test_two_budgets_hold_at_once(tmp_path, dense, machine):
    options = ("--latency", "9ms", "--parameters", "9000", "--speed-at", "1x8")
    report = answer(*prune(dense, *options, "--out", tmp_path / "both"))
    small = pp.load(tmp_path / "both")
    assert small.num_parameters() == report["parameters"] <= 9000
    assert machine.seconds(small.shape) <= 9.001e-3


def test_a_file_is_no_larger_than_asked_for(tmp_path, dense):
    out = tmp_path / "small"
    answer(*prune(dense, "--size", "40kB", "--out", out))
    size = (out / "model.safetensors").stat().st_size
    assert 30_000 < size <= 40_000


def test_people_are_told_what_binds(tmp_path, dense, machine):
    options = ("--speedup", "2", "--speed-at", "1x8", "--out", tmp_path / "fast")
    status, shown, _ = polyprune(*prune(dense, *options))
    assert status == 0
    words = " ".join(shown.split())
    assert "Asked for 2 × at 1 × 8 tokens on 1 thread: measured 2." in words
    assert "which is reached. What binds is time: more would be slower." in words


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ((), "Give a budget: --sparsity 0.5"),
        (("--speedup", "0.5"), "A speed-up is a number from 1"),
        (("--speedup", "fast"), "such as 2 or 2.5x, not 'fast'"),
        (("--latency", "10"), "A latency is a time such as 10ms"),
        (("--size", "big"), "A size is such as 2GB"),
        (("--speedup", "2", "--latency", "1ms"), "not for both"),
        (("--speedup", "2", "--sparsity", "0.5"), "A sparsity goes with --parameters and --size"),
        (("--speedup", "2", "--speed-at", "128"), "sentences x tokens, such as 1x128"),
        (("--speedup", "2", "--exact"), "go with a --sparsity"),
        (("--speedup", "2", "--elastic"), "--latency, --exact"),
        (("--speedup", "9000"), "what cannot be pruned takes 1 ms on this machine"),
        (("--speedup", "2", "--parameters", "1000"), "cannot both be kept"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, dense, machine, options, why):
    (tmp_path / "cache").mkdir()
    place = tmp_path / "here"
    place.mkdir()
    assert why in refused(place, *prune(dense, *options, "--out", place / "small"))


def test_numbers_are_read_as_people_write_them():
    assert parse_bytes("1.5 GiB") == 1.5 * 2**30
    assert parse_bytes("500MB") == 500_000_000
    assert [parse_seconds(t) for t in ("10ms", "0.5 s", "800us")] == pytest.approx(
        [0.01, 0.5, 8e-4]
    )
    assert (parse_speed_up("2"), parse_speed_up("2.5×")) == (2.0, 2.5)
    assert (parse_bytes(None), parse_seconds(None), parse_speed_up(None)) == (None, None, None)
    for reader, text in (
        (parse_seconds, "0ms"),
        (parse_bytes, "0MB"),
        (parse_speed_up, "x"),
        (parse_seconds, "1h"),
    ):
        with pytest.raises(ConfigError, match="such as"):
            reader(text)
