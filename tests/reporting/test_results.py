"""The scoreboard: baselines, means over languages and seeds, the nearest size."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.averages import mean, mean_over_languages, mean_over_seeds, number, spread
from polyprune.reporting.results import (
    Results,
    Score,
    System,
    SystemSize,
    main_score,
    table_scores,
)

DENSE = System("dense", "Dense")
HALF = System("grad", "Grad", 0.5)


def tried(*systems):
    return Results(scores=tuple(Score(each, "xnli", {}) for each in systems))


def test_a_baseline_is_the_own_uncut_size_then_the_dense_model_then_the_first_uncut():
    own, other = System("grad", "Grad", 0.0), System("small", "Small")
    assert tried(other, DENSE, own, HALF).baseline(HALF) == own
    assert tried(other, DENSE, HALF).baseline(HALF) == DENSE
    assert tried(other, HALF).baseline(HALF) == other
    assert tried(HALF).baseline(HALF) is None


def test_a_baseline_has_none_and_what_is_not_cut_is_compared_with_the_dense_model():
    own, small = System("grad", "Grad", 0.0), System("small", "Small")
    results = tried(DENSE, own, HALF, small)
    assert results.baseline(DENSE) is results.baseline(own) is None
    assert results.baseline(small) == DENSE


def test_a_dense_model_that_is_cut_is_no_baseline():
    assert tried(System("dense", "Dense", 0.5), HALF).baseline(HALF) is None


def test_who_knows_what_a_system_was_cut_from_may_say_so():
    folder, first, original = (System(name, name) for name in ("half", "first", "original"))
    results = tried(folder, first, original)
    assert results.baseline(folder) is None
    assert results.baseline(folder, "somebody/original") == original
    assert results.baseline(folder, "unknown") == first
    assert tried(DENSE, original, folder).baseline(folder, "original") == DENSE


SYSTEMS = [("dense", None), ("a", 0.0), ("a", 0.5), ("b", 0.0), ("b", 0.3), ("c", None), ("d", 0.5)]


@given(st.permutations(SYSTEMS), st.integers(0, len(SYSTEMS)))
def test_a_baseline_is_an_uncut_system_that_has_no_baseline_itself(named, count):
    results = tried(*(System(name, name, sparsity) for name, sparsity in named[:count]))
    for system in results.systems:
        found = results.baseline(system)
        assert found is None or (not found.sparsity and results.baseline(found) is None)


def answers(seed, f1, exact, **languages):
    own = {code: {"f1": value, "exact": value} for code, value in languages.items()}
    return Score(HALF, "xquad", {"f1": f1, "exact": exact}, own, seed=seed)


def test_means_are_over_the_seeds_that_have_all_their_numbers():
    scores = (
        answers(0, 60.0, 40.0, sw=50.0, ur=30.0),
        answers(1, 70.0, 44.0, sw=None, ur=40.0),
        answers(2, 99.0, math.nan, th=None),
    )
    results = Results(scores=scores)
    asked = (HALF, "xquad", "transfer")
    assert results.over_seeds(*asked) == {"f1": 65.0, "exact": 42.0}
    assert results.mean(*asked) == 65.0
    assert results.by_language(*asked) == {"sw": 50.0, "ur": 35.0, "th": None}
    assert results.over_seeds(*asked, "ur") == {"f1": 35.0, "exact": 35.0}
    assert results.tried(HALF) == (("xquad", "transfer"),)


def test_what_was_not_tried_has_no_mean():
    assert Results().mean(HALF, "xnli", "transfer") is None
    assert Results().by_language(HALF, "xnli", "transfer") == {}


def test_of_several_scores_with_one_seed_the_last_counts():
    results = Results(scores=(answers(0, 1.0, 1.0), answers(0, 3.0, 2.0)))
    assert results.over_seeds(HALF, "xquad", "transfer") == {"f1": 3.0, "exact": 2.0}


def test_the_nearest_size_of_each_system():
    sizes = [System("ds", "DS", sparsity) for sparsity in (0.9, 0.1, 0.4, 0.7)]
    results = tried(DENSE, *sizes, HALF)
    assert results.nearest(0.5) == [DENSE, sizes[2], HALF]
    assert results.nearest(0.75, sizes) == [sizes[3]]
    assert results.nearest(0.5, []) == []


def test_a_size_is_the_first_that_was_timed():
    sizes = (SystemSize(HALF, 1.0), SystemSize(HALF, 2.0, faster=1.5), SystemSize(HALF, faster=9.0))
    assert Results(sizes=sizes).size(HALF) == sizes[1]
    assert Results(sizes=sizes[:1]).size(HALF) == sizes[0]
    assert Results(sizes=sizes).size(DENSE) is None


def test_the_score_that_counts_and_those_that_tables_show():
    assert main_score({"precision": 1.0, "f1": 2.0}) == 2
    assert main_score({}) is None
    assert table_scores({"f1": 1.0, "exact": 2.0, "more": 3.0}) == {"f1": 1, "exact": 2}
    assert table_scores({"accuracy": 1.0, "more": 3.0}) == {"accuracy": 1}
    assert table_scores({"f1": 1.0, "precision": 2.0, "recall": 3.0}) == {"f1": 1.0}
    assert table_scores({}) == {}


def test_numbers_and_means_of_those_that_are_some():
    assert [number(each) for each in (True, "1", float("inf"), 1)] == [None, None, None, 1.0]
    assert (mean([None, 1.0, math.nan, 3.0]), mean([None])) == (2, None)
    assert (spread([1.0, None, 3.0]), spread([1.0])) == (pytest.approx(math.sqrt(2)), None)
    assert mean_over_languages({"sw": {"f1": 1.0}, "ur": None, "th": {"f1": 2.0}}) == {"f1": 1.5}
    assert mean_over_seeds([]) == mean_over_seeds([None, {}, {"f1": None}]) == {}
