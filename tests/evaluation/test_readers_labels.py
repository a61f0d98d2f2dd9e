"""Labels from a folder of their own."""

import pytest
from reader_files import write

from polyprune.errors import DataError, UnknownName
from polyprune.evaluation.examples import Answer, Bitext, Pair, Question, Tagged
from polyprune.evaluation.readers.labels import with_labels

BITEXT = Bitext(("b", "a"), ("A", "B"), ("0", "1"), ("0", "1"))


@pytest.mark.parametrize("task", ["xnli", "pawsx"])
def test_pairs_without_a_label_get_one(task, tmp_path):
    folder = write(tmp_path, {f"{task}/test-de.tsv": "neutral\n entailment \n"})
    pairs = [Pair("a", "b"), Pair("c", "d", "contradiction")]
    assert with_labels(task, iter(pairs), folder, "de") == [
        Pair("a", "b", "neutral"),
        Pair("c", "d", "contradiction"),
    ]
    with pytest.raises(DataError, match=r"test-de.tsv has 2 labels for 1 examples"):
        with_labels(task, pairs[:1], folder, "de")


@pytest.mark.parametrize("task", ["udpos", "panx"])
@pytest.mark.parametrize("text", ["X\nY\n\nZ\n\n", "a\tX\nb\tY\n\nc\tZ"])
def test_words_get_tags(task, text, tmp_path):
    folder = write(tmp_path, {f"{task}/test-de.tsv": text})
    sentences = [Tagged(("a", "b")), Tagged(("c",))]
    labelled = [Tagged(("a", "b"), ("X", "Y")), Tagged(("c",), ("Z",))]
    assert with_labels(task, sentences, folder, "de") == labelled
    assert with_labels(task, [labelled[0], Tagged(("c",))], folder, "de") == labelled
    with pytest.raises(DataError, match="has 2 labels for 1 examples"):
        with_labels(task, sentences[:1], folder, "de")
    with pytest.raises(DataError, match="has 1 labels for the 2 words of sentence 2"):
        with_labels(task, [sentences[0], Tagged(("c", "d"))], folder, "de")


@pytest.mark.parametrize("task", ["xquad", "mlqa", "tydiqa"])
def test_questions_get_answers_by_their_ids(task, tmp_path):
    text = (
        '{"data": [{"paragraphs": [{"context": "It is.", "qas": ['
        '{"id": "2", "question": "", "answers": [{"text": "is", "answer_start": 3}]},'
        '{"id": "1", "question": "", "answers": [{"text": "It", "answer_start": 0}]}]}]}]}'
    )
    folder = write(tmp_path, {f"{task}/test-de.json": text})
    questions = [Question("1", "What?", "It is."), Question("2", "?", "It is.", (Answer("I", 0),))]
    assert with_labels(task, questions, folder, "de") == [
        Question("1", "What?", "It is.", (Answer("It", 0),)),
        questions[1],
    ]
    with pytest.raises(DataError, match="has no answers to 1 of 3 questions, such as 7"):
        with_labels(task, [*questions, Question("7", "?", "It is.")], folder, "de")


def test_sentences_get_their_translations(tmp_path):
    folder = write(
        tmp_path, {"bucc2018/test-de.tsv": "x\ty\nz\tw\n", "tatoeba/test-de.tsv": "1\n0\n"}
    )
    (found,) = with_labels("bucc2018", [BITEXT], folder, "de")
    assert found.gold == (("x", "y"), ("z", "w"))
    assert with_labels("bucc2018", [found], folder, "de") == [found]
    (found,) = with_labels("tatoeba", [BITEXT], folder, "de")
    assert found.gold == (("1", "0"), ("0", "1"))
    assert with_labels("tatoeba", [found], folder, "de") == [found]
    write(tmp_path, {"tatoeba/test-de.tsv": "1\n"})
    with pytest.raises(DataError, match="has 1 labels for 2 sentences"):
        with_labels("tatoeba", [BITEXT], folder, "de")


def test_a_missing_file_or_task_is_named(tmp_path):
    with pytest.raises(DataError, match=r"no labels of xnli for 'de': .*xnli/test-de.tsv is miss"):
        with_labels("xnli", [], str(tmp_path), "de")
    with pytest.raises(UnknownName, match=r"Unknown task 'xlni'. Did you mean 'xnli'"):
        with_labels("xlni", [], str(tmp_path), "de")
