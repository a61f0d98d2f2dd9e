"""A word table that is split by how often words occur."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import polyprune as pp
from polyprune.corpora.batching import Batching
from polyprune.corpora.sentences import corpus_in_memory
from polyprune.errors import ConfigError
from polyprune.model.surgery.factorize import factorize_table
from polyprune.pruning.criteria.scoring import Scoring, ScoringText, score
from polyprune.pruning.criteria.word_frequencies import FLOOR, frequencies_for, word_frequencies
from polyprune.pruning.shrinking import with_ranks
from support.models import speaking_model
from support.text import SENTENCES

OPTIONS = {"sparsity": 0.5, "sentences": 4, "tokens": 16, "batch_size": 4}


@pytest.fixture
def speaking(tmp_path):
    return pp.load(speaking_model(tmp_path))


def text_of(model, sentences=SENTENCES) -> ScoringText:
    return ScoringText(corpus_in_memory(sentences), Batching(model.source.tokenizer(), 4, 24))


def test_words_weigh_what_they_occur_and_unseen_ones_the_floor(speaking):
    words = speaking.shape.vocab_size
    text = text_of(speaking, {"en": ["a b a"], "sw": ["a"] * 7})
    found = word_frequencies(text, words)
    assert float(found.mean()) == pytest.approx(1, rel=1e-5)
    assert float(found.min()) == pytest.approx(FLOOR)
    counted = {}
    for code, lines in {"en": ["a b a"], "sw": ["a"] * 7}.items():
        ids = [i for line in lines for i in text.batching.tokenizer(line)["input_ids"]]
        counted[code] = torch.bincount(torch.tensor(ids), minlength=words) / len(ids)
    expected = (1 - FLOOR) * words * (counted["en"] + counted["sw"]) / 2 + FLOOR
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


def test_a_weighted_table_is_the_same_table_at_full_rank(speaking):
    frequencies = frequencies_for(speaking, text_of(speaking), "weighted")
    split = with_ranks(speaking, "weighted", frequencies)
    ids = torch.tensor([[0, 6, 7, 8, 2]])
    torch.testing.assert_close(split(ids).logits, speaking(ids).logits, atol=1e-4, rtol=1e-4)
    assert not torch.equal(
        split.encoder.embedding.words.weight,
        with_ranks(speaking, "spectral").encoder.embedding.words.weight,
    )
    assert frequencies_for(speaking, text_of(speaking), "spectral") is None
    assert frequencies_for(split, text_of(speaking), "weighted") is None


@given(seed=st.integers(0, 2**31), words=st.integers(5, 40), width=st.integers(2, 5))
def test_no_split_of_that_rank_is_nearer_for_words_of_these_frequencies(seed, words, width):
    dice = torch.Generator().manual_seed(seed)
    table = torch.randn(words, width, generator=dice)
    frequencies = torch.rand(words, generator=dice) + FLOOR

    def error(rank, of=None):
        tall, wide = factorize_table(table, of)
        lost = (tall[:, :rank] @ wide[:rank] - table).square().sum(1)
        return float((frequencies * lost).sum())

    for rank in range(1, width):
        assert error(rank, frequencies) <= error(rank) * (1 + 1e-4) + 1e-5
    assert error(width, frequencies) < 1e-6


def test_prune_splits_the_table_by_its_text(speaking):
    weighted = pp.prune(speaking, corpus=SENTENCES, table="weighted", rounds=1, **OPTIONS)
    plain = pp.prune(speaking, corpus=SENTENCES, table="spectral", rounds=1, **OPTIONS)
    assert max(weighted.differences.values()) < 1e-4
    assert weighted.ranker.table == "weighted"
    ranks, others = (each.ranker.sheet.gradients.squared.rank for each in (weighted, plain))
    assert not torch.allclose(ranks, others, rtol=0.01)
    text = text_of(speaking)
    split = with_ranks(speaking, "weighted", frequencies_for(speaking, text, "weighted"))
    by_hand = score(split, text, Scoring(4, table="as it is")).gradients.squared.rank
    again = score(speaking, text, Scoring(4, table="weighted"), uncut=split)
    torch.testing.assert_close(again.gradients.squared.rank, by_hand)


def test_what_a_weighted_table_is_not_for_is_refused(speaking):
    batches = {"en": [{"input_ids": torch.tensor([[0, 6, 2]])}]}
    for options, told in (
        ({"elastic": True}, "is for one size"),
        ({"gates": "gates.safetensors"}, "without `gates`"),
        ({"corpus": batches}, "give sentences instead of batches"),
    ):
        given = {"corpus": SENTENCES, "table": "weighted", "rule": "fisher", **OPTIONS} | options
        with pytest.raises(ConfigError, match=told):
            pp.prune(speaking, **given)
    with pytest.raises(ConfigError, match="split by a text"):
        pp.score(speaking, corpus=SENTENCES, table="weighted", sentences=2, tokens=16)
