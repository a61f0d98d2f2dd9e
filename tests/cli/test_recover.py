"""`polyprune recover`, as a user types it."""

import json

import polyprune as pp
from support.commands import answer, polyprune, refused


def test_a_pruned_folder_is_trained_on_with_its_teacher(speaking, text, tmp_path):
    half, out = tmp_path / "half", tmp_path / "recovered"
    answer("prune", speaking, "--corpus", text, "--sparsity", 0.5, "--sentences", 6, "--out", half)
    options = ("--teacher", speaking, "--corpus", text, "--steps", 3, "--tokens", 16)
    found = answer("recover", half, *options, "--out", out)
    assert found["out"] == str(out)
    assert found["steps"] == 3
    assert found["parameters"] == pp.load(half).num_parameters()
    log = (out / "training.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in log] == [1, 2, 3]
    assert json.loads(log[-1])["losses"] == found["losses"]
    assert polyprune("check", out)[0] == 0
    again = (*options, "--seed", 1, "--out", out)
    assert f"{out} exists already" in refused(tmp_path, "recover", half, *again)


def test_people_see_how_the_loss_fell(speaking, text, tmp_path):
    options = ("--corpus", text, "--steps", 3, "--tokens", 16, "--out", tmp_path / "out")
    status, shown, _ = polyprune("recover", speaking, *options)
    assert status == 0
    assert "recovery" in shown
    assert f"Written to {tmp_path / 'out'} after 3 steps." in " ".join(shown.split())


def test_recovery_needs_text_and_a_step(speaking, tmp_path):
    out = ("--out", tmp_path / "out")
    assert "give --corpus" in refused(tmp_path, "recover", speaking, *out)
    status, _, error = polyprune("recover", speaking, "--corpus", "sample", "--steps", 0, *out)
    assert status == 2
    assert "--steps" in error


def test_minutes_go_with_auto(speaking, tmp_path):
    out = ("--corpus", "sample", "--out", tmp_path / "out")
    told = refused(tmp_path, "recover", speaking, *out, "--minutes", 3)
    assert "give --steps auto too" in told
    pruned = ("prune", speaking, "--sparsity", 0.5, *out)
    assert "give --recover auto too" in refused(tmp_path, *pruned, "--minutes", 3)
    auto = ("--recover", "auto", "--minutes", 0)
    assert "--minutes are more than 0" in refused(tmp_path, *pruned, *auto)
    assert "--recover is a number of steps" in refused(tmp_path, *pruned, "--recover", "some")


def test_minutes_are_spent_and_told(speaking, text, tmp_path):
    out = tmp_path / "half"
    auto = ("--recover", "auto", "--minutes", 0.05, "--tokens", 16)
    found = answer("prune", speaking, "--corpus", text, "--sparsity", 0.5, *auto, "--out", out)
    recovery = found["recovery"]
    assert recovery["chosen"]["steps"] >= recovery["steps"] >= recovery["kept_step"]
    assert recovery["held_out"].keys() == recovery["held_out_before"].keys() != set()
    assert not (tmp_path / "half.recovery").exists()
