"""Batches: the same for all models, of equal or of real lengths."""

import pytest
import torch

from polyprune.corpora.corpus import open_corpus
from polyprune.errors import DataError
from polyprune.measuring.workload import TokenBatch, Workload, real_sentences
from polyprune.model.network.source import ModelSource
from support.text import SENTENCES


def test_equal_sentences_are_one_batch_without_padding():
    (batch,) = Workload(words=60, tokens=7).batches(5)
    assert batch.ids.shape == (5, 7)
    assert batch.mask is None
    assert batch.tokens == 35
    assert 10 <= batch.ids.min() <= batch.ids.max() < 60
    assert batch.ids.equal(Workload(words=60, tokens=7).batches(5)[0].ids)


def test_real_sentences_are_padded_to_the_longest_of_their_batch(speaking, text):
    work = real_sentences(open_corpus(text), ModelSource.at(speaking).tokenizer(), 60, 20)
    batches = work.batches(8)
    assert len(batches) == 4
    assert len(work.batches(1)) == 32
    assert len({batch.ids.shape[1] for batch in work.batches(1)}) > 3  # lengths differ
    for batch in batches:
        assert batch.mask is not None
        assert batch.ids.shape == batch.mask.shape
        assert batch.mask.sum(1).max() == batch.ids.shape[1] <= 20
        assert batch.ids[batch.mask == 0].eq(1).all()  # XLM-R's padding
        assert batch.ids[batch.mask == 1].ne(1).all()
    assert len(work.lines or ()) == sum(map(len, SENTENCES.values()))


def test_words_that_a_small_vocabulary_lacks_are_read_as_others(speaking, text):
    small = real_sentences(open_corpus(text), ModelSource.at(speaking).tokenizer(), 30, 20)
    large = real_sentences(open_corpus(text), ModelSource.at(speaking).tokenizer(), 60, 20)
    assert [len(line) for line in small.lines or ()] == [len(line) for line in large.lines or ()]
    assert max(max(line) for line in small.lines or ()) < 30
    assert all(1 not in line for line in small.lines or ())


def test_an_export_gets_arrays_with_a_mask():
    ids = torch.tensor([[5, 6]])
    assert TokenBatch(ids).arrays()["attention_mask"].tolist() == [[1, 1]]
    assert TokenBatch(ids, torch.tensor([[1, 0]])).arrays()["attention_mask"].tolist() == [[1, 0]]


def test_a_corpus_of_empty_files_is_refused(speaking, tmp_path):
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "sw.txt").write_text("\n")
    with pytest.raises(DataError, match="every file in it is empty"):
        real_sentences(open_corpus(tmp_path / "none"), ModelSource.at(speaking).tokenizer(), 60, 20)
