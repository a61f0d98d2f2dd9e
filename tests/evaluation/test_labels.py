"""Labels from a folder of their own."""

import pytest

from polyprune.errors import DataError
from polyprune.evaluation.eval_config import attach_labels
from polyprune.evaluation.examples import Answer, Bitext, Question, SentencePair, TaggedSentence
from polyprune.evaluation.tasks import TASKS
from support.files import write

BITEXT = Bitext(("b", "a"), ("A", "B"), ("0", "1"), ("0", "1"))


@pytest.mark.parametrize("task", ["xnli", "pawsx"])
def test_pairs_get_labels(task, tmp_path):
    folder = write(tmp_path, {f"{task}/test-de.tsv": "neutral\n entailment \n"})
    pairs = [SentencePair("a", "b"), SentencePair("c", "d")]
    assert attach_labels(TASKS[task], iter(pairs), folder, "de") == [
        SentencePair("a", "b", "neutral"),
        SentencePair("c", "d", "entailment"),
    ]
    with pytest.raises(DataError, match=r"test-de.tsv: There are 2 labels for 1 examples"):
        attach_labels(TASKS[task], pairs[:1], folder, "de")


@pytest.mark.parametrize("task", ["udpos", "panx"])
@pytest.mark.parametrize(
    "text", ["X\nY\n\nZ\n\n", "\ufeffX\r\nY\r\n\r\n\r\nZ", "a\tX\nb\tY\n\nc\tZ"]
)
def test_words_get_tags(task, text, tmp_path):
    folder = write(tmp_path, {f"{task}/test-de.tsv": text})
    sentences = [TaggedSentence(("a", "b")), TaggedSentence(("c",))]
    labelled = [TaggedSentence(("a", "b"), ("X", "Y")), TaggedSentence(("c",), ("Z",))]
    assert attach_labels(TASKS[task], sentences, folder, "de") == labelled
    with pytest.raises(DataError, match=r"test-de.tsv: There are 2 labels for 1 examples"):
        attach_labels(TASKS[task], sentences[:1], folder, "de")
    with pytest.raises(DataError, match="are 1 labels for the 2 words of sentence 2"):
        attach_labels(TASKS[task], [sentences[0], TaggedSentence(("c", "d"))], folder, "de")


@pytest.mark.parametrize("task", ["xquad", "mlqa", "tydiqa"])
def test_questions_get_answers_by_their_ids(task, tmp_path):
    text = (
        '{"data": [{"paragraphs": [{"context": "It is.", "qas": ['
        '{"id": "2", "question": "", "answers": [{"text": "is", "answer_start": 3}]},'
        '{"id": "1", "question": "", "answers": [{"text": "It", "answer_start": 0}]}]}]}]}'
    )
    folder = write(tmp_path, {f"{task}/test-de.json": text})
    questions = [Question("1", "What?", "It is."), Question("2", "?", "It is.")]
    assert attach_labels(TASKS[task], questions, folder, "de") == [
        Question("1", "What?", "It is.", (Answer("It", 0),)),
        Question("2", "?", "It is.", (Answer("is", 3),)),
    ]
    with pytest.raises(DataError, match="no answers to 1 of 3 questions, such as 7"):
        attach_labels(TASKS[task], [*questions, Question("7", "?", "It is.")], folder, "de")


def test_sentences_get_their_translations(tmp_path):
    folder = write(
        tmp_path, {"bucc2018/test-de.tsv": "x\ty\nz\tw\n", "tatoeba/test-de.tsv": "1\n0\n"}
    )
    (found,) = attach_labels(TASKS["bucc2018"], [BITEXT], folder, "de")
    assert found.gold == (("x", "y"), ("z", "w"))
    (found,) = attach_labels(TASKS["tatoeba"], [BITEXT], folder, "de")
    assert found.gold == (("1", "0"), ("0", "1"))
    write(tmp_path, {"tatoeba/test-de.tsv": "1\n"})
    with pytest.raises(DataError, match="There are 1 labels for 2 examples"):
        attach_labels(TASKS["tatoeba"], [BITEXT], folder, "de")


def test_lines_may_be_in_brackets_as_the_official_script_writes_them(tmp_path):
    folder = write(tmp_path, {"tatoeba/test-de.tsv": "[1]\n[0]\n"})
    (found,) = attach_labels(TASKS["tatoeba"], [BITEXT], folder, "de")
    assert TASKS["tatoeba"].kind.gold([found]) == [1, 0]


@pytest.mark.parametrize(
    ("task", "text"), [("tatoeba", "1\nzwei\n"), ("bucc2018", "x\n"), ("xquad", "{}")]
)
def test_a_damaged_file_is_named(task, text, tmp_path):
    name = f"{task}/test-de.{TASKS[task].format.suffix}"
    folder = write(tmp_path, {name: text})
    with pytest.raises(DataError, match=f"{name} cannot be read: "):
        attach_labels(TASKS[task], [BITEXT], folder, "de")


def test_answers_to_questions_of_the_same_id_are_told_apart(tmp_path):
    asked = '{"id": "0", "answers": [{"text": "It"}]}, {"id": "0", "answers": [{"text": "is"}]}'
    text = '{"data": [{"paragraphs": [{"qas": [' + asked + "]}]}]}"
    folder = write(tmp_path, {"xquad/test-de.json": text})
    questions = [Question("0", "?", "It is."), Question("0#2", "?", "It is.")]
    found = attach_labels(TASKS["xquad"], questions, folder, "de")
    assert TASKS["xquad"].kind.gold(found) == [("0", ["It"]), ("0#2", ["is"])]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"no labels of xnli for 'de': .*xnli/test-de.tsv is miss"):
        attach_labels(TASKS["xnli"], [], str(tmp_path), "de")
