"""Sentences whose translations are to be found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import DataError
from polyprune.evaluation.examples import Bitext
from polyprune.evaluation.readers.bitext_files import BUCC, TATOEBA
from support.files import write

sentences = st.text(
    st.characters(exclude_characters="\t\n\r\ufeff", exclude_categories=["Cs"])
).map(str.strip)


def bucc(start: str, gold: bool = True) -> dict[str, str]:
    files = {
        f"{start}.de": "de-1\teins\nde-2\tzwei\nde-3\tdrei\n",
        f"{start}.en": "en-1\ttwo\nen-2\tone\n",
    }
    return files | ({f"{start}.gold": "de-1\ten-2\nde-2\ten-1\n"} if gold else {})


EXPECTED = Bitext(
    ("eins", "zwei", "drei"),
    ("two", "one"),
    ("de-1", "de-2", "de-3"),
    ("en-1", "en-2"),
    (("de-1", "en-2"), ("de-2", "en-1")),
)


@pytest.mark.parametrize(
    ("split", "start"),
    [
        ("dev", "bucc2018/de-en.dev"),
        ("test", "bucc2018/de-en.test"),
        ("dev", "bucc2018/de-en.sample"),
        ("dev", "bucc2018/de-en/de-en.sample"),
        ("test", "bucc2018/de-en/de-en.training"),
    ],
)
def test_bucc_is_two_files_of_sentences_and_one_of_pairs(tmp_path, split, start):
    data = write(tmp_path, bucc(start))
    assert BUCC.languages(data, split, ["de", "fr"]) == ["de"]
    assert list(BUCC.read(data, split, "de")) == [EXPECTED]


def test_without_a_file_of_pairs_they_are_unknown(tmp_path):
    data = write(tmp_path, bucc("bucc2018/de-en.test", gold=False))
    (found,) = BUCC.read(data, "test", "de")
    assert found.gold is None
    assert found.sources == EXPECTED.sources


@pytest.mark.parametrize("absent", ["de", "en"])
def test_each_missing_file_is_named(tmp_path, absent):
    files = bucc("bucc2018/de-en.dev")
    del files[f"bucc2018/de-en.dev.{absent}"]
    data = write(tmp_path, files)
    with pytest.raises(DataError) as caught:
        BUCC.read(data, "dev", "de")
    assert str(caught.value) == (
        f"The dev data of bucc2018 for 'de' in {data} is not complete: "
        f"bucc2018/de-en.dev.{absent} is missing."
    )
    assert BUCC.languages(data, "dev", ["de"]) == []


def test_pairs_alone_are_no_data(tmp_path):
    data = write(tmp_path, {"bucc2018/de-en.dev.gold": "de-1\ten-1\n"})
    both = "bucc2018/de-en.dev.de and bucc2018/de-en.dev.en"
    with pytest.raises(DataError, match=f"There is no dev data .* looked for {both}, or "):
        BUCC.read(data, "dev", "de")


@pytest.mark.parametrize("ending", ["de", "en", "gold"])
def test_a_wrong_number_of_columns_is_named(tmp_path, ending):
    files = bucc("bucc2018/de-en.dev")
    files[f"bucc2018/de-en.dev.{ending}"] += "one\n"
    data = write(tmp_path, files)
    with pytest.raises(DataError, match=rf"Line \d of .*{ending} has 1 column between tabs"):
        list(BUCC.read(data, "dev", "de"))


@given(st.lists(st.tuples(sentences, sentences), min_size=1))
def test_aligned_lines_are_sorted_and_still_known(tmp_path_factory, rows):
    data = write(
        tmp_path_factory.mktemp("tatoeba"),
        {
            "tatoeba/de-en.de": "".join(f"{source}\n" for source, _ in rows),
            "tatoeba/de-en.en": "".join(f"{target}\n" for _, target in rows),
        },
    )
    (found,) = TATOEBA.read(data, "test", "de")
    english = [target for _, target in rows]
    assert found.sources == tuple(source for source, _ in rows)
    assert found.targets == tuple(sorted(english))
    assert found.source_ids == found.target_ids == tuple(map(str, range(len(rows))))
    if len(rows) > 1 and english == sorted(english):
        assert found.gold is None
    else:
        assert [rows[int(source)][1] for source, _ in found.gold] == sorted(english)
        # Where two are the same, the order stays.
        assert list(found.gold) == sorted(
            found.gold, key=lambda pair: (english[int(pair[0])], int(pair[0]))
        )
        assert [target for _, target in found.gold] == list(found.target_ids)


@pytest.mark.parametrize("place", ["tatoeba/test-sw.tsv", "labels/tatoeba/test-sw.tsv"])
def test_sorted_lines_are_known_from_a_file_of_labels(tmp_path, place):
    files = {"tatoeba/sw-en.sw": "tatu\nmoja\nmbili\n", "tatoeba/sw-en.en": "one\nthree\ntwo\n"}
    data = write(tmp_path, files)
    assert next(TATOEBA.read(data, "test", "sw")).gold is None
    write(tmp_path, {place: "1\n0\n2\n"})
    assert next(TATOEBA.read(data, "test", "sw")).gold == (("1", "0"), ("0", "1"), ("2", "2"))
    write(tmp_path, {place: "[1]\n[0]\n[2]\n"})  # as the official script has it
    assert next(TATOEBA.read(data, "test", "sw")).gold == (("1", "0"), ("0", "1"), ("2", "2"))
    write(tmp_path, {place: "one\n0\n2\n"})
    with pytest.raises(DataError, match=r"test-sw.tsv cannot be read: Line 1 should be a number"):
        next(TATOEBA.read(data, "test", "sw"))
    write(tmp_path, {place: "1\n0\n"})
    with pytest.raises(DataError, match=r"test-sw.tsv has 2 labels for 3 sentences"):
        next(TATOEBA.read(data, "test", "sw"))


def test_tatoeba_as_laser_has_it(tmp_path):
    data = write(
        tmp_path,
        {"tatoeba/tatoeba.cmn-eng.cmn": "二\n一\n", "tatoeba/tatoeba.cmn-eng.eng": "two\none\n"},
    )
    assert TATOEBA.languages(data, "test", ["de", "zh", "xx"]) == ["zh"]
    (found,) = TATOEBA.read(data, "test", "zh")
    assert found == Bitext(
        ("二", "一"), ("one", "two"), ("0", "1"), ("0", "1"), (("1", "0"), ("0", "1"))
    )


def test_lines_that_do_not_match_are_refused(tmp_path):
    data = write(tmp_path, {"tatoeba/de-en.de": "a\nb\n", "tatoeba/de-en.en": "b\n"})
    with pytest.raises(DataError, match=r"de-en.de has 2 lines but .*de-en.en has 1"):
        next(TATOEBA.read(data, "test", "de"))
    write(tmp_path, {"tatoeba/fr-en.fr": "a\n"})
    with pytest.raises(DataError, match=r"not complete: tatoeba/fr-en.en is missing"):
        TATOEBA.read(data, "test", "fr")
