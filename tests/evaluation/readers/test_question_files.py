"""Questions in SQuAD's form, wherever the three tasks keep them."""

import json

import pytest

from polyprune.errors import DataError
from polyprune.evaluation.examples import Answer, Question
from polyprune.evaluation.readers.question_files import MLQA, TYDIQA, XQUAD
from support.files import write

CONTEXT = "The hill is high."
HIGH = (Answer("high", 12),)


def squad(*names, answers=({"text": "high", "answer_start": 12},)) -> str:
    """A file with a paragraph and a question each."""
    paragraphs = [
        {"context": CONTEXT, "qas": [{"id": name, "question": f"{name}?", "answers": [*answers]}]}
        for name in names
    ]
    return json.dumps({"version": "1.1", "data": [{"title": "Hills", "paragraphs": paragraphs}]})


def question(name: str, answers=HIGH) -> Question:
    return Question(name, f"{name}?", CONTEXT, answers)


def test_questions_have_their_context_and_all_their_answers(tmp_path):
    given = [{"text": "high", "answer_start": 12}, {"text": "is high", "answer_start": 9}]
    data = write(tmp_path, {"xquad/xquad.de.json": squad("a", "b", answers=given)})
    both = (Answer("high", 12), Answer("is high", 9))
    assert list(XQUAD.read(data, "test", "de")) == [question("a", both), question("b", both)]


@pytest.mark.parametrize("answers", [(), ({"text": "", "answer_start": 0},)])
def test_an_empty_answer_is_none(tmp_path, answers):
    data = write(tmp_path, {"xquad/xquad.de.json": squad("a", answers=answers)})
    assert list(XQUAD.read(data, "test", "de")) == [question("a", ())]


def test_a_question_without_a_list_of_answers_has_none(tmp_path):
    text = squad("a").replace(
        ', "answers": [{"text": "high", "answer_start": 12}]', ', "is_impossible": true'
    )
    assert "is_impossible" in text
    data = write(tmp_path, {"xquad/xquad.de.json": text})
    assert list(XQUAD.read(data, "test", "de")) == [question("a", ())]


def test_an_answer_at_the_wrong_place_is_kept_as_it_is(tmp_path):
    wrong = [{"text": "high", "answer_start": 3}]
    data = write(tmp_path, {"xquad/xquad.de.json": squad("a", answers=wrong)})
    assert list(XQUAD.read(data, "test", "de")) == [question("a", (Answer("high", 3),))]


def test_an_id_that_is_a_number_becomes_text(tmp_path):
    data = write(tmp_path, {"xquad/xquad.de.json": squad("a").replace('"id": "a"', '"id": 5')})
    assert next(XQUAD.read(data, "test", "de")).id == "5"


def test_questions_of_the_same_id_are_told_apart(tmp_path):
    data = write(tmp_path, {"xquad/xquad.de.json": squad("0", "1", "0", "0")})
    found = list(XQUAD.read(data, "test", "de"))
    assert [each.id for each in found] == ["0", "1", "0#2", "0#3"]
    assert found[2].question == "0?"


def test_the_same_english_questions_train_for_xquad_and_mlqa(tmp_path):
    files = {"squad/train-v1.1.json": squad("t"), "squad/dev-v1.1.json": squad("d")}
    data = write(tmp_path, files)
    for reader in (XQUAD, MLQA):
        assert list(reader.read(data, "train", "en")) == [question("t")]
        assert list(reader.read(data, "translated", "en")) == [question("t")]
        assert list(reader.read(data, "dev", "en")) == [question("d")]
        assert reader.languages(data, "train", ["de", "en"]) == ["en"]
        assert reader.languages(data, "dev", ["de", "en"]) == ["en"]
    write(tmp_path, {"mlqa/MLQA_V1/dev/dev-context-en-question-en.json": squad("own")})
    assert list(MLQA.read(data, "dev", "en")) == [question("own")]


@pytest.mark.parametrize(
    ("reader", "split", "file"),
    [
        (XQUAD, "test", "xquad/xquad.ru.json"),
        (XQUAD, "translated", "SQuAD/translate-train/squad.translate.train.en-ru.json"),
        (MLQA, "dev", "mlqa/MLQA_V1/dev/dev-context-ru-question-ru.json"),
        (MLQA, "test", "mlqa/MLQA_V1/test/test-context-ru-question-ru.json"),
        (MLQA, "translated", "SQuAD/translate-train/squad.translate.train.en-ru.json"),
        (TYDIQA, "train", "tydiqa/tydiqa-goldp-v1.1-train/tydiqa.goldp.ru.train.json"),
        (TYDIQA, "train", "tydiqa/tydiqa-goldp-v1.1-train/tydiqa.ru.train.json"),
        (TYDIQA, "dev", "tydiqa/tydiqa-goldp-v1.1-dev/tydiqa.goldp.ru.dev.json"),
        (TYDIQA, "test", "tydiqa/tydiqa-goldp-v1.1-dev/tydiqa.goldp.ru.dev.json"),
        (TYDIQA, "test", "tydiqa/tydiqa-goldp-v1.1-dev/tydiqa-goldp-dev-russian.json"),
        (
            TYDIQA,
            "translated",
            "TyDiQA-GoldP/translate-train/tydiqa.translate.train.en-ru.json",
        ),
    ],
)
def test_every_place_is_found(reader, split, file, tmp_path):
    data = write(tmp_path, {file: squad("a")})
    assert reader.languages(data, split, ["en", "ru", "ko"]) == ["ru"]
    assert list(reader.read(data, split, "ru")) == [question("a")]


def test_tydiqa_as_it_was_published_has_all_languages_in_a_file(tmp_path):
    text = squad("korean-1-0", "swahili-2-0", "korean-3-1")
    data = write(tmp_path, {"tydiqa/tydiqa-goldp-v1.1-train.json": text})
    assert TYDIQA.languages(data, "train", ["en", "ko", "sw"]) == ["ko", "sw"]
    ids = [found.id for found in TYDIQA.read(data, "train", "ko")]
    assert ids == ["korean-1-0", "korean-3-1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (squad("a")[:-20], "damaged or cut off, and no JSON"),
        ("", "damaged or cut off, and no JSON"),
        ('{"a": "high"}', "no list `data`"),
        ("[1, 2]", "no list `data`"),
        ('{"data": [{"title": "Hills"}]}', "not in SQuAD's form: no 'paragraphs'"),
        ('{"data": [1]}', "not in SQuAD's form"),
        ('{"data": 1}', "not in SQuAD's form"),
        (squad("a").replace("question", "query"), "not in SQuAD's form: no 'question'"),
        (squad("a").replace("12", '"x"'), "not in SQuAD's form: invalid literal"),
        ('{"data": []}', "no example"),
    ],
)
def test_a_file_in_another_form_is_refused_in_one_sentence(tmp_path, text, message):
    data = write(tmp_path, {"xquad/xquad.de.json": text})
    with pytest.raises(DataError, match=f"xquad.de.json .*{message}"):
        list(XQUAD.read(data, "test", "de"))


def test_a_file_that_is_not_utf8_is_refused(tmp_path):
    data = write(tmp_path, {"xquad/xquad.de.json": ""})
    (tmp_path / "xquad/xquad.de.json").write_bytes(squad("a").encode()[:-5] + b'\xff"]}')
    with pytest.raises(DataError, match=r"Line 1 of .*xquad\.de\.json is not UTF-8"):
        list(XQUAD.read(data, "test", "de"))
