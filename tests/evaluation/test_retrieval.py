import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import DataError
from polyprune.evaluation.examples import Bitext
from polyprune.evaluation.metrics import accuracy, set_scores
from polyprune.evaluation.retrieval import (
    above_threshold,
    best_threshold,
    mine_ids,
    mine_pairs,
    nearest,
    unique_positions,
)
from support.paths import VECTORS

OFFICIAL = json.loads((VECTORS / "retrieval.json").read_text())
TATOEBA = OFFICIAL["tatoeba"]

sizes = st.integers(1, 12)


def vectors(count: int, seed: int, width: int = 5) -> torch.Tensor:
    """Random, but all near enough to one direction that no cosine is negative, as in a model."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, width, generator=generator) + 2


def bitext(split: str) -> tuple[Bitext, torch.Tensor, torch.Tensor]:
    own = OFFICIAL[split]
    texts = Bitext(
        sources=tuple(own["src_text"]),
        targets=tuple(own["tgt_text"]),
        source_ids=tuple(own["src_ids"]),
        target_ids=tuple(own["tgt_ids"]),
        gold=tuple(tuple(line.split("\t")) for line in own["gold"]),
    )
    return texts, torch.tensor(own["x"]), torch.tensor(own["y"])


def test_tatoeba_is_predicted_as_by_the_official_script():
    source, english = torch.tensor(TATOEBA["src"]), torch.tensor(TATOEBA["en_sorted"])
    predictions = nearest(source, english).tolist()
    assert predictions == TATOEBA["predictions"]
    assert 100 * accuracy(TATOEBA["labels"], predictions) == pytest.approx(TATOEBA["accuracy"])
    assert nearest(english, source).tolist() == TATOEBA["reverse_predictions"]


@pytest.mark.parametrize("split", ["dev", "test"])
def test_candidates_are_those_of_the_official_script(split):
    texts, source, target = bitext(split)
    sources, targets = unique_positions(texts.sources), unique_positions(texts.targets)
    found = mine_pairs(source[sources], target[targets])
    named = [(texts.sources[sources[a]], texts.targets[targets[b]]) for a, b, _ in found]
    official = OFFICIAL[split]["candidates"]
    assert named == [(pair["src"], pair["tgt"]) for pair in official]
    assert [score for *_, score in found] == pytest.approx([pair["score"] for pair in official])


def test_bucc_is_predicted_as_by_the_official_script():
    texts, *embeddings = bitext("dev")
    threshold = best_threshold(mine_ids(texts, *embeddings), texts.gold)
    for split in ("dev", "test"):
        official = OFFICIAL[split]
        texts, *embeddings = bitext(split)
        pairs = mine_ids(texts, *embeddings)
        assert [pair[:2] for pair in pairs] == [tuple(c[:2]) for c in official["candidate2score"]]
        assert [c[2] for c in pairs] == pytest.approx([c[2] for c in official["candidate2score"]])
        assert threshold == pytest.approx(official["threshold_used"])
        extracted = above_threshold(pairs, threshold)
        assert ["\t".join(pair) for pair in extracted] == official["extracted"]
        assert set_scores(texts.gold, extracted) == pytest.approx(
            (official["precision"], official["recall"], official["f1"])
        )
    assert best_threshold(pairs, texts.gold) == pytest.approx(official["oracle_threshold"])


@given(sizes, sizes, st.integers(1, 200), st.integers(0, 99))
def test_searching_in_blocks_finds_the_nearest(keys, queries, block, seed):
    keys, queries = vectors(keys, seed), vectors(queries, seed + 1)
    cosines = torch.nn.functional.cosine_similarity(queries[:, None], keys[None], dim=-1)
    found = nearest(keys, queries, block=block)
    torch.testing.assert_close(cosines.gather(1, found[:, None])[:, 0], cosines.amax(1))


@given(sizes, sizes, st.integers(1, 6), st.integers(1, 200), st.integers(0, 99))
def test_mining_in_blocks_finds_the_same_pairs(sources, targets, k, block, seed):
    source, target = vectors(sources, seed), vectors(targets, seed + 1)
    whole, parts = mine_pairs(source, target, k), mine_pairs(source, target, k, block=block)
    assert dict.fromkeys(pair[:2] for pair in whole) == dict.fromkeys(pair[:2] for pair in parts)
    assert [pair[2] for pair in whole] == pytest.approx([pair[2] for pair in parts], rel=1e-5)


@given(sizes, sizes, st.integers(1, 6), st.integers(0, 99))
def test_mining_does_not_care_which_side_is_the_source(sources, targets, k, seed):
    source, target = vectors(sources, seed), vectors(targets, seed + 1)
    there = {(a, b): score for a, b, score in mine_pairs(source, target, k)}
    back = {(a, b): score for b, a, score in mine_pairs(target, source, k)}
    assert there == pytest.approx(back, rel=1e-5)


@given(sizes, sizes, st.integers(1, 20), st.integers(0, 99))
def test_mined_pairs_are_one_to_one_and_ordered(sources, targets, k, seed):
    pairs = mine_pairs(vectors(sources, seed), vectors(targets, seed + 1), k)
    assert len({a for a, *_ in pairs}) == len({b for _, b, _ in pairs}) == len(pairs) > 0
    assert [score for *_, score in pairs] == sorted((score for *_, score in pairs), reverse=True)


@given(sizes, sizes, st.integers(1, 20), st.integers(0, 99))
def test_the_length_of_embeddings_does_not_matter(sources, targets, k, seed):
    source, target = vectors(sources, seed), vectors(targets, seed + 1)
    longer = source * (1 + torch.arange(sources)[:, None])
    there, back = mine_pairs(source, target, k), mine_pairs(longer, target, k)
    assert {pair[:2] for pair in there} == {pair[:2] for pair in back}


def test_translations_are_mined_from_among_others():
    target = torch.eye(8)
    pairs = mine_pairs(target[[3, 1, 7]] + 0.1, target, k=2)
    assert sorted(pair[:2] for pair in pairs[:3]) == [(0, 3), (1, 1), (2, 7)]


def test_the_first_of_equal_keys_is_the_nearest():
    keys = torch.tensor([[0.0, 1.0], [2.0, 0.0], [1.0, 0.0]])
    assert nearest(keys, torch.tensor([[3.0, 0.0], [0.0, 5.0]])).tolist() == [1, 0]


def test_narrow_numbers_are_widened_before_the_search():
    keys, queries = torch.eye(3).half(), torch.eye(3)[[2, 0]].half()
    assert nearest(keys, queries, device="cpu").tolist() == [2, 0]


def test_zeros_are_like_nothing():
    assert mine_pairs(torch.zeros(2, 3), torch.zeros(3, 3)) == []
    assert mine_pairs(torch.zeros(0, 3), torch.ones(3, 3)) == []


def test_wrong_searches_are_errors():
    with pytest.raises(DataError, match="no sentences to search in"):
        nearest(torch.zeros(0, 3), torch.ones(1, 3))
    with pytest.raises(ValueError, match="k is 0"):
        mine_pairs(torch.ones(1, 3), torch.ones(1, 3), 0)


def test_no_query_finds_nothing():
    assert nearest(torch.ones(2, 3), torch.ones(0, 3)).tolist() == []


def test_repeated_sentences_have_the_embedding_of_the_last_in_the_place_of_the_first():
    assert unique_positions(["b", "a", "b", "c", "a"]) == [2, 4, 3]


def test_repeated_sentences_are_mined_but_not_told():
    texts = Bitext(("x", "y", "x "), ("p", "q", "r"), ("s0", "s1", "s2"), ("t0", "t1", "t2"))
    pairs = mine_ids(texts, torch.eye(3), torch.eye(3) + 0.1, k=2)
    assert [pair[:2] for pair in pairs] == [("s1", "t1")]


def test_each_sentence_needs_an_embedding():
    texts = Bitext(("x", "y"), ("p",), ("s0", "s1"), ("t0",))
    with pytest.raises(ValueError, match="1 embeddings for 2 sentences"):
        mine_ids(texts, torch.ones(1, 3), torch.ones(1, 3))


PAIRS = [("a", 1, 5.0), ("b", 2, 4.0), ("c", 3, 2.0)]


def test_the_threshold_is_half_way_behind_the_best_candidate():
    assert best_threshold(PAIRS, [("a", 1)]) == 4.5
    assert best_threshold(PAIRS, {("a", 1), ("b", 2)}) == 3.0


def test_the_threshold_of_the_last_candidate_is_its_own_score():
    threshold = best_threshold(PAIRS, [("a", 1), ("c", 3), ("b", 2)])
    assert threshold == 2.0
    assert above_threshold(PAIRS, threshold) == [("a", 1), ("b", 2), ("c", 3)]


def test_the_threshold_takes_all_if_nothing_is_right():
    assert best_threshold(PAIRS, [("a", 2)]) == 0.0
    assert best_threshold(PAIRS, []) == 0.0


def test_there_is_no_threshold_without_pairs():
    with pytest.raises(DataError, match="no pairs to choose a threshold from"):
        best_threshold([], [("a", 1)])


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 1000)), min_size=1))
def test_no_other_threshold_is_better(rows):
    scores = dict.fromkeys(score for _, score in rows)  # of equal scores, either all or none
    pairs = [(score, score, float(score)) for score in sorted(scores, reverse=True)]
    gold = [(score, score) for right, score in rows if right]

    def f1(threshold: float) -> float:
        return set_scores(gold, above_threshold(pairs, threshold)).f1

    assert f1(best_threshold(pairs, gold)) == pytest.approx(max(f1(s) for *_, s in pairs))
