"""Rows as examples, and what is wrong with them."""

import pytest

from polyprune.errors import DataError
from polyprune.evaluation.examples import Answer, Question, SentencePair, TaggedSentence
from polyprune.evaluation.own_tasks.label_names import LabelNames
from polyprune.evaluation.own_tasks.own_reader import PARSERS
from polyprune.evaluation.own_tasks.records import Record

FEELINGS = LabelNames(("bad", "good"), "feelings")
TAGS = LabelNames(("B-LOC", "I-LOC", "O"), "places", what="tag")


def parsed(kind, *rows, labels=None):
    records = (Record(f"Line {i} of sw.tsv", row) for i, row in enumerate(rows, 2))
    return list(PARSERS[kind][0].parse(records, labels or LabelNames()))


def test_texts_and_pairs():
    rows = {"text": "chai", "label": " good "}, {"text": "mvua", "pair": "jua", "label": 0}
    assert parsed("classification", *rows, labels=FEELINGS) == [
        SentencePair("chai", None, "good"),
        SentencePair("mvua", "jua", "bad"),
    ]


def test_without_labels_there_are_none():
    assert parsed("classification", {"text": "chai", "label": ""}, {"text": "mvua"}) == [
        SentencePair("chai", None),
        SentencePair("mvua", None),
    ]


def test_truth_is_a_label():
    (found,) = parsed("classification", {"text": "chai", "label": True})
    assert found.label == "true"


@pytest.mark.parametrize(
    ("written", "labels"),
    [("bad|good", ("bad", "good")), ('["good"]', ("good",)), (["bad"], ("bad",)), ("", ()),
     ([], ()), ([1, 1], ("good",)), ("good", ("good",))],
)  # fmt: skip
def test_several_labels(written, labels):
    (found,) = parsed("multi-label", {"text": "chai", "label": written}, labels=FEELINGS)
    assert found.label == labels


def test_several_labels_may_be_missing():
    (found,) = parsed("multi-label", {"text": "chai"}, labels=FEELINGS)
    assert found.label is None


def test_numbers():
    rows = [{"text": "chai", "label": "3.5"}, {"text": "mvua", "label": -2}]
    assert [each.label for each in parsed("regression", *rows)] == [3.5, -2.0]


def test_tagged_words_in_lists_or_between_spaces():
    rows = [
        {"tokens": ["Mji", "wa", "Kisumu"], "tags": [2, 2, 0]},
        {"tokens": "Mji wa Kisumu", "tags": "O O B-LOC"},
        {"tokens": '["Mji"]', "tags": '["O"]'},
        {"tokens": "[ Mji", "tags": "O O"},
    ]
    found = parsed("tagging", *rows, labels=TAGS)
    assert found[0] == found[1] == TaggedSentence(("Mji", "wa", "Kisumu"), ("O", "O", "B-LOC"))
    assert found[2] == TaggedSentence(("Mji",), ("O",))
    assert found[3].words == ("[", "Mji")


@pytest.mark.parametrize(
    "answers",
    [
        {"answers": {"text": ["Juma"], "answer_start": [9]}},
        {"answers": {"text": ["Juma"]}},
        {"answers": [{"text": "Juma", "answer_start": 9}]},
        {"answers": ["Juma"]},
        {"answers": "Juma", "answer_start": "9"},
        {"answers": "Juma", "answer_start": ""},
        {"answers": "Juma"},
    ],
)
def test_answers_in_all_forms(answers):
    row = {"id": 7, "question": "Nani?", "context": "Alikuja, Juma.", **answers}
    assert parsed("question answering", row) == [
        Question("7", "Nani?", "Alikuja, Juma.", (Answer("Juma", 9),))
    ]


def test_questions_without_ids_are_called_by_their_place():
    row = {"question": "Nani?", "context": "Juma", "answers": "Juma"}
    (found,) = parsed("question answering", row)
    assert found.id == "Line 2 of sw.tsv"
    first, second = parsed("question answering", row | {"id": "a"}, row | {"id": "a"})
    assert (first.id, second.id) == ("a", "a#2")


Q = {"question": "Nani?", "context": "Juma"}


@pytest.mark.parametrize(
    ("kind", "rows", "message"),
    [
        ("classification", [{"text": "a", "label": "good"}, {"text": "b", "label": ""}],
         "Line 3 of sw.tsv has no label, and line 2 of sw.tsv has one: give one to all"),
        ("classification", [{"text": "a", "label": ""}, {"text": "b", "label": "good"}],
         "Line 2 of sw.tsv has no label, and line 3 of sw.tsv has one"),
        ("classification", [{"text": " ", "label": "good"}], "Line 2 of sw.tsv has no text. Fill"),
        ("classification", [{"text": "a", "pair": "", "label": "good"}], "has no pair"),
        ("classification", [{"text": "a", "label": ["good"]}],
         "Line 2 of sw.tsv has several labels, .* where one should be. For several, say kind"),
        ("classification", [{"text": "a", "label": "goood"}, {"text": "b", "label": "x"}],
         "Line 2 of sw.tsv has the label 'goood', which feelings does not have, nor x. Did you "
         "mean 'good'. It has: bad, good."),
        ("multi-label", [{"text": "a", "label": "good|fine"}], "has the label 'fine', which"),
        ("regression", [{"text": "a", "label": "high"}], "has 'high' where a number should be"),
        ("regression", [{"text": "a", "label": "inf"}], "has 'inf' where a number should be"),
        ("tagging", [{"tokens": ["a", "b"], "tags": ["bad"]}], "has 2 words, but 1 tags. Tag each"),
        ("tagging", [{"tokens": []}], "has no words"),
        ("tagging", [{"tokens": 7}], "has 7 where a list should be"),
        ("tagging", [{"tokens": ["a"], "tags": ["B-PER"]}], "has the label 'B-PER', which"),
        ("question answering", [{**Q, "answers": "Asha"}],
         "Line 2 of sw.tsv has the answer 'Asha', which is not in its text"),
        ("question answering", [{**Q, "answers": {"text": ["Juma"], "answer_start": [2]}}],
         "has the answer 'Juma' at character 2, where its text has 'ma'. It is at 0"),
        ("question answering", [{**Q, "answers": {"texts": ["Juma"]}}], "of an unknown form"),
        ("question answering", [{**Q, "answers": "Juma"}, {**Q, "answers": []}],
         "Line 3 of sw.tsv has no answer, and line 2 of sw.tsv has one"),
    ],
)  # fmt: skip
def test_wrong_rows_are_told_with_their_line(kind, rows, message):
    with pytest.raises(DataError, match=message):
        parsed(kind, *rows, labels=FEELINGS)


def test_a_wrong_tag_is_told_with_its_own_line():
    row = Record("Line 4 of sw.conll", {"tokens": ["a", "b"], "tags": ["O", "B-PER"]}, 4)
    with pytest.raises(DataError, match=r"Line 5 of sw\.conll has the tag 'B-PER', which places"):
        list(PARSERS["tagging"][0].parse(iter([row]), TAGS))
