"""Metrics by name: equal to those of scikit-learn and scipy."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import DataError, UnknownName
from polyprune.evaluation.named_metrics import (
    METRICS,
    correlations,
    f1_by_label,
    find_metric,
    label_sets,
    one_label,
    tags,
)

sklearn = pytest.importorskip("sklearn.metrics")

pairs = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1)
sets = st.frozensets(st.sampled_from("abcd"))


@given(pairs)
def test_labels_are_scored_as_by_scikit_learn(pairs):
    gold, predicted = map(list, zip(*pairs, strict=True))
    found = one_label(gold, predicted, "sw")
    assert found["accuracy"] == pytest.approx(100 * sklearn.accuracy_score(gold, predicted))
    for average in ("macro", "micro"):
        theirs = sklearn.f1_score(gold, predicted, average=average, zero_division=0)
        assert found[f"{average}_f1"] == pytest.approx(100 * theirs)


@given(st.lists(st.tuples(sets, sets), min_size=1))
def test_sets_of_labels_are_scored_as_by_scikit_learn(pairs):
    gold, predicted = map(list, zip(*pairs, strict=True))
    found = label_sets(gold, predicted, "sw")
    known = sorted(frozenset().union(*gold, *predicted))
    exact = 100 * sum(a == b for a, b in pairs) / len(pairs)
    assert found["exact_match"] == pytest.approx(exact)
    if not known:
        assert f1_by_label(gold, predicted) == (1, 1)
        return
    rows = [[[label in one for label in known] for one in side] for side in (gold, predicted)]
    for average in ("macro", "micro"):
        theirs = sklearn.f1_score(*rows, average=average, zero_division=0)
        assert found[f"{average}_f1"] == pytest.approx(100 * theirs)


def test_numbers_are_compared_by_value_and_by_rank():
    found = correlations([1.0, 2.0, 3.0, 4.0], [1.0, 4.0, 9.0, 16.0])
    assert found["spearman"] == pytest.approx(100)
    assert found["pearson"] == pytest.approx(98.437404)
    assert correlations([1.0, 2.0], [3.0, 3.0]) == {"pearson": 0.0, "spearman": 0.0}


def test_tags_are_scored_as_chunks_and_as_words():
    gold, predicted = [["B-LOC", "I-LOC", "O"]], [["B-LOC", "O", "O"]]
    found = tags(gold, predicted, "sw")
    assert found["chunk_f1"] == 0
    assert found["accuracy"] == pytest.approx(100 * 2 / 3)


@pytest.mark.parametrize("kind", METRICS)
def test_the_metric_that_is_named_comes_first(kind):
    gold = {
        "regression": [1.0, 2.0], "tagging": [["O", "B-A"]], "multi-label": [("a",), ()],
        "question answering": [("q", ["tea"])], "retrieval": [0, 1],
    }.get(kind, ["a", "b"])  # fmt: skip
    given = {"q": "tea"} if kind == "question answering" else gold
    for name in METRICS[kind][1]:
        scores = find_metric(kind, name)(gold, given, "en")
        first = next(iter(scores))
        assert first == name.replace("-", "_") or (first, name) == ("exact", "exact-match")
        assert scores[first] == pytest.approx(100)


def test_the_usual_metrics():
    assert find_metric("tagging", "", ("B-LOC", "O")).name == "chunk-f1"
    assert find_metric("tagging", "", ("NOUN", "VERB")).name == "accuracy"
    assert find_metric("classification", "").name == "accuracy"


def test_an_unknown_metric_is_told_with_the_nearest():
    message = r"Unknown metric 'macrof1'\. Did you mean 'macro-f1'\? For classification there are"
    with pytest.raises(UnknownName, match=message):
        find_metric("classification", "macrof1")


def test_one_class_only_is_told(caplog):
    with caplog.at_level(logging.WARNING):
        find_metric("classification", "").check(["a", "a"], "test data of x for 'sw' in mine")
    assert "All examples have the label 'a' in the test data of x for 'sw'" in caplog.text
    caplog.clear()
    find_metric("classification", "").check(["a", "b"], "test data")
    find_metric("tagging", "").check([["O", "B-X"]] * 2, "test data")
    find_metric("question answering", "").check([("q", ["a"])] * 2, "test data")
    assert not caplog.text
    with pytest.raises(DataError, match="Pearson is not defined where all numbers are the same"):
        find_metric("regression", "").check([2.0, 2.0], "test data of x for 'sw'")
