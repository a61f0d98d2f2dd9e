"""Pairs of sentences, in each of the layouts that XNLI and PAWS-X come in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import DataError
from polyprune.evaluation.examples import SentencePair
from polyprune.evaluation.readers.pair_files import PAWSX, XNLI
from support.files import write

PAWSX_HEADER = "id\tsentence1\tsentence2\tlabel\n"
# Whatever a line may hold: a tab is between columns, and lines end in either way.
sentences = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]))
labels = st.sampled_from(["entailment", "neutral", "contradiction", "0", "1", "?"])


@given(st.lists(st.tuples(sentences, sentences, labels), min_size=1))
def test_what_is_written_is_read(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("pairs")
    # A mark of byte order at the beginning of a file is none of its text.
    text = "\ufeff" + "".join("\t".join(row) + "\n" for row in rows)
    data = write(folder, {"xnli/dev-de.tsv": text})
    assert list(XNLI.read(data, "dev", "de")) == [SentencePair(*row) for row in rows]


@given(st.lists(st.tuples(sentences, sentences), min_size=1))
def test_a_file_without_labels_is_read_too(tmp_path_factory, rows):
    text = "\ufeff" + "".join("\t".join(row) + "\r\n" for row in rows)
    data = write(tmp_path_factory.mktemp("pairs"), {"pawsx/test-ja.tsv": text})
    assert list(PAWSX.read(data, "test", "ja")) == [SentencePair(*row) for row in rows]


def test_a_quote_is_a_character(tmp_path):
    data = write(tmp_path, {"xnli/dev-de.tsv": '"He said ""no""."\tit\'s "here\tneutral\n'})
    assert list(XNLI.read(data, "dev", "de")) == [
        SentencePair('"He said ""no""."', "it's \"here", "neutral")
    ]


def test_no_line_is_dropped(tmp_path):
    data = write(tmp_path, {"pawsx/dev-de.tsv": "sentence1\tsentence2\tlabel\n\t\t0\na\t\t\n"})
    assert list(PAWSX.read(data, "dev", "de")) == [
        SentencePair("sentence1", "sentence2", "label"),
        SentencePair("", "", "0"),
        SentencePair("a", "", None),
    ]


def test_two_words_for_a_contradiction_are_one(tmp_path):
    data = write(tmp_path, {"xnli/train-en.tsv": "a\tb\tcontradictory\na\tb\tcontradiction\n"})
    assert {pair.label for pair in XNLI.read(data, "train", "en")} == {"contradiction"}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a\n", 1, "has 1 column between tabs, where 2 or 3 should be"),
        ("a\tb\tneutral\na\tb\n", 2, "has 2 columns between tabs, where 3 should be"),
        ("a\tb\tneutral\n\na\tb\tneutral\n", 2, "has 1 column between tabs"),
        ("a\tb\na\tb\tc\td\n", 2, "has 4 columns"),
    ],
)
def test_a_wrong_number_of_columns_is_named(tmp_path, text, line, message):
    data = write(tmp_path, {"xnli/test-de.tsv": text})
    with pytest.raises(DataError, match=rf"Line {line} of .*test-de\.tsv {message}"):
        list(XNLI.read(data, "test", "de"))


def test_xnli_as_it_was_published_has_all_languages_in_a_file(tmp_path):
    text = (
        "language\tgold_label\tsentence1_binary_parse\tsentence1\tsentence2\tmatch\n"
        "de\tcontradiction\t\t eins \tzwei\tTrue\n"
        "fr\tneutral\t\tun\tdeux\tTrue\n"
        'de\tentailment\t\t"drei\tvier\tTrue\n'
    )
    data = write(tmp_path, {"XNLI-1.0/xnli.test.tsv": text})
    assert list(XNLI.read(data, "test", "de")) == [
        SentencePair("eins", "zwei", "contradiction"),
        SentencePair('"drei', "vier", "entailment"),
    ]
    assert list(XNLI.read(data, "test", "fr")) == [SentencePair("un", "deux", "neutral")]


def test_multinli_is_read_in_english_and_as_it_was_translated(tmp_path):
    header = "premise\thypo\tlabel\n"
    data = write(
        tmp_path,
        {
            "XNLI-MT-1.0/multinli/multinli.train.en.tsv": header + "one\ttwo\tcontradictory\n",
            "XNLI-MT-1.0/multinli/multinli.train.de.tsv": header + "eins\tzwei\tcontradictory\n",
        },
    )
    english, german = (
        SentencePair("one", "two", "contradiction"),
        SentencePair("eins", "zwei", "contradiction"),
    )
    assert list(XNLI.read(data, "train", "en")) == [english]
    assert list(XNLI.read(data, "translated", "en")) == [english]
    assert list(XNLI.read(data, "translated", "de")) == [german]
    # What was translated by a machine is not the training data of a language.
    assert XNLI.languages(data, "train", ["de", "en"]) == ["en"]


@pytest.mark.parametrize(("reader", "folder"), [(XNLI, "XNLI"), (PAWSX, "PAWSX")])
def test_of_translations_the_translated_columns_are_taken(reader, folder, tmp_path):
    name = f"{folder}/translate-train/en-de-translated.tsv"
    plain = f"{folder.lower()}/train-de.tsv"
    data = write(tmp_path, {plain: "x\ty\t1\n"})
    assert list(reader.read(data, "translated", "de")) == [SentencePair("x", "y", "1")]
    write(tmp_path, {name: "one\ttwo\teins\tzwei\t1\n"})
    assert list(reader.read(data, "translated", "de")) == [SentencePair("eins", "zwei", "1")]
    write(tmp_path, {name: "one\ttwo\teins\tzwei\t1\none\ttwo\t1\n"})
    with pytest.raises(DataError, match=r"Line 2 .* has 3 columns between tabs, where 5 should"):
        list(reader.read(data, "translated", "de"))


def test_pawsx_as_it_was_published(tmp_path):
    names = {"train": "train", "dev": "dev_2k", "test": "test_2k", "translated": "translated_train"}
    data = write(
        tmp_path,
        {f"x-final/de/{name}.tsv": f"{PAWSX_HEADER}7\t{name}\t\t1\n" for name in names.values()},
    )
    for split, name in names.items():
        assert list(PAWSX.read(data, split, "de")) == [SentencePair(name, "", "1")]
    assert PAWSX.languages(data, "translated", ["de", "en", "fr"]) == ["de"]


def test_a_published_file_without_its_first_line_is_refused(tmp_path):
    data = write(tmp_path, {"x-final/de/dev_2k.tsv": "7\ta\tb\t1\n"})
    with pytest.raises(DataError, match=r"no sentence1 and no sentence2 and no label in it"):
        list(PAWSX.read(data, "dev", "de"))
    write(tmp_path, {"x-final/de/dev_2k.tsv": PAWSX_HEADER + "7\ta\tb\n"})
    with pytest.raises(DataError, match=r"Line 2 of .* has 3 columns between tabs, where 4"):
        list(PAWSX.read(data, "dev", "de"))
