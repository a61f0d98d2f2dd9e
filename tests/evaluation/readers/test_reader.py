"""A reader finds the files of a language, whatever layout they are in, or says what is missing."""

import gc
from itertools import islice

import pytest

from polyprune.errors import DataError
from polyprune.evaluation.examples import SentencePair
from polyprune.evaluation.readers.bitext_files import BUCC, TATOEBA
from polyprune.evaluation.readers.language_codes import (
    LANGUAGES,
    NAMES,
    THREE_LETTERS,
    fill_pattern,
)
from polyprune.evaluation.readers.pair_files import PAWSX, XNLI
from polyprune.evaluation.readers.question_files import MLQA, TYDIQA, XQUAD
from polyprune.evaluation.readers.tagged_files import PANX, UDPOS
from support.files import write

READERS = [XNLI, PAWSX, UDPOS, PANX, XQUAD, MLQA, TYDIQA, BUCC, TATOEBA]


def test_every_task_has_its_official_languages():
    assert {task: len(set(codes)) for task, codes in LANGUAGES.items()} == {
        "xnli": 15,
        "pawsx": 7,
        "udpos": 33,
        "panx": 40,
        "xquad": 11,
        "mlqa": 7,
        "tydiqa": 9,
        "bucc2018": 4,
        "tatoeba": 36,
    }
    assert [reader.task for reader in READERS] == list(LANGUAGES)
    assert all(len(set(codes)) == len(codes) for codes in LANGUAGES.values())


def test_every_language_is_spelled_as_its_files_need():
    assert set(LANGUAGES["tatoeba"]) <= set(THREE_LETTERS)
    assert set(LANGUAGES["udpos"] + LANGUAGES["tydiqa"]) <= set(NAMES)
    assert len(set(THREE_LETTERS.values())) == len(THREE_LETTERS)
    assert fill_pattern("{language} {three} {Name} {name}", "sw") == "sw swh Swahili swahili"
    assert fill_pattern("{three}", "xx") is None
    assert fill_pattern("{language}", "xx") == "xx"


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.task)
def test_an_empty_folder_has_no_language(reader, tmp_path):
    for split in ("train", "dev", "test", "translated"):
        assert reader.languages(str(tmp_path), split, LANGUAGES[reader.task]) == []
        with pytest.raises(DataError, match=f"There is no .* of {reader.task} for 'de'"):
            reader.read(str(tmp_path), split, "de")


def test_places_are_tried_in_order(tmp_path):
    raw = {"x-final/de/dev_2k.tsv": "id\tsentence1\tsentence2\tlabel\n1\tb\tb\t1\n"}
    data = write(tmp_path, raw)
    assert list(PAWSX.read(data, "dev", "de")) == [SentencePair("b", "b", "1")]
    write(tmp_path, {"pawsx/dev-de.tsv": "a\ta\t0\n"})
    assert list(PAWSX.read(data, "dev", "de")) == [SentencePair("a", "a", "0")]


def test_a_missing_file_is_named_with_every_place_and_what_else_is_there(tmp_path):
    data = write(tmp_path, {"xnli/dev-de.tsv": "a\tb\tneutral\n", "xnli/dev-ru.tsv": "\t\t\n"})
    assert XNLI.looked_for(data, "dev", "fr") == ["xnli/dev-fr.tsv", "XNLI-1.0/xnli.dev.tsv"]
    with pytest.raises(DataError) as caught:
        XNLI.read(data, "dev", "fr")
    assert str(caught.value) == (
        f"There is no dev data of xnli for 'fr' in {data}: looked for xnli/dev-fr.tsv, or "
        "XNLI-1.0/xnli.dev.tsv. There is some for de, ru."
    )
    assert XNLI.languages(data, "dev", ["ru", "fr", "de"]) == ["ru", "de"]
    with pytest.raises(DataError, match=r"no training data .*multinli\.train\.en\.tsv\.$"):
        XNLI.read(data, "train", "en")


def test_a_split_that_a_task_does_not_have_is_not_looked_for(tmp_path):
    assert BUCC.looked_for(str(tmp_path), "train", "de") == []
    with pytest.raises(DataError, match=r"training data of bucc2018 .*: XTREME's files have none"):
        BUCC.read(str(tmp_path), "train", "de")
    with pytest.raises(DataError, match="XTREME's files have none"):
        XQUAD.read(str(tmp_path), "train", "de")


@pytest.mark.parametrize("data", ["./nowhere", "~/nowhere/at/all", "/no/where", "a/b/c"])
def test_a_folder_that_is_not_there_is_said_so(data):
    with pytest.raises(DataError, match=f"There is no folder {data}"):
        XNLI.read(data, "dev", "fr")


def test_a_file_of_several_languages_is_found_for_those_it_holds(tmp_path):
    text = "language\tgold_label\tsentence1\tsentence2\nfr\tneutral\ta\tb\n"
    data = write(tmp_path, {"XNLI-1.0/xnli.dev.tsv": text})
    assert XNLI.languages(data, "dev", LANGUAGES["xnli"]) == ["fr"]
    with pytest.raises(DataError, match="There is some for fr"):
        XNLI.read(data, "dev", "de")


def test_english_needs_no_translation(tmp_path):
    data = write(
        tmp_path,
        {
            "xnli/train-en.tsv": "a\tb\tneutral\n",
            "XNLI/translate-train/en-de-translated.tsv": "a\tb\tA\tB\tneutral\n",
        },
    )
    assert XNLI.languages(data, "translated", LANGUAGES["xnli"]) == ["de", "en"]
    assert list(XNLI.read(data, "translated", "en")) == [SentencePair("a", "b", "neutral")]
    assert XNLI.looked_for(data, "translated", "en")[0] == "xnli/train-en.tsv"


@pytest.mark.parametrize(
    ("reader", "files"),
    [
        (XNLI, ["xnli/dev-de.tsv"]),
        (UDPOS, ["udpos/dev-de.tsv"]),
        (UDPOS, ["UD_German-X/de_x-ud-dev.conllu"]),
        (PANX, ["panx/de/dev"]),
        (BUCC, ["bucc2018/de-en.dev.de", "bucc2018/de-en.dev.en"]),
    ],
)
def test_an_empty_file_is_said_to_be_empty(reader, files, tmp_path):
    data = write(tmp_path, dict.fromkeys(files, ""))
    with pytest.raises(DataError, match=f"{files[0]} has no example"):
        list(reader.read(data, "dev", "de"))


@pytest.mark.parametrize(
    ("reader", "file", "good"),
    [(XNLI, "xnli/dev-de.tsv", "a\tb\tneutral\n"), (PANX, "panx/dev-de.tsv", "a\tO\n\n")],
)
def test_a_line_that_is_not_utf8_is_named(reader, file, good, tmp_path):
    data = write(tmp_path, {file: good})
    with (tmp_path / file).open("ab") as opened:
        opened.write(b"\xff\tO\n")
    examples = reader.read(data, "dev", "de")
    next(examples)
    with pytest.raises(DataError, match=rf"Line {good.count(chr(10)) + 1} of .* is not UTF-8"):
        list(examples)


def test_examples_are_read_while_they_are_used(tmp_path):
    """The last line is wrong, which nobody finds out who does not get there."""
    data = write(tmp_path, {"xnli/train-en.tsv": "a\tb\tneutral\n" * 50 + "wrong\n"})
    examples = XNLI.read(data, "train", "en")
    assert len(list(islice(examples, 50))) == 50
    with pytest.raises(DataError, match="Line 51 of "):
        next(examples)
    del examples
    # A file left open would warn, and a warning is an error.
    next(XNLI.read(data, "train", "en"))
    gc.collect()


def test_a_home_folder_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "xtreme", {"xnli/dev-de.tsv": "a\tb\tneutral\n"})
    assert XNLI.languages("~/xtreme", "dev", ["de", "fr"]) == ["de"]
    assert list(XNLI.read("~/xtreme", "dev", "de")) == [SentencePair("a", "b", "neutral")]
