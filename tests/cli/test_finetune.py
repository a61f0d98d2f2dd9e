"""`polyprune finetune`, as a user types it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import polyprune as pp
from polyprune.evaluation.finetune_config import Trial
from polyprune.jsonl import read_log
from support.commands import answer, polyprune, refused
from support.finetuning import every_size
from support.models import speaking_model
from support.processes import accelerate, torchrun
from support.xtreme import xtreme_folder

ENGLISH = "xnli/train-en.tsv"


@pytest.fixture
def data(tmp_path) -> Path:
    return xtreme_folder(tmp_path / "xtreme")


@pytest.fixture
def command(speaking, data, tmp_path) -> tuple:
    """All that has to be said."""
    options = ("--task", "xnli", "--data", data, "--out", tmp_path / "out")
    return ("finetune", speaking, *options, "--epochs", "1", "--learning-rate", "1e-3")


def test_a_model_becomes_one_for_a_task(command, tmp_path):
    found = answer(*command)
    assert found["models"] == [str(tmp_path / "out" / "model")]
    (result,) = found["results"]
    assert result["setting"] == {"learning_rate": 1e-3, "epochs": 1, "seed": 1, "batch": 32}
    assert set(result["languages"]) == {"en"}
    assert pp.load(tmp_path / "out" / "model").readout_kind.name == "sentence-classification"
    assert not (tmp_path / "out" / "examples.arrow").exists()


def test_what_is_done_is_not_done_again_nor_read(command, data, tmp_path):
    found = answer(*command)
    (data / ENGLISH).unlink()
    assert answer(*command) == found
    assert not (tmp_path / "out" / "examples.arrow").exists()


@pytest.mark.slow
def test_people_get_a_table_of_what_was_tried(command):
    status, out, told = polyprune(*command[:-4], "--seeds", "1,2", "--epochs", "1")
    assert status == 0
    assert told.startswith("Training on en.\n")
    assert "Step 1: dev" in told
    assert "XNLI, transfer" in out
    assert "over 2 seeds" in out
    assert "Written to" in out
    assert max(map(len, out.splitlines()[:7])) <= 80


def test_dev_scores_are_told_language_by_language(command):
    status, _, told = polyprune(*command, "--regime", "translate-train-all")
    assert status == 0
    assert told.startswith("Training on en, ru, sw. There is no training data for ar, bg, ")
    assert "en  " in told
    assert "sw  " in told


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--task", "xlni"], "Unknown task 'xlni'. Did you mean 'xnli'?"),
        (["--regime", "transferr"], "Did you mean 'transfer'?"),
        (["--languages", "swa"], "Did you mean 'sw'? There are: "),
        (["--data", "./nowhere"], "There is no folder ./nowhere"),
        (["--task", "tatoeba"], "has nothing to train on: polyprune evaluate"),
        (["--sparsity", "0.5"], "has one size"),
        (["--sparsity", "50"], "Did you mean 50%?"),
        (["--learning-rate", "fast"], "'fast' is no number: give one, or several numbers such as"),
        (["--learning-rate", "0"], "A learning rate is a number more than 0"),
        (["--learning-rate", "1e-5,-1"], "more than 0, such as 2e-5, not -1"),
        (["--learning-rate", "nan"], "more than 0"),
        (["--epochs", "0"], "There is 1 epoch or more, not 0."),
        (["--epochs", "1.5"], "whole numbers"),
        (["--seeds", "1,2,1"], "The seeds 1, 2, 1 are not all different"),
        (["--seeds", "-1"], "from 0 to"),
        (["--precision", "fp17"], "Unknown precision 'fp17'. Did you mean 'fp16'? There are: no"),
        (["--task", "tydiqa", "--epochs", "1,2"], "TyDiQA are those that it is tested with"),
        (["--languages", "en,th"], "There is no training data of xnli for 'th'"),
    ],
)
def test_mistakes_change_nothing(command, tmp_path, options, told):
    assert told in refused(tmp_path, *command, *options)


def test_a_model_that_is_not_there(command, tmp_path):
    error = refused(tmp_path, "finetune", tmp_path / "none", *command[2:])
    assert f"There is no folder {tmp_path / 'none'}" in error


def test_a_model_without_a_tokenizer(command, speaking, tmp_path):
    for path in speaking.glob("tokenizer*"):
        path.unlink()
    assert "There is no tokenizer in" in refused(tmp_path, *command)


def test_without_dev_data_it_says_which_model_is_kept(command, data):
    (data / "xnli" / "dev-en.tsv").unlink()
    status, out, told = polyprune(*command, "--precision", "bf16")
    assert status == 0
    assert "There is no dev data with labels: the last model is kept." in told
    assert "–" in out


def test_a_search_goes_on_without_what_diverged(command, monkeypatch):
    finite = iter([False, True])
    monkeypatch.setattr("polyprune.training.loop.isfinite", lambda _: next(finite))
    status, out, _ = polyprune(*command, "--learning-rate", "1e-3,1e-4")
    assert status == 0
    assert "diverged" in out
    assert "Written to" in out


def test_one_setting_that_diverges_is_an_error(command, monkeypatch):
    monkeypatch.setattr("polyprune.training.loop.isfinite", lambda _: False)
    status, _, told = polyprune(*command)
    assert status == 2
    assert told == ("The loss of step 1 is not a number. Try a smaller --learning-rate than 0.001.")


def test_a_missing_file_is_named_with_its_place(command, data, tmp_path):
    (data / "xnli" / "train-sw.tsv").unlink()
    options = ("--regime", "translate-train-all", "--languages", "en,sw")
    error = refused(tmp_path, *command, *options)
    assert f"'sw' in {data}: looked for" in error
    assert "xnli/train-sw.tsv" in error
    assert "There is some for en, ru." in error


DAMAGE = {
    "columns": ("train", "One.\tTwo.\tneutral\nOne.\n", "Line 2 of {path} has 1 column"),
    "label": ("train", "One.\tTwo.\tneutral\nOne.\tTwo.\tmaybe\n", "Example 2 of the training data "
              "of xnli for 'en' in {data} has the label 'maybe'. There are: contradiction"),
    "dev label": ("dev", "One.\tTwo.\tmaybe\n", "Example 1 of the dev data of xnli for 'en'"),
    "half": ("dev", "One.\tTwo.\tneutral\nOne.\tTwo.\t\n", "1 of 2 examples have no label: label "
             "all of them, or none. This is the dev data of xnli for 'en' in {data}."),
    "empty": ("train", "", "{path} has no example"),
    "unlabelled": ("train", "One.\tTwo.\n", "nothing to learn in the training data of xnli for"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_named(command, data, tmp_path, damage):
    split, text, told = DAMAGE[damage]
    path = data / f"xnli/{split}-en.tsv"
    path.write_text(text)
    assert told.format(path=path, data=data) in refused(tmp_path, *command)


def test_a_tag_that_there_is_not(command, data, tmp_path):
    path = data / "udpos" / "train-en.tsv"
    path.write_text("The\tDET\nwater\tWET\n\n")
    error = refused(tmp_path, *command, "--task", "udpos")
    assert "Example 1 of the training data of udpos for 'en'" in error
    assert "'WET'" in error


def test_a_place_of_something_else_is_left_alone(command, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("")
    assert "is something else" in refused(tmp_path, *command)
    assert "is something else" in refused(tmp_path, *command, "--force")
    error = refused(tmp_path, *command, "--out", tmp_path / "out" / "thesis.tex")
    assert "Choose another --out" in error


def test_another_setup_in_the_same_folder_needs_force(command, tmp_path):
    answer(*command)
    error = refused(tmp_path, *command, "--limit", 5)
    assert "task.limit: None there, 5 here" in error
    assert answer(*command, "--limit", 5, "--force")["results"][0]["steps"] == 1


@pytest.mark.slow
def test_damaged_records_say_what_to_do(command, tmp_path):
    answer(*command)
    results = tmp_path / "out" / "results.jsonl"
    for text in ('{"setting": \n', "{}\n"):
        results.write_text(text)
        error = refused(tmp_path, *command)
        assert "results.jsonl is damaged. Pass --force" in error
    answer(*command, "--force")
    (tmp_path / "out" / "tuning.json").write_text('{"task": ')
    for options in ([], ["--force"]):
        error = refused(tmp_path, *command, *options)
        assert f"Delete the folder {tmp_path / 'out'}" in error


def test_contexts_much_longer_than_the_model(command, data, tmp_path):
    long = "The water is cold. " * 60 + "The road is long."
    asked = {"id": "1", "question": "What is long?", "answers": [{"text": "road"}]}
    asked["answers"][0]["answer_start"] = long.index("road")
    text = json.dumps({"data": [{"paragraphs": [{"context": long, "qas": [asked]}]}]})
    for name in ("train", "dev"):
        (data / f"squad/{name}-v1.1.json").write_text(text)
    (result,) = answer(*command, "--task", "xquad")["results"]
    assert result["steps"] > 1  # many windows of one question


def test_one_size_of_an_elastic_model(command, speaking, tmp_path):
    elastic = every_size(speaking, tmp_path / "elastic")
    answer("finetune", elastic, *command[2:], "--sparsity", "50%")
    small = pp.load(tmp_path / "out" / "model")
    assert small.elastic is None
    assert small.num_parameters() < pp.load(elastic).num_parameters()


def launch(arguments, *before) -> subprocess.Popen:
    """Another process, or several."""
    words = [sys.executable, *before, "-m", "polyprune", *map(str, arguments)]
    one = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=one)


@pytest.mark.slow
def test_a_signal_saves_and_the_same_command_goes_on(command, tmp_path):
    command = (*command, "--epochs", "120", "--batch", "4")
    process = launch(command)
    while not list(tmp_path.glob("out/lr-*/checkpoints/*")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT
    assert "Stopped and saved after step" in told
    assert "To go on, give the same command: polyprune finetune" in told
    done = int(told.partition("after step ")[2].split()[0])
    (log,) = tmp_path.glob("out/lr-*/log.jsonl")
    (result,) = answer(*command)["results"]
    assert [json.loads(line)["step"] for line in log.read_text().splitlines()] == list(
        range(1, result["steps"] + 1)
    )
    assert done < result["steps"] == 360


@pytest.mark.slow
@pytest.mark.parametrize("launcher", [torchrun, accelerate], ids=["torchrun", "accelerate"])
def test_two_processes_tune_like_one(command, speaking, tmp_path, launcher):
    model = pp.load(speaking)
    for name in ("hidden", "attention_probs", "attention_output", "feed_forward_output"):
        setattr(model.config, f"{name}_dropout_prob", 0.0)
    model.config.sentence_dropout = 0.0
    model.save_pretrained(tmp_path / "sure")
    rest = ("--batch", 4, "--learning-rate", "1e-3,1e-2", "--seeds", "1,2")
    command = ("finetune", tmp_path / "sure", *command[2:], *rest)
    process = launch((*command, "--out", tmp_path / "two"), *launcher(2))
    _, told = process.communicate(timeout=300)
    assert process.returncode == 0, told[-3000:]
    one = answer(*command, "--out", tmp_path / "one")
    two = answer(*command, "--out", tmp_path / "two")  # which is done
    assert len(two["results"]) == 3
    for ours, theirs in zip(one["results"], two["results"], strict=True):
        assert ours["setting"] == theirs["setting"]
        assert ours["score"] == pytest.approx(theirs["score"])
        name = Trial(**ours["setting"]).name
        # Of eleven examples in batches of four, the last batch is not halved evenly.
        alone, shared = (read_log(tmp_path / out / name / "log.jsonl") for out in ("one", "two"))
        assert {step["processes"] for step in shared} == {2}
        losses = [[step["losses"]["total"] for step in log] for log in (alone, shared)]
        assert losses[0] == pytest.approx(losses[1], rel=1e-3)


def test_help_ends_in_an_example():
    status, out, _ = polyprune("finetune", "--help")
    assert status == 0
    assert "polyprune finetune half --task xnli" in " ".join(out.split())


def test_tokenizer_and_model_have_to_belong_together(command, tmp_path):
    other = speaking_model(tmp_path / "other")
    config = json.loads((other / "tokenizer.json").read_text())
    for i in range(40):
        config["model"]["vocab"][f"word{i}"] = 100 + i
    (other / "tokenizer.json").write_text(json.dumps(config))
    assert "do not belong together" in refused(tmp_path, "finetune", other, *command[2:])


def test_a_teacher_is_listened_to(command, tmp_path):
    answer(*command)
    teacher = ("--teacher", tmp_path / "out" / "model", "--teacher-weight", 0.9)
    taught = answer(*command[:-5], tmp_path / "taught", *command[-4:], *teacher)
    alone, both = (pp.load(tmp_path / name / "model").state_dict() for name in ("out", "taught"))
    assert any(not alone[name].equal(both[name]) for name in alone)
    log = read_log(next((tmp_path / "taught").glob("*/log.jsonl")))
    assert set(log[-1]["losses"]) == {"labels", "outputs", "total"}
    losses = log[-1]["losses"]
    assert losses["total"] == pytest.approx(0.1 * losses["labels"] + 0.9 * losses["outputs"])
    assert taught["models"] == [str(tmp_path / "taught" / "model")]
