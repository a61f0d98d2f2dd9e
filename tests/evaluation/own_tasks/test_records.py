"""Rows of files as people have them, each with its line."""

import csv
import gzip
import io
import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import DataError
from polyprune.evaluation.own_tasks.columns import QUESTIONS, TAGGED, TEXTS, translations
from polyprune.evaluation.own_tasks.records import first_row, read_records, unquoted


def values(path, form=TEXTS, **options):
    return [record.values for record in read_records(path, form, **options)]


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


TWO = [{"text": "Chai ni moto", "label": "good"}, {"text": "Mvua", "label": "bad"}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sw.tsv", "Chai ni moto\tgood\nMvua\tbad\n"),
        ("sw.tsv", "Chai ni moto\tgood\nMvua\tbad"),
        ("sw.tsv", "Chai ni moto\tgood\r\nMvua\tbad\r\n\r\n"),
        ("sw.tsv", "\ufefftext\tlabel\nChai ni moto\tgood\nMvua\tbad\n"),
        ("sw.tsv", "id\tLabel\tSentence\n1\tgood\tChai ni moto\n2\tbad\tMvua\n"),
        ("sw.csv", "Chai ni moto,good\nMvua,bad\n"),
        ("sw.csv", '\ufeff"text","label"\r\n"Chai ni moto","good"\r\n"Mvua","bad"\r\n'),
        ("sw.csv", "category,review,extra\ngood,Chai ni moto,x\nbad,Mvua,\n"),
        ("sw.jsonl", '{"text": "Chai ni moto", "label": "good"}\n{"text":"Mvua","label":"bad"}\n'),
        ("b.jsonl", '{"label":"good","text":"Chai ni moto"}\r\n{"text":"Mvua","label":"bad"}'),
        ("sw.json", '[{"text": "Chai ni moto", "label": "good"}, {"text":"Mvua","label":"bad"}]'),
    ],
)  # fmt: skip
def test_tables_are_read_whatever_wrote_them(tmp_path, name, text):
    assert values(written(tmp_path, name, text)) == TWO


def test_packed_files_are_read(tmp_path):
    packed = gzip.compress(b"text\tlabel\nChai ni moto\tgood\nMvua\tbad\n")
    assert values(written(tmp_path, "sw.tsv.gz", packed)) == TWO


def test_a_line_is_told_of_every_row(tmp_path):
    path = written(tmp_path, "sw.csv", 'text,label\n"two\nlines",good\nMvua,bad\n')
    records = list(read_records(path, TEXTS))
    assert [record.values["text"] for record in records] == ["two\nlines", "Mvua"]
    assert [record.where for record in records] == [f"Line {n} of {path}" for n in (2, 4)]


def test_another_separator(tmp_path):
    path = written(tmp_path, "sw.csv", "text;label\nChai ni moto;good\nMvua;bad\n")
    assert values(path, separator=";") == TWO
    with pytest.raises(DataError, match="has one column, 'text;label': say what is between"):
        values(written(tmp_path, "de.csv", "text;label\nTee;good\n"), QUESTIONS)


def test_columns_of_other_names(tmp_path):
    path = written(tmp_path, "sw.csv", "stars,body\ngood,Chai ni moto\nbad,Mvua\n")
    form = TEXTS.renamed({"text": "body", "label": "stars"})
    assert [(each["text"], each["label"]) for each in values(path, form)] == [
        ("Chai ni moto", "good"),
        ("Mvua", "bad"),
    ]


def test_a_column_that_may_be_the_labels_is_told(tmp_path, caplog):
    path = written(tmp_path, "sw.csv", "text,polarity\nMvua,bad\n")
    with caplog.at_level(logging.WARNING):
        assert values(path) == [{"text": "Mvua"}]
    assert "has no column label, but polarity" in caplog.text
    assert "columns = {label = 'polarity'}" in caplog.text


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ('"He said ""no"""', 'He said "no"'),
        ('"quoted"', "quoted"),
        ('"one" and "two"', '"one" and "two"'),
        ('5" pipe', '5" pipe'),
        ('"', '"'),
        ('""', ""),
        ("plain", "plain"),
    ],
)
def test_quotes_in_tab_separated_files(cell, read):
    assert unquoted(cell) == read


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("sw.tsv", "a\tb\nc\n", r"Line 2 of .*sw\.tsv has 1 column, and line 1 has 2\. Texts with"),
        ("sw.tsv", "a\tb\n\nc\td\n", r"Line 2 of .*sw\.tsv is empty\. Delete it; tagged words"),
        ("sw.tsv", "a\tb\tc\td\n", r"has 4 columns, and its first line does not name them: begin"),
        ("sw.csv", 'a,b\n"c,d\n', r"row that begins in line 2 of .*sw\.csv is no CSV \(unexpected"),
        ("sw.jsonl", '{"text": 1}\n{"text"', r"Line 2 of .*sw\.jsonl is no JSON .*one object a"),
        ("sw.jsonl", '["a"]\n', r"Line 1 of .*sw\.jsonl is no JSON object, such as"),
        ("sw.jsonl", '{"body": "a"}\n', r"Line 1 of .*sw\.jsonl has no text, but body\."),
        ("sw.json", "[{]", r"sw\.json is damaged or cut off, and no JSON"),
        ("sw.json", '{"a": 1}', r"neither in SQuAD's form, with a list `data`, nor a list of rows"),
    ],
)
def test_wrong_rows_are_told_with_file_and_line(tmp_path, name, text, message):
    with pytest.raises(DataError, match=message):
        values(written(tmp_path, name, text))


CONLL = "# id 7 domain=en\nUmoja\tB-ORG\nwa\tI-ORG\nMataifa\tI-ORG\n\n\n# text\nLeo\tO\n"


def test_words_with_tags(tmp_path):
    path = written(tmp_path, "sw.conll", CONLL.replace("# text\n", ""))
    first, second = read_records(path, TAGGED)
    assert first.values == {
        "tokens": ["Umoja", "wa", "Mataifa"],
        "tags": ["B-ORG", "I-ORG", "I-ORG"],
    }
    assert second.values == {"tokens": ["Leo"], "tags": ["O"]}
    assert first.where_word(2) == f"Line 4 of {path}"
    assert second.where == f"Line 7 of {path}"


def test_words_between_spaces_with_more_columns(tmp_path):
    text = "-DOCSTART- -X- -X- O\r\n\r\nEU NNP B-NP B-ORG\r\nrejects VBZ B-VP O\r\n"
    path = written(tmp_path, "en.conll", text)
    assert values(path, TAGGED) == [{"tokens": ["EU", "rejects"], "tags": ["B-ORG", "O"]}]
    assert values(written(tmp_path, "sw.conll", "Leo\nni\n\nIjumaa\n"), TAGGED) == [
        {"tokens": ["Leo", "ni"]},
        {"tokens": ["Ijumaa"]},
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Leo\tO\nni\n", r"Line 2 of .*sw\.conll has no tag: 'ni'\. Tag all words, or none\."),
        ("Leo\tO\nni\tX\tO\n", r"Line 2 of .* has 3 columns, and others have 2: the word comes"),
        ("Leo\tO\n\tO\n", r"Line 2 of .* has no word before its tag\."),
    ],
)
def test_wrong_words_are_told_with_their_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        values(written(tmp_path, "sw.conll", text), TAGGED)


def test_tagged_words_may_be_tab_separated_files(tmp_path):
    path = written(tmp_path, "sw.tsv", "Leo\tO\nni\tO\n\nIjumaa\tB-DATE\n")
    assert [each["tokens"] for each in values(path, TAGGED, tagged=True)] == [
        ["Leo", "ni"],
        ["Ijumaa"],
    ]


def test_the_names_of_a_first_row(tmp_path):
    assert first_row(written(tmp_path, "a.csv", "text,label\nx,y\n")) == ["text", "label"]
    assert first_row(written(tmp_path, "a.tsv", "")) == []
    assert first_row(written(tmp_path, "a.jsonl", '{"tokens": []}\n')) == ["tokens"]


def test_translations_have_a_column_for_each_language(tmp_path):
    form = translations("en", "sw")
    rows = [{"en": "tea", "sw": "chai"}]
    assert values(written(tmp_path, "a.tsv", "tea\tchai\n"), form) == rows
    assert values(written(tmp_path, "b.tsv", "sw\ten\nchai\ttea\n"), form) == rows


odd = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1, max_size=30)
one_line = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n\t"), min_size=1, max_size=30
).filter(str.strip)
rows = st.lists(st.tuples(odd.filter(str.strip), one_line), min_size=1, max_size=5)


@given(rows)
def test_whatever_is_written_as_csv_is_read_again(tmp_path_factory, rows):
    out = io.StringIO()
    csv.writer(out).writerows([("text", "label"), *rows])
    path = written(tmp_path_factory.mktemp("odd"), "sw.csv", out.getvalue())
    assert [(each["text"], each["label"]) for each in values(path)] == rows


@given(rows)
def test_whatever_is_written_as_lines_of_json_is_read_again(tmp_path_factory, rows):
    text = "".join(json.dumps({"text": a, "label": b}, ensure_ascii=False) + "\n" for a, b in rows)
    path = written(tmp_path_factory.mktemp("odd"), "sw.jsonl", text)
    assert [(each["text"], each["label"]) for each in values(path)] == rows


@given(st.lists(st.tuples(one_line, one_line), min_size=1, max_size=5))
def test_whatever_is_written_between_tabs_is_read_again(tmp_path_factory, rows):
    """Quoted where there is a quote, as pandas and Python do."""
    out = io.StringIO()
    csv.writer(out, delimiter="\t", lineterminator="\n").writerows([("text", "label"), *rows])
    path = written(tmp_path_factory.mktemp("odd"), "sw.tsv", out.getvalue())
    assert [(each["text"], each["label"]) for each in values(path)] == rows


words = st.lists(
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=8),
    min_size=1, max_size=6,
)  # fmt: skip


@given(st.lists(words, min_size=1, max_size=4))
def test_whatever_words_are_written_are_read_again(tmp_path_factory, sentences):
    text = "".join("".join(f"{word}\tX\n" for word in own) + "\n" for own in sentences)
    path = written(tmp_path_factory.mktemp("odd"), "sw.conll", text)
    assert [each["tokens"] for each in values(path, TAGGED)] == sentences
