import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import DataError, UnknownName
from polyprune.evaluation.metrics import average_flat, average_xtreme
from polyprune.evaluation.submission import (
    TaskScores,
    overall_scores,
    read_predictions,
    score_folder,
    write_predictions,
)
from polyprune.evaluation.tasks import TASKS
from support.paths import VECTORS

words = st.text("aB-ё语\"'", min_size=1)
texts = st.text('aB語\u2028\x85 \t\n\r"\\')
PREDICTIONS = {
    **dict.fromkeys(("xnli", "pawsx"), st.lists(words)),
    **dict.fromkeys(("udpos", "panx"), st.lists(st.lists(words))),
    **dict.fromkeys(("xquad", "mlqa", "tydiqa"), st.dictionaries(words, texts)),
    "bucc2018": st.lists(st.tuples(words, words)),
    "tatoeba": st.lists(st.integers(0, 2000)),
}


def squad_file(folder: Path, task: str, language: str, answers: dict[str, list[str]]) -> None:
    questions = [
        {"id": name, "answers": [{"text": text, "answer_start": 0} for text in texts]}
        for name, texts in answers.items()
    ]
    (folder / task).mkdir(parents=True, exist_ok=True)
    content = {"data": [{"paragraphs": [{"context": "", "qas": questions}]}]}
    (folder / task / f"test-{language}.json").write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def folders(tmp_path) -> tuple[Path, Path]:
    """Predictions and labels of all nine tasks, two languages in one, one in the others."""
    given, labels = tmp_path / "predictions", tmp_path / "labels"
    for folder, rows in {
        given: {
            ("xnli", "en"): ["neutral", "entailment"],
            ("xnli", "sw"): ["neutral", "neutral", "neutral", "neutral"],
            ("pawsx", "en"): ["0", "1"],
            ("udpos", "en"): [["NOUN", "NOUN", "VERB"]],
            ("panx", "en"): [["B-PER", "O"], ["B-LOC"]],
            ("bucc2018", "de"): [("de-1", "en-1"), ("de-2", "en-3")],
            ("tatoeba", "sw"): [0, 2, 1],
            ("xquad", "de"): {"1": "«Faust»", "2": "der Hund"},
            ("mlqa", "de"): {"1": "«Faust»", "2": "der Hund"},
            ("tydiqa", "en"): {"1": "", "2": "the sea"},
        },
        labels: {
            ("xnli", "en"): ["neutral", "entailment"],
            ("xnli", "sw"): ["neutral", "entailment", "contradiction", "entailment"],
            ("pawsx", "en"): ["1", "1"],
            ("udpos", "en"): [["NOUN", "VERB", "VERB"]],
            ("panx", "en"): [["B-PER", "O"], ["B-ORG"]],
            ("bucc2018", "de"): [("de-1", "en-1"), ("de-2", "en-2"), ("de-3", "en-3")],
            ("tatoeba", "sw"): [0, 1, 2],
        },
    }.items():
        for (task, language), predictions in rows.items():
            write_predictions(folder, task, language, predictions)
    for task in ("xquad", "mlqa"):
        squad_file(labels, task, "de", {"1": ["Faust", "Mephisto"], "2": ["Hund"]})
    squad_file(labels, "tydiqa", "en", {"1": ["land"], "2": ["sea"], "3": ["air"], "4": ["fire"]})
    return given, labels


def f1_and_more(f1: float, precision: float, recall: float) -> dict:
    return pytest.approx({"f1": f1, "precision": precision, "recall": recall})


def test_a_folder_is_scored_as_by_the_official_script(folders):
    reports = score_folder(*folders)
    assert list(reports) == list(TASKS)
    assert reports["xnli"].languages == {"en": {"accuracy": 100.0}, "sw": {"accuracy": 25.0}}
    assert reports["xnli"].number == 62.5  # of languages, not of the three right out of six
    assert reports["pawsx"].number == 50.0
    # Runs of tags: NOUN to 1 and VERB at 2 against NOUN at 0 and VERB from 1.
    assert reports["udpos"].means == f1_and_more(0, 0, 0)
    assert reports["panx"].means == f1_and_more(50, 50, 50)
    assert reports["bucc2018"].means == f1_and_more(40, 50, 100 / 3)
    assert reports["tatoeba"].score == pytest.approx(100 / 3)


def test_answers_are_scored_by_the_rules_of_their_task(folders):
    reports = score_folder(*folders)
    # By the rules of English quotation marks and German articles stay: 0 and 2/3.
    assert reports["xquad"].score == pytest.approx({"f1": 100 / 3, "exact": 0})
    assert reports["mlqa"].score == {"f1": 100.0, "exact": 100.0}


def test_answers_that_are_empty_or_missing_score_nothing_but_count(folders):
    report = score_folder(*folders)["tydiqa"]
    assert report.languages == {"en": {"f1": 25.0, "exact": 25.0}}


def test_reports_can_be_averaged_like_the_tables_of_the_paper(folders):
    reports = score_folder(*folders)
    table = {task: report.score for task, report in reports.items()}
    numbers = [62.5, 50, 0, 50, 100 / 3, 0, 100, 100, 25, 25, 40, 100 / 3]
    assert average_flat(table) == pytest.approx(sum(numbers) / 12)
    tasks = [62.5, 50, 0, 50, 50 / 3, 100, 25, 40, 100 / 3]
    assert average_xtreme(table) == pytest.approx(sum(tasks) / 9)
    assert overall_scores(reports) == pytest.approx(
        {
            "all": sum(tasks) / 9,
            "classification": 56.25,
            "tagging": 25.0,
            "question answering": (50 / 3 + 125) / 3,
            "retrieval": (40 + 100 / 3) / 2,
        }
    )


def test_kinds_of_task_with_one_missing_have_no_number():
    report = TaskScores({"en": {"accuracy": 50.0}})
    assert overall_scores({"xnli": report}) == {}
    assert overall_scores({"xnli": report, "pawsx": report}) == {"classification": 50.0}


def test_answers_are_averaged_as_by_the_official_script():
    official = json.loads((VECTORS / "qa_metrics.json").read_text())["aggregate"]
    gold = [
        (question["id"], [answer["text"] for answer in question["answers"]])
        for question in official["dataset"][0]["paragraphs"][0]["qas"]
    ]
    for task, name in (("tydiqa", "squad"), ("mlqa", "mlqa_en")):
        scores = TASKS[task].score(gold, official["predictions"], "en")
        expected = {"f1": official[name]["f1"], "exact": official[name]["exact_match"]}
        assert scores == pytest.approx(expected)


@pytest.mark.parametrize("task", TASKS)
def test_predictions_come_back_as_they_were(task, tmp_path):
    @given(PREDICTIONS[task])
    def round_trip(predictions):
        path = write_predictions(tmp_path, task, "sw", predictions, split="dev")
        assert path == tmp_path / task / f"dev-sw.{TASKS[task].format.suffix}"
        assert read_predictions(tmp_path, task, "sw", split="dev") == predictions

    round_trip()


@pytest.mark.parametrize(
    ("task", "predictions", "text"),
    [
        ("xnli", ["neutral", "entailment"], "neutral\nentailment\n"),
        ("panx", [["B-PER", "I-PER"], ["O"]], "B-PER\nI-PER\n\nO\n\n"),
        ("bucc2018", [("de-1", "en-2")], "de-1\ten-2\n"),
        ("tatoeba", [12, 0], "12\n0\n"),
        ("xquad", {"a": "Прага"}, '{\n"a": "Прага"\n}\n'),
    ],
)
def test_files_look_as_the_official_script_expects(task, predictions, text, tmp_path):
    path = write_predictions(tmp_path, task, "cs", predictions)
    assert path.read_bytes().decode() == text


def test_the_last_sentence_needs_no_empty_line_after_it(tmp_path):
    path = write_predictions(tmp_path, "panx", "sw", [])
    path.write_text("O\r\n\r\nB-PER\r\nO", encoding="utf-8", newline="")
    assert read_predictions(tmp_path, "panx", "sw") == [["O"], ["B-PER", "O"]]


def test_a_number_may_be_in_brackets_as_the_official_script_writes_it(tmp_path):
    path = write_predictions(tmp_path, "tatoeba", "sw", [])
    path.write_text("[12]\n0\n")
    assert read_predictions(tmp_path, "tatoeba", "sw") == [12, 0]


def test_a_mark_of_byte_order_is_no_text(tmp_path):
    path = write_predictions(tmp_path, "xnli", "sw", ["neutral"])
    path.write_text("\ufeffneutral\n", encoding="utf-8")
    assert read_predictions(tmp_path, "xnli", "sw") == ["neutral"]


def test_unusual_line_breaks_do_not_divide_a_line(tmp_path):
    write_predictions(tmp_path, "xnli", "sw", ["a\u2028b", "c\x85d"])
    assert read_predictions(tmp_path, "xnli", "sw") == ["a\u2028b", "c\x85d"]


def test_labels_may_be_a_bare_list_of_articles(folders):
    given, labels = folders
    path = labels / "mlqa" / "test-de.json"
    path.write_text(json.dumps(json.loads(path.read_text())["data"]))
    assert score_folder(given, labels)["mlqa"].number == 100.0


@pytest.mark.parametrize("label", ["", " neutral", "neu\ntral", "neu\rtral", "neutral\t"])
def test_what_would_not_come_back_is_not_written(label, tmp_path):
    with pytest.raises(DataError, match="cannot be a line of a file"):
        write_predictions(tmp_path, "xnli", "sw", ["neutral", label])
    assert not (tmp_path / "xnli").exists()


@pytest.mark.parametrize(
    ("task", "text", "message"),
    [
        ("tatoeba", "1\n[x]\n", r"Line 2 should be a number, not '\[x\]'"),
        ("bucc2018", "de-1\ten-1\nde-2 en-2\n", "Line 2 should be two ids"),
        ("xquad", '["Faust"]', "an answer for each question id"),
        ("xquad", '{"1": 3}', "an answer for each question id"),
        ("xquad", "{", "Expecting"),
    ],
)
def test_a_damaged_file_is_named_with_what_is_wrong(task, text, message, tmp_path):
    path = tmp_path / task / f"test-sw.{TASKS[task].format.suffix}"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(DataError, match=f"test-sw.*cannot be read: .*{message}"):
        read_predictions(tmp_path, task, "sw")


def test_labels_that_are_not_like_squad_are_named(folders):
    given, labels = folders
    (labels / "xquad" / "test-de.json").write_text('{"1": "Faust"}')
    with pytest.raises(DataError, match=r"xquad.test-de\.json cannot be read: .*form of SQuAD"):
        score_folder(given, labels)


def test_an_unknown_task_is_an_error(tmp_path):
    with pytest.raises(UnknownName, match=r"Unknown task 'xlni'\. Did you mean 'xnli'\?"):
        write_predictions(tmp_path, "xlni", "sw", [])


def test_tasks_that_are_not_in_both_folders_are_left_out(folders):
    given, labels = folders
    for path in ((given / "xnli"), (labels / "pawsx")):
        path.rename(path.with_name("something-else"))
    assert set(TASKS) - set(score_folder(given, labels)) == {"xnli", "pawsx"}


def test_a_language_without_predictions_is_named(folders):
    given, labels = folders
    (given / "xnli" / "test-sw.tsv").unlink()
    with pytest.raises(DataError, match=r"xnli.test-sw\.tsv does not exist"):
        score_folder(given, labels)


def test_predictions_that_do_not_fit_their_labels_are_named(folders):
    given, labels = folders
    write_predictions(given, "xnli", "sw", ["neutral"])
    with pytest.raises(DataError, match=r"xnli.test-sw\.tsv: There are 1 predictions for 4"):
        score_folder(given, labels)


def test_a_language_that_mlqa_does_not_have_is_named(folders):
    given, labels = folders
    for folder in folders:
        path = folder / "mlqa" / "test-de.json"
        path.rename(path.with_name("test-fr.json"))
    with pytest.raises(DataError, match=r"mlqa.test-fr\.json: Unknown language of MLQA 'fr'"):
        score_folder(given, labels)


def test_questions_are_needed_to_score_answers(folders):
    given, labels = folders
    squad_file(labels, "xquad", "de", {})
    with pytest.raises(DataError, match="no questions to score"):
        score_folder(given, labels)


def test_folders_without_anything_to_score_are_errors(folders, tmp_path):
    given, labels = folders
    with pytest.raises(DataError, match="nowhere is not a folder"):
        score_folder(given, tmp_path / "nowhere")
    with pytest.raises(DataError, match="No task has both predictions in"):
        score_folder(given, given / "xnli")
    (labels / "xnli" / "test-sw.tsv").unlink()
    (labels / "xnli" / "test-en.tsv").unlink()
    with pytest.raises(DataError, match=r"has no file test-\*\.tsv"):
        score_folder(given, labels)
