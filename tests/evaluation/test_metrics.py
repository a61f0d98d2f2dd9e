import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import DataError, UnknownName
from polyprune.evaluation import metrics
from polyprune.evaluation.metrics import mlqa_words, squad_words
from support.paths import VECTORS

TAGS = json.loads((VECTORS / "tag_f1.json").read_text())["cases"]
QA = json.loads((VECTORS / "qa_metrics.json").read_text())


@pytest.mark.parametrize("case", TAGS, ids=lambda case: case["name"])
def test_chunks_are_those_of_the_official_version_of_seqeval(case):
    official = case["seqeval_0_0_12"]
    for tags, entities in (("y_true", "true_entities"), ("y_pred", "pred_entities")):
        assert metrics.chunks(case[tags]) == [tuple(entity) for entity in official[entities]]
    scores = metrics.chunk_scores(case["y_true"], case["y_pred"])
    assert scores == pytest.approx([official[name] for name in ("precision", "recall", "f1")])
    assert metrics.chunk_f1(case["y_true"], case["y_pred"]) == scores.f1


def test_conjunctions_are_not_taken_for_each_other():
    assert metrics.chunk_f1([["CCONJ", "VERB"]], [["SCONJ", "VERB"]]) == 0.5


def test_tags_that_begin_with_e_or_s_end_a_chunk():
    tags = ["B-PER", "E-PER", "I-PER", "S-LOC", "E-LOC"]
    assert metrics.chunks([tags]) == [("PER", 0, 1), ("PER", 2, 2), ("LOC", 3, 3), ("LOC", 4, 4)]


@given(st.lists(st.lists(st.sampled_from(["O", "B-A", "I-A", "I-B", "NOUN", "SYM"]))))
def test_right_tags_score_one_if_there_is_any_chunk(tags):
    assert metrics.chunk_f1(tags, tags) == float(any(tag != "O" for row in tags for tag in row))


@given(st.lists(st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B", "X", "SYM", "E-A"]))))
def test_chunks_are_disjoint_and_cover_what_is_not_outside(tags):
    flat = [tag for sentence in tags for tag in (*sentence, "O")]
    covered = [i for _, first, last in metrics.chunks(tags) for i in range(first, last + 1)]
    assert covered == [i for i, tag in enumerate(flat) if tag != "O"]


def test_a_missing_sentence_or_tag_is_an_error():
    with pytest.raises(DataError, match="tags for 1 of 2 sentences"):
        metrics.chunk_f1([["O"], ["O"]], [["O"]])
    with pytest.raises(DataError, match="Sentence 2 has 2 words but 1 predicted"):
        metrics.chunk_f1([["O"], ["O", "O"]], [["O"], ["O"]])


@pytest.mark.parametrize("case", QA["pairs"] + QA["squad_only"], ids=lambda case: case["pred"])
def test_answers_are_scored_by_the_rules_of_squad(case):
    official = case["squad"]
    assert " ".join(squad_words(case["pred"])) == official["norm_pred"]
    assert " ".join(squad_words(case["gold"])) == official["norm_gold"]
    assert metrics.squad(case["pred"], [case["gold"]]) == (official["f1"], official["em"])


@pytest.mark.parametrize("case", QA["pairs"], ids=lambda case: case["pred"])
def test_answers_are_scored_by_the_rules_of_mlqa(case):
    official, language = case["mlqa"], case["lang"]
    assert " ".join(mlqa_words(case["pred"], language)) == official["norm_pred"]
    assert " ".join(mlqa_words(case["gold"], language)) == official["norm_gold"]
    assert metrics.mlqa(case["pred"], [case["gold"]], language) == (official["f1"], official["em"])


def test_only_whole_words_are_articles():
    assert mlqa_words("Las eines einesteils lo", "de") == ["las", "einesteils", "lo"]
    assert mlqa_words("Las eines unas lo", "es") == ["eines", "lo"]
    assert mlqa_words("$5 + 5", "hi") == ["5", "5"]


def test_f1_and_exact_match_each_choose_their_best_answer():
    assert metrics.squad("blue sky", ["blue", "sky blue", "red"]) == (1.0, 0.0)
    assert metrics.squad("", ["", "blue"]) == (0.0, 1.0)
    assert metrics.squad("", ["blue"]) == (0.0, 0.0)


def test_a_question_without_answers_is_an_error():
    with pytest.raises(DataError, match="no answers to compare with"):
        metrics.squad("blue", [])


def test_a_language_that_mlqa_does_not_have_is_an_error():
    with pytest.raises(UnknownName, match="Unknown language of MLQA 'fr'"):
        metrics.mlqa("bleu", ["bleu"], "fr")


def test_accuracy_is_the_fraction_of_equal_places():
    assert metrics.accuracy(["a", "b", "c", "d"], ["a", "c", "b", "d"]) == 0.5
    assert metrics.accuracy([3], [3]) == 1.0


def test_accuracy_needs_a_prediction_for_each_example():
    with pytest.raises(DataError, match="1 predictions for 2 examples"):
        metrics.accuracy(["a", "b"], ["a"])
    with pytest.raises(DataError, match="no examples to score"):
        metrics.accuracy([], [])


def test_sets_are_compared_without_order_or_repetition():
    gold = [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]
    assert metrics.set_scores(gold, [("b", "2"), ("a", "1"), ("a", "1"), ("a", "2")]) == (
        pytest.approx((2 / 3, 1 / 2, 4 / 7))
    )
    assert metrics.set_f1(gold, []) == 0.0
    assert metrics.set_f1([], []) == 0.0
    assert metrics.set_f1(gold, reversed(gold)) == 1.0
