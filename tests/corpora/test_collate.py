"""Examples are padded to the longest, and masked by their numbers alone."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.corpora.collate import collate
from polyprune.corpora.example import Example
from polyprune.corpora.masking import mask_example
from polyprune.errors import ConfigError
from support.small_texts import BOS, EOS, MASK, PAD, TOKENIZER, make_tokenizer

rows = st.lists(
    st.lists(st.integers(MASK + 1, 300), min_size=1, max_size=20).map(lambda row: [BOS, *row, EOS]),
    min_size=1,
    max_size=6,
)
LONG = [BOS, *range(10, 60), EOS]


def examples(rows: list[list[int]], first: int = 0) -> list[Example]:
    return [Example(i, "sw", row) for i, row in enumerate(rows, first)]


def unpadded(batch: dict[str, torch.Tensor], name: str = "input_ids") -> list[list[int]]:
    keep = batch[name.replace("input_ids", "attention_mask").replace("labels", "attention_mask")]
    return [row[kept.bool()].tolist() for row, kept in zip(batch[name], keep, strict=True)]


@given(rows)
def test_padding_is_all_that_is_added(some: list[list[int]]):
    batch = collate(examples(some), TOKENIZER)
    assert batch.keys() == {"input_ids", "attention_mask"}
    assert unpadded(batch) == some
    assert batch["input_ids"].shape == (len(some), max(map(len, some)))
    assert torch.equal(batch["attention_mask"], batch["input_ids"].ne(PAD).long())
    assert all(value.dtype == torch.int64 for value in batch.values())


@given(rows, st.integers(0, 2**40), st.integers(0, 100))
def test_labels_give_back_what_was_masked(some: list[list[int]], seed: int, first: int):
    batch = collate(examples(some, first), TOKENIZER, True, seed)
    labels = batch["labels"]
    assert (
        unpadded({**batch, "input_ids": batch["input_ids"].where(labels == -100, labels)}) == some
    )
    assert labels.ne(-100).any(1).all()
    assert labels[batch["attention_mask"] == 0].eq(-100).all()
    assert labels.dtype == torch.int64


@given(rows, st.integers(0, 2**40))
def test_what_is_masked_does_not_depend_on_the_rest_of_the_batch(some: list[list[int]], seed: int):
    whole = collate(examples(some), TOKENIZER, True, seed)
    for i, example in enumerate(examples(some)):
        alone = collate([example], TOKENIZER, True, seed)
        assert unpadded(whole)[i] == alone["input_ids"][0].tolist()
        assert unpadded(whole, "labels")[i] == alone["labels"][0].tolist()


def test_a_line_is_masked_anew_whenever_it_comes_again():
    _, labels = mask_example(LONG, TOKENIZER, 0, 5)
    assert torch.equal(mask_example(LONG, TOKENIZER, 0, 5)[1], labels)
    assert not torch.equal(mask_example(LONG, TOKENIZER, 0, 6)[1], labels)
    assert not torch.equal(mask_example(LONG, TOKENIZER, 1, 5)[1], labels)


def test_the_share_that_is_masked_can_be_chosen():
    hidden, labels = mask_example(LONG, TOKENIZER, 0, 5, share=1.0)
    assert labels.tolist() == [-100, *LONG[1:-1], -100]
    assert hidden.tolist() != LONG


def test_translations_are_padded_apart():
    some = [Example(0, "sw", [BOS, 7, EOS], [BOS, 8, 9, EOS]), Example(1, "sw", [BOS, EOS], [BOS])]
    batch = collate(some, TOKENIZER)
    assert unpadded(batch) == [[BOS, 7, EOS], [BOS, EOS]]
    assert unpadded(batch, "pair_input_ids") == [[BOS, 8, 9, EOS], [BOS]]
    assert batch["pair_attention_mask"].tolist() == [[1, 1, 1, 1], [1, 0, 0, 0]]


def test_a_tokenizer_without_padding_serves_examples_of_one_length():
    tokenizer = make_tokenizer(pad=None)
    batch = collate(examples([[BOS, 7, EOS], [BOS, 8, EOS]]), tokenizer)
    assert batch["attention_mask"].all()
    with pytest.raises(ConfigError, match="This tokenizer has no padding token"):
        collate(examples([[BOS, 7, EOS], [BOS, EOS]]), tokenizer)
