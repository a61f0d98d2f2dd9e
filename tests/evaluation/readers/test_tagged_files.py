"""Sentences of tagged words, in each of the layouts that they come in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import DataError
from polyprune.evaluation.examples import TaggedSentence
from polyprune.evaluation.readers.tagged_files import PANX, UDPOS
from support.files import write

words = st.text(
    st.characters(exclude_characters="\t\n\r\ufeff", exclude_categories=["Cs"]), min_size=1
).filter(str.strip)
tags = st.sampled_from(["O", "B-PER", "I-PER", "NOUN", "?"])


@given(st.lists(st.lists(st.tuples(words, tags), min_size=1), min_size=1), st.booleans())
def test_what_is_written_is_read(tmp_path_factory, sentences, ends):
    text = "\n\n".join("\n".join("\t".join(row) for row in rows) for rows in sentences)
    data = write(tmp_path_factory.mktemp("words"), {"panx/dev-de.tsv": text + "\n\n" * ends})
    assert list(PANX.read(data, "dev", "de")) == [
        TaggedSentence(tuple(word for word, _ in rows), tuple(tag for _, tag in rows))
        for rows in sentences
    ]


@given(st.lists(st.lists(words, min_size=1), min_size=1))
def test_words_without_tags_are_read_too(tmp_path_factory, sentences):
    text = "\n\n".join("\n".join(rows) for rows in sentences)
    data = write(tmp_path_factory.mktemp("words"), {"udpos/test-de.tsv": text})
    assert list(UDPOS.read(data, "test", "de")) == [
        TaggedSentence(tuple(rows)) for rows in sentences
    ]


def test_several_blank_lines_are_as_good_as_one(tmp_path):
    data = write(tmp_path, {"panx/dev-de.tsv": "\n\na\tO\r\n \n\n\nb\tO\nc\tB-PER \n\n\n"})
    assert list(PANX.read(data, "dev", "de")) == [
        TaggedSentence(("a",), ("O",)),
        TaggedSentence(("b", "c"), ("O", "B-PER")),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a\tO\nb\n", 2, "has 1 column between tabs, where 2 should"),
        ("a\n\nb\tO\n", 3, "has 2 columns between tabs, where 1 should"),
        ("a\tO\tO\n", 1, "has 3 columns between tabs, where 1 or 2 should"),
    ],
)
def test_a_wrong_number_of_columns_is_named(tmp_path, text, line, message):
    data = write(tmp_path, {"panx/dev-de.tsv": text})
    with pytest.raises(DataError, match=rf"Line {line} of .*dev-de\.tsv {message}"):
        list(PANX.read(data, "dev", "de"))


@pytest.mark.parametrize("place", ["panx/{}/{}", "panx_dataset/{}-{}", "{}/{}"])
def test_wikiann_as_it_was_published_has_the_language_before_each_word(tmp_path, place):
    text = "de:Um\tO\nde:10:30\tO\nde:Uhr\tB-ORG\n\nde::\tO\n"
    data = write(tmp_path, {place.format("de", "train"): text})
    expected = [
        TaggedSentence(("Um", "10:30", "Uhr"), ("O", "O", "B-ORG")),
        TaggedSentence((":",), ("O",)),
    ]
    assert list(PANX.read(data, "train", "de")) == expected
    assert list(PANX.read(data, "translated", "de")) == expected


def test_a_word_without_its_language_is_refused(tmp_path):
    data = write(tmp_path, {"panx/de/dev": "de:Um\tO\nacht\tO\n"})
    with pytest.raises(DataError, match=r"Line 2 of .*dev has no language before its word"):
        list(PANX.read(data, "dev", "de"))


@pytest.mark.parametrize(("reader", "task"), [(UDPOS, "udpos"), (PANX, "panx")])
def test_nothing_is_translated_for_tags(reader, task, tmp_path):
    data = write(tmp_path, {f"{task}/train-{code}.tsv": f"{code}\tX\n" for code in ("en", "de")})
    assert reader.languages(data, "translated", ["fr", "en", "de"]) == ["en", "de"]
    for code in ("en", "de"):
        assert list(reader.read(data, "translated", code)) == [TaggedSentence((code,), ("X",))]
