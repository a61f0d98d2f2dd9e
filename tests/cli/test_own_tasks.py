"""A task of one's own, as a user types it."""

import json

import pytest

import polyprune as pp
from support.commands import answer, polyprune, refused
from support.models import speaking_model
from support.own_tasks import write_file, write_own_task


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A classifier fine-tuned on files of one's own, in `tuned`."""
    folder = tmp_path_factory.mktemp("made")
    start = speaking_model(folder / "start")
    write_own_task(folder / "reviews", "classification", "csv")
    options = ("--epochs", 1, "--learning-rate", "1e-2", "--out", folder / "tuned")
    answer("finetune", start, "--data", folder / "reviews", *options)
    return folder


def test_labels_are_those_of_the_training_data(made):
    model = pp.load(made / "tuned" / "model")
    assert list(model.config.id2label.values()) == ["bad", "fine", "good"]
    assert model.readout_kind.name == "sentence-classification"
    record = json.loads((made / "tuned" / "tuning.json").read_text())
    assert record["task"]["languages"] == ["en", "ru", "sw"]
    assert record["task"]["labels"] == ["bad", "fine", "good"]


def test_scores_are_printed_by_language(made):
    status, out, error = polyprune("evaluate", made / "tuned", "--data", made / "reviews")
    assert (status, error) == (0, "")
    assert [line.split()[0] for line in out.splitlines() if line[:1] == " " and line.strip()][
        :1
    ] == ["language"]
    for code in ("en", "ru", "sw", "mean"):
        assert f"\n {code} " in out
    assert max(map(len, out.splitlines())) <= 80


def test_all_scores_are_in_json(made):
    command = ("evaluate", made / "tuned", "--data", made / "reviews")
    found = answer(*command, "--metric", "macro-f1")
    (system,) = found["systems"]
    assert list(system["mean"]) == ["macro_f1", "accuracy", "micro_f1"]
    assert (found["task"], found["data"]) == ("reviews", str(made / "reviews"))
    assert system["regime"] == "translate-train-all"
    assert answer(*command)["systems"][0]["mean"] == system["mean"]


def test_predictions_are_written(made, tmp_path):
    options = ("--predictions", tmp_path / "p", "--languages", "sw")
    answer("evaluate", made / "tuned", "--data", made / "reviews", *options)
    said = (tmp_path / "p" / "reviews" / "test-sw.tsv").read_text().split()
    assert len(said) == 12
    assert set(said) <= {"bad", "fine", "good"}


def test_an_unknown_label_is_one_sentence(made, tmp_path):
    write_file(tmp_path / "mine" / "sw.csv", "text,label\nChai,good\nMvua,goood\n")
    error = refused(tmp_path, "evaluate", made / "tuned", "--data", tmp_path / "mine")
    assert f"Line 3 of {tmp_path / 'mine' / 'sw.csv'} has the label 'goood'" in error
    assert "Did you mean 'good'?" in error


def test_a_language_without_labels_is_predicted_only(made, tmp_path):
    write_file(tmp_path / "mine" / "sw.csv", "text\nChai\nMvua\n")
    write_file(tmp_path / "mine" / "en.csv", "text,label\nTea,good\nRain,bad\n")
    status, out, error = polyprune("evaluate", made / "tuned", "--data", tmp_path / "mine")
    assert (status, error) == (0, "")
    assert "No score for sw: the data does not tell what is right" in out
    assert " mean (1)" in out


def test_an_encoder_is_told_to_be_fine_tuned(made, tmp_path):
    error = refused(tmp_path, "evaluate", made / "start", "--data", made / "reviews")
    assert "has the readout masked-lm, and the files in" in error
    assert "First: polyprune finetune" in error


def test_models_for_other_things_are_not_scored_side_by_side(made, tmp_path):
    model = pp.load(made / "start", "sentence-classification", labels=1)
    model.config.problem_type = "regression"
    model.save_pretrained(tmp_path / "numbers")
    models = (made / "tuned", tmp_path / "numbers")
    error = refused(made, "evaluate", *models, "--data", made / "reviews")
    assert "is for regression, and reviews for single label classification" in error


def test_translations_are_nothing_to_train_on(made, tmp_path):
    data = write_own_task(tmp_path / "pairs", "retrieval", "tsv")
    out = ("--out", tmp_path / "out")
    error = refused(tmp_path, "finetune", made / "start", "--data", data, *out)
    assert f"pairs has nothing to train on: polyprune evaluate MODEL --data {data} takes" in error
    found = answer("evaluate", made / "start", made / "tuned", "--data", data)
    assert [list(each["languages"]) for each in found["systems"]] == [["ru", "sw"]] * 2


def test_other_labels_than_the_first_models_are_told(made, tmp_path):
    model = pp.load(made / "tuned" / "model")
    model.config.id2label = {0: "bad", 1: "fine", 2: "great"}
    model.save_pretrained(tmp_path / "other")
    models = (made / "tuned", tmp_path / "other")
    error = refused(made, "evaluate", *models, "--data", made / "reviews")
    assert "was not fine-tuned for reviews: it says bad, fine, great. First: polyprune" in error
    assert f"--data {made / 'reviews'}" in error


def test_tasks_are_listed_with_xtremes(made, monkeypatch):
    found = answer("ls", "tasks", "--data", made)["tasks"]
    assert len(found) == 10
    assert found[-1]["task"] == "reviews"
    assert "reviews" in polyprune("ls", "tasks", "--data", made)[1]
    monkeypatch.chdir(made)
    assert len(answer("ls", "tasks")["tasks"]) == 9


def test_only_english_to_train_on_is_no_mistake(made, tmp_path):
    data = write_own_task(tmp_path / "reviews", "classification", "tsv", splits=("train",))
    for code in ("ru", "sw"):
        (data / f"train-{code}.tsv").unlink()
    found = answer(
        "finetune", made / "start", "--data", data, "--epochs", 1, "--out", tmp_path / "tuned"
    )
    assert found["results"][0]["score"] is None  # no dev data


def test_a_report_does_not_take_it_for_one_of_xtremes(made, tmp_path):
    data = write_own_task(tmp_path / "pos", "classification", "csv", splits=())
    found = answer("evaluate", made / "tuned", "--data", data)
    assert (found["title"], found["metric"]) == ("pos", "accuracy")
    (tmp_path / "scores.json").write_text(json.dumps(found))
    main = answer("report", tmp_path / "scores.json")["tables"]["main"]
    assert "pos" in json.dumps(main)
    assert "POS" not in json.dumps(main)
