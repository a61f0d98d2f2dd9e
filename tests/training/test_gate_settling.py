"""Learned gates are settled when they are written, and the printed loss is that of the file."""

import pytest
import torch

import polyprune as pp
from polyprune.jsonl import read_log
from polyprune.model.history import history_of
from polyprune.pruning.selection.ranking import density_of
from polyprune.training.run_results import summarize_run
from polyprune.training.written_loss import written_losses
from support.runs import finished, tiny_run

PHASES = [
    {"steps": 3, "train": "gates", "gates_learning_rate": 0.5},
    {"steps": 3, "gates_learning_rate": 0.5, "sharpness": 50.0, "sharpen": 2},
]
CONSTRAINT = {
    "gating": {"kind": "learned", "setting": "non-shared", "init_std": 1.0},
    "penalties": {"sparsity": 8},
    "phases": [{**phase, "sharpness": 1.0} for phase in PHASES],
}
EXACT = {
    "gating": {"kind": "learned", "setting": "non-shared", "init_std": 1.0, "common": 3.0},
    "penalties": {"kind": "exact", "diversity": 1},
    "phases": PHASES,
}
RECOVERED = {**EXACT, "phases": [*PHASES, {"steps": 2, "train": "weights"}]}
NATIVE = {**CONSTRAINT, "penalties": {"kind": "native", "sparsity": 1}}
BEST = {**CONSTRAINT, "saving": {"held_out_every": 2, "final": "best", "trackers": []}}


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(CONSTRAINT, id="constraint", marks=pytest.mark.slow),
        pytest.param(EXACT, id="exact", marks=pytest.mark.slow),
        pytest.param(NATIVE, id="native", marks=pytest.mark.slow),
        pytest.param(BEST, id="best", marks=pytest.mark.slow),
        pytest.param(RECOVERED, id="recovered"),
    ],
)
def test_the_printed_loss_is_that_of_the_written_model(speaking, text, tmp_path, changes):
    run = tiny_run(speaking, text, **changes)
    finished(run, tmp_path / "run")
    printed = summarize_run(tmp_path / "run")["held_out"]
    model = pp.load(tmp_path / "run" / "model")
    assert printed == pytest.approx(written_losses(model, run, tmp_path / "run"), rel=1e-4)
    told = history_of(model.config).trainings[-1].held_out
    assert told == pytest.approx(sum(printed.values()) / len(printed))


def test_sharp_gates_are_settled_already(speaking, text, tmp_path):
    finished(tiny_run(speaking, text, **EXACT), tmp_path / "run")
    log = read_log(tmp_path / "run" / "log.jsonl")
    assert all({"open", "at_zero", "at_one"} <= line["gates"].keys() for line in log)
    decided = [line["gates"]["at_zero"] + line["gates"]["at_one"] for line in log]
    assert decided[-1] > decided[0] + 0.2
    gates = summarize_run(tmp_path / "run")["gates"]
    assert gates.at_zero + gates.at_one > 0.9
    assert gates.settled <= 0.05
    assert gates.expected == pytest.approx(0.5, abs=1e-3)
    model = pp.load(tmp_path / "run" / "model")
    assert not dict(model.elastic.gating.named_parameters()).keys() - {"alpha"}
    small = [model.at(language=code) for code in model.elastic.rows]
    assert len({each.shape for each in small}) > 1 or len(small) == 1


def test_soft_gates_are_not_and_the_run_says_so(speaking, text, tmp_path):
    finished(tiny_run(speaking, text, **CONSTRAINT), tmp_path / "run")
    gates = summarize_run(tmp_path / "run")["gates"]
    assert gates.at_zero + gates.at_one < 0.9
    assert gates.settled > 0.01
    assert "They have not converged" in gates.describe()


@pytest.mark.slow
def test_settled_gates_stay_while_weights_recover(speaking, text, tmp_path):
    finished(tiny_run(speaking, text, **RECOVERED), tmp_path / "run")
    log = read_log(tmp_path / "run" / "log.jsonl")
    assert [bool(line["gates"]) for line in log] == [True] * 6 + [False] * 2
    settled = [line["sizes"] for line in log if line["sizes"]][-1]
    model = pp.load(tmp_path / "run" / "model")
    opened = model.elastic.every_row().map(lambda gate: (gate > 0).float())
    sizes = density_of(opened, model.elastic.weights)
    torch.testing.assert_close(sizes, torch.tensor(list(settled.values())).to(sizes))
