"""`polyprune evaluate` and `ls tasks`, as a user types them."""

import json
from pathlib import Path

import pytest

from polyprune.evaluation.submission import score_folder
from support.commands import answer, polyprune, refused
from support.finetuning import every_size
from support.models import speaking_model
from support.xtreme import without_labels, xtreme_folder


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Models fine-tuned in a folder each: `xnli`, `pawsx`, `xquad`, and `elastic` for XNLI."""
    folder = tmp_path_factory.mktemp("made")
    data, speaking = xtreme_folder(folder / "data"), speaking_model(folder / "speaking")
    models = dict.fromkeys(("xnli", "pawsx", "xquad"), speaking)
    models["elastic"] = every_size(speaking, folder / "every-size")
    for name, model in models.items():
        task = "xnli" if name == "elastic" else name
        rest = ("--data", data, "--epochs", 1, "--learning-rate", "3e-2", "--out", folder / name)
        answer("finetune", model, "--task", task, *rest)
    return folder


@pytest.fixture
def data(tmp_path) -> Path:
    return xtreme_folder(tmp_path / "xtreme")


@pytest.fixture
def command(made, data) -> tuple:
    return ("evaluate", made / "xnli", "--task", "xnli", "--data", data)


def test_every_language_has_a_score(command, made):
    found = answer(*command)
    assert (found["task"], found["split"], found["limit"]) == ("xnli", "test", None)
    assert {"polyprune", "torch", "transformers", "tokenizers"} <= found["versions"].keys()
    assert "th" in found["missing"]
    (system,) = found["systems"]
    assert system["model"] == str(made / "xnli")
    assert list(system["languages"]) == ["en", "ru", "sw"]
    scores = [each["scores"]["accuracy"] for each in system["languages"].values()]
    assert system["mean"]["accuracy"] == pytest.approx(sum(scores) / 3)
    assert {each["examples"] for each in system["languages"].values()} == {11}


def test_what_was_asked_is_told(command, data, tmp_path):
    without_labels(data, tmp_path / "labels")
    options = ("--languages", "sw,en", "--labels", tmp_path / "labels", "--fallback", "ru")
    found = answer(*command, *options)
    asked = {"data": str(data), "languages": ["sw", "en"], "labels": str(tmp_path / "labels")}
    asked |= {"fallback": "ru", "compat": False, "layer": None}
    assert {name: found[name] for name in asked} == asked


def test_several_models_stand_side_by_side_in_a_narrow_table(command, made):
    model = made / "xnli" / "model"
    status, out, told = polyprune(*command, "--limit", 3)
    assert (status, told) == (0, "")
    _, out, _ = polyprune("evaluate", made / "xnli", model, model, *command[2:])
    lines = out.splitlines()
    table = lines[: next(i for i, line in enumerate(lines) if line.startswith(" mean")) + 1]
    assert max(map(len, table)) <= 80
    assert table[2].split() == ["language", "xnli", "model", "model"]
    assert table[-2].strip() == ""  # the mean stands apart
    assert table[-1].startswith(" mean (3)")
    assert "No data for ar, bg, de, el, es, fr, hi, th, tr, ur, vi, zh." in out


def test_dev_some_examples_and_some_languages(command):
    options = ("--split", "dev", "--limit", 4, "--languages", "sw,en")
    found = answer(*command, *options)
    (system,) = found["systems"]
    assert found["split"] == "dev"
    assert {code: each["examples"] for code, each in system["languages"].items()} == {
        "sw": 4,
        "en": 4,
    }
    assert "No data" not in polyprune(*command, *options)[1]


@pytest.mark.parametrize(
    ("name", "options"), [("xnli", []), ("xquad", []), ("xquad", ["--compat"])]
)
def test_predictions_are_what_the_official_scorer_reads(made, data, tmp_path, name, options):
    rest = ("--data", data, "--predictions", tmp_path / "predictions", *options)
    (system,) = answer("evaluate", made / name, "--task", name, *rest)["systems"]
    without_labels(data, tmp_path / "labels")
    for code in ("en", "ru"):
        if name == "xquad":
            text = (data / f"xquad/xquad.{code}.json").read_text(encoding="utf-8")
            path = tmp_path / "labels" / "xquad" / f"test-{code}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    report = score_folder(tmp_path / "predictions", tmp_path / "labels")[name]
    for code, scores in report.languages.items():
        assert scores == pytest.approx(system["languages"][code]["scores"])


def test_predictions_of_dev_are_called_so(command, tmp_path):
    options = ("--split", "dev", "--languages", "sw", "--predictions", tmp_path / "p")
    status, out, _ = polyprune(*command, *options)
    assert status == 0
    assert f"Predictions are in {tmp_path / 'p' / 'xnli'}." in out
    assert [path.name for path in (tmp_path / "p" / "xnli").iterdir()] == ["dev-sw.tsv"]


def test_an_elastic_folder_is_asked_in_several_sizes(made, data):
    command = ("evaluate", made / "elastic", "--task", "xnli", "--data", data)
    found = answer(*command, "--sparsity", "0.3,50%")
    assert [system["sparsity"] for system in found["systems"]] == [0.3, 0.5]
    out = polyprune(*command, "--sparsity", "0.3,0.5")[1]
    assert "30% cut" in out
    assert "50% cut" in out


def test_a_sparsity_is_for_the_elastic_ones_among_models(made, data):
    options = ("--task", "xnli", "--data", data, "--sparsity", "0.3,0.5", "--limit", 2)
    found = answer("evaluate", made / "xnli", made / "elastic", *options, "--languages", "en")
    systems = [(Path(each["model"]).name, each["sparsity"]) for each in found["systems"]]
    assert systems == [("xnli", None), ("elastic", 0.3), ("elastic", 0.5)]


def test_a_report_shows_scores_under_what_the_model_was_fine_tuned_on(made, data, tmp_path):
    options = ("--epochs", 1, "--regime", "translate-train-all", "--out", tmp_path / "all")
    answer("finetune", made / "speaking", "--task", "xnli", "--data", data, *options)
    (tmp_path / "all" / "model").rename(tmp_path / "moved")  # it says so itself
    models = (made / "xnli", tmp_path / "moved")
    found = answer("evaluate", *models, "--task", "xnli", "--data", data)
    regimes = [each["regime"] for each in found["systems"]]
    assert regimes == ["transfer", "translate-train-all"]
    (tmp_path / "scores.json").write_text(json.dumps(found))
    rows = answer("report", tmp_path / "scores.json")["tables"]["main"]["rows"]
    shown = [(row["cells"][0]["text"], row["group"].split(":")[0]) for row in rows]
    assert shown == [("xnli", "Cross-lingual transfer"), ("moved", "Translate-train-all")]


def test_labels_may_be_elsewhere(command, data, tmp_path):
    before = answer(*command, "--limit", 5)
    without_labels(data, tmp_path / "labels")
    after = answer(*command, "--limit", 5, "--labels", tmp_path / "labels")
    assert after["systems"] == before["systems"]
    (tmp_path / "labels" / "xnli" / "test-sw.tsv").unlink()
    error = refused(tmp_path, *command, "--labels", tmp_path / "labels")
    assert "There are no labels of xnli for 'sw'" in error


def test_a_wrong_label_elsewhere_is_told_with_its_place(command, data, tmp_path):
    without_labels(data, tmp_path / "labels")
    (tmp_path / "labels" / "xnli" / "test-ru.tsv").write_text("maybe\n" * 11)
    error = refused(tmp_path, *command, "--labels", tmp_path / "labels")
    assert f"for 'ru', labelled by {tmp_path / 'labels'}, has the label 'maybe'" in error


def test_without_labels_there_are_predictions_but_no_scores(command, data, tmp_path):
    without_labels(data)
    status, out, _ = polyprune(*command, "--predictions", tmp_path / "p")
    assert status == 0
    assert "Nothing can be scored: the data does not tell what is right; see --labels." in out
    assert len(list((tmp_path / "p" / "xnli").iterdir())) == 3
    (system,) = answer(*command)["systems"]
    assert system["mean"] is None


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--task", "xlni"], "Did you mean 'xnli'? All nine: polyprune ls tasks."),
        (["--split", "tset"], "Unknown split 'tset'. Did you mean 'test'?"),
        (["--languages", "swa"], "Did you mean 'sw'?"),
        (["--data", "./nowhere"], "There is no folder ./nowhere with the data of XTREME."),
        (["--sparsity", "0.5"], "/xnli has one size: leave --sparsity out."),
        (["--split", "dev", "--labels", "x"], "--labels is for test files: leave it out with --sp"),
        (["--compat"], "--compat is for question answering: leave it out for XNLI."),
        (["--layer", "1"], "--layer is for retrieval: leave it out for XNLI."),
        (["--task", "pawsx"], "was not fine-tuned for pawsx: it says contradiction, entailment"),
        (["--task", "udpos"], "has the readout sentence-classification, and POS needs token-"),
        (["--predictions", "/proc/x/y"], "/proc/x"),
    ],
)
def test_mistakes_change_nothing(command, tmp_path, options, told):
    assert told in refused(tmp_path, *command, *options)


def test_a_model_that_was_not_fine_tuned(speaking, made, data, tmp_path):
    """Which is told before the others are evaluated."""
    options = ("--task", "xnli", "--data", data)
    for models in ([speaking], [made / "xnli", speaking]):
        error = refused(tmp_path, "evaluate", *models, *options)
        assert f"First: polyprune finetune {speaking} --task xnli." in error


def test_every_size_needs_one(made, data, tmp_path):
    """Which is told before the others are evaluated, or anything is written."""
    options = ("--task", "xnli", "--data", data)
    for models in ([made / "elastic"], [made / "xnli", made / "elastic"]):
        error = refused(tmp_path, "evaluate", *models, *options)
        assert f"{made / 'elastic'} holds every size: say which, such as --sparsity 0.5" in error


def test_predictions_are_of_one_system(command, made, tmp_path):
    options = (*command[2:], "--predictions", tmp_path / "p")
    error = refused(tmp_path, "evaluate", made / "xnli", made / "xnli", *options)
    assert "--predictions is for one model of one size" in error
    (tmp_path / "file").write_text("")
    error = refused(tmp_path, *command, "--predictions", tmp_path / "file")
    assert "Not a directory" in error


def test_a_folder_where_fine_tuning_has_only_begun(data, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "tuning.json").write_text("{}")
    command = ("evaluate", tmp_path / "out", "--task", "xnli", "--data", data)
    assert "is not finished: give the same command again" in refused(tmp_path, *command)


def test_a_language_that_was_asked_for_is_not_left_out(command, data, tmp_path):
    (data / "xnli" / "test-sw.tsv").unlink()
    assert list(answer(*command)["systems"][0]["languages"]) == ["en", "ru"]
    options = ("--languages", "en,sw", "--predictions", tmp_path / "p")
    error = refused(tmp_path, *command, *options)
    assert f"no test data of xnli for 'sw' in {data}: looked for xnli/test-sw.tsv" in error


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "{path} has no example"),
        ("One.\tTwo.\tneutral\nOne.\n", "Line 2 of {path} has 1 column"),
        ("One.\tTwo.\tmaybe\n", "Example 1 of the test data of xnli for 'sw' in {data} has the "),
        ("One.\tTwo.\tneutral\nOne.\tTwo.\t\n", "This is the test data of xnli for 'sw' in {data}"),
    ],
)
def test_damaged_files_are_named_before_anything_is_written(command, data, tmp_path, text, told):
    path = data / "xnli" / "test-sw.tsv"
    path.write_text(text)
    error = refused(tmp_path, *command, "--predictions", tmp_path / "p")
    assert told.format(path=path, data=data) in error


def test_all_nine_tasks_are_listed():
    tasks = json.loads(polyprune("ls", "tasks", "--json")[1])["tasks"]
    assert len(tasks) == 9
    assert {task["task"] for task in tasks if not task["trained"]} == {"bucc2018", "tatoeba"}
    status, out, _ = polyprune("ls", "tasks")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    for task in tasks:
        assert task["task"] in out


def test_help_ends_in_an_example():
    status, out, _ = polyprune("evaluate", "--help")
    assert status == 0
    assert "polyprune evaluate half-xnli --task xnli" in " ".join(out.split())
