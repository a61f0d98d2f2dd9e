"""The card that commands write into a folder."""

import json
import os
import re
import subprocess
import sys

import pytest
from huggingface_hub import ModelCard

import polyprune as pp
from polyprune.model.history import history_of
from polyprune.provenance.card import BEGIN
from support.commands import answer, polyprune
from support.models import speaking_model


def read(folder) -> str:
    return (folder / "README.md").read_text(encoding="utf-8")


def data(folder) -> dict:
    return ModelCard(read(folder)).data.to_dict()


def run_snippets(*folders) -> str:
    """As somebody would who copies them, where the folders lie; one after the other."""
    found = [re.findall(r"^```python\n(.*?)^```$", read(folder), re.S | re.M) for folder in folders]
    assert [len(scripts) for scripts in found] == [1] * len(folders)
    script = "\n".join(f"exec({scripts[0]!r}, {{}})" for scripts in found)
    parent = folders[0].parent
    home = {"HF_HOME": str(parent / "hf"), "HF_HUB_OFFLINE": "1"}
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=parent, env=os.environ | home,
        capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout


@pytest.fixture
def typed(monkeypatch):
    """Let commands that run in this process know how they were typed."""

    def run(*arguments):
        words = [str(argument) for argument in arguments]
        monkeypatch.setattr(sys, "argv", ["polyprune", *words])
        return answer(*words)

    return run


def test_a_pruned_model_tells_how_it_was_made(tmp_path, speaking, text, typed):
    (speaking / "README.md").write_text("---\nlicense: mit\n---\n")
    report = typed("prune", speaking, "--corpus", text, "--sparsity", 0.5, "--out", tmp_path / "a")
    out = tmp_path / "a"
    found = data(out)
    assert (found["license"], found["language"]) == ("mit", ["en", "hi", "ru", "sw"])
    assert found["pipeline_tag"] == "fill-mask"
    told = read(out)
    assert f"{report['parameters']:,}" in told
    assert f"Sparsity {100 * report['gate_sparsity']:.1f} %" in told
    assert "12 sentences of each from `text`" in told
    assert "polyprune prune speaking --corpus text --sparsity 0.5 --out a\n" in told
    assert str(tmp_path) not in told
    assert answer("check", out)["changed"] == []


def test_an_edited_card_is_no_fault(tmp_path, dense):
    out = tmp_path / "small"
    answer("prune", dense, "--method", "magnitude", "--sparsity", 0.5, "--out", out)
    (out / "README.md").write_text(read(out) + "\nMine.\n")
    checked = answer("check", out)
    assert (checked["right"], checked["changed"]) == (True, ["README.md"])


def test_without_text_no_language_is_claimed(tmp_path, dense):
    out = tmp_path / "small"
    answer("prune", dense, "--method", "magnitude", "--sparsity", 0.5, "--out", out)
    assert data(out)["language"] == "multilingual"
    assert "ranked by the size of their weights" in read(out)


def test_elastic_folders_and_what_is_taken_out_of_them(tmp_path, speaking, text, typed):
    every, one = tmp_path / "every", tmp_path / "one"
    typed("prune", speaking, "--corpus", text, "--setting", "non-shared", "--out", every)
    assert "speaking, in every size" in read(every)
    assert 'language="en"' in read(every)
    assert "What was cut" not in read(every)
    shrunk = typed("shrink", every, "--sparsity", 0.5, "--language", "sw", "--out", one)
    assert data(one)["language"] == ["sw"]
    assert f"Sparsity {100 * shrunk['gate_sparsity']:.1f} %" in read(one)
    assert "12 sentences of each from `text`" in read(one)
    commands = ("polyprune prune speaking", "polyprune shrink every --sparsity 0.5 --language sw")
    assert all(command in read(one) for command in commands)
    taken = pp.load(every).at(sparsity=0.5, language="sw")
    assert history_of(taken.config).sparsity == pytest.approx(shrunk["gate_sparsity"])


def test_one_language_of_several(tmp_path, speaking, text):
    prune = ("prune", speaking, "--corpus", text, "--setting", "non-shared", "--sparsity", 0.5)
    answer(*prune, "--language", "sw", "--out", tmp_path / "sw")
    assert data(tmp_path / "sw")["language"] == ["sw"]


def test_dropped_layers_and_plain_transformers(tmp_path, dense):
    answer("shrink", dense, "--layers", "1", "--stock", "--out", tmp_path / "one")
    told = read(tmp_path / "one")
    assert "| layers | 2 | 1 |" in told
    assert "trust_remote_code" not in told
    assert "Sparsity" not in told
    assert polyprune("check", tmp_path / "one")[0] == 0


def test_a_recovered_model_says_that_it_was_trained(tmp_path, speaking, text):
    out = tmp_path / "back"
    recover = ("--recover", 2, "--tokens", 16)
    answer("prune", speaking, "--corpus", text, "--sparsity", 0.5, *recover, "--out", out)
    told = read(out)
    assert "Trained for 2 steps on `text`" in told
    assert told.count(BEGIN) == 1
    assert 'folder = "back"' in told
    assert answer("check", out)["changed"] == []


@pytest.mark.slow
def test_snippets_run_as_they_are(tmp_path, text):
    readouts = ["masked-lm", "sentence-classification", "span"]
    for readout in readouts:
        speaking_model(tmp_path / readout, readout)
        prune = ("prune", tmp_path / readout, "--method", "magnitude", "--sparsity", 0.5)
        answer(*prune, "--out", tmp_path / f"it's {readout}")
    every = ("prune", tmp_path / "masked-lm", "--corpus", text, "--setting", "non-shared")
    answer(*every, "--out", tmp_path / "every")
    told = run_snippets(*(tmp_path / f"it's {readout}" for readout in readouts), tmp_path / "every")
    assert len(told.splitlines()) >= 4
    assert "parameters" in told.splitlines()[-1]
    assert (tmp_path / "small" / "README.md").is_file()


@pytest.mark.slow
def test_the_snippet_of_a_sentence_encoder_runs(tmp_path):
    pytest.importorskip("sentence_transformers")
    folder = speaking_model(tmp_path / "st", "hidden-states")
    kinds = {"": "Transformer", "1_Pooling": "Pooling"}
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds.items())
    ]
    (folder / "1_Pooling").mkdir()
    (folder / "modules.json").write_text(json.dumps(modules))
    pooling = {"word_embedding_dimension": 24, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    prune = ("prune", tmp_path / "st", "--method", "magnitude", "--sparsity", 0.5)
    answer(*prune, "--out", tmp_path / "half")
    assert data(tmp_path / "half")["pipeline_tag"] == "sentence-similarity"
    assert "SentenceTransformer" in read(tmp_path / "half")
    assert run_snippets(tmp_path / "half") == "(1, 24)\n"
