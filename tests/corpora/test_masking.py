"""Masking asks for 15 % of the words, at least one, never a special token."""

from math import floor, sqrt

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast

from polyprune.corpora.masking import mask_words
from polyprune.errors import ConfigError

BOS, PAD, EOS, UNK, MASK = range(5)
ROLES = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}
STEMS = ["mvua", "بارش", "雨"]


def make_tokenizer(words: int, **changes) -> PreTrainedTokenizerFast:
    """The special tokens and so many words, in three scripts."""
    names = [*ROLES.values(), *(f"{STEMS[i % 3]}{i}" for i in range(words))]
    vocabulary = Tokenizer(WordLevel({w: i for i, w in enumerate(names)}, unk_token="<unk>"))
    named = {f"{role}_token": token for role, token in (ROLES | changes).items()}
    return PreTrainedTokenizerFast(tokenizer_object=vocabulary, **named)


TOKENIZER = make_tokenizer(30)

seeds = st.integers(0, 2**40)
rows = st.lists(
    st.lists(st.integers(UNK, 34), max_size=60),  # also unknown words, and masks in the text
    min_size=1,
    max_size=6,
)


def padded(rows: list[list[int]]) -> torch.Tensor:
    """The ids of a batch: <s>, the row, </s>, padding."""
    ids = torch.full((len(rows), max(map(len, rows)) + 2), PAD)
    for i, row in enumerate(rows):
        ids[i, : len(row) + 2] = torch.tensor([BOS, *row, EOS])
    return ids


def masked(ids: torch.Tensor, seed: int, tokenizer=TOKENIZER, **share: float):
    return mask_words(ids, tokenizer, torch.Generator().manual_seed(seed), **share)


def assert_drawn(count: int, draws: int, probability: float):
    """So many of the draws is what a coin would give, within five standard deviations."""
    deviation = sqrt(draws * probability * (1 - probability))
    assert abs(count - draws * probability) <= 5 * deviation


@given(rows, seeds)
def test_labels_are_the_chosen_words_and_minus_100_where_nothing_was_chosen(some, seed):
    ids = padded(some)
    hidden, labels = masked(ids, seed)
    chosen = labels != -100
    assert torch.equal(labels[chosen], ids[chosen])
    assert torch.equal(hidden[~chosen], ids[~chosen])
    assert hidden.shape == labels.shape == ids.shape
    assert hidden.dtype == labels.dtype == ids.dtype


@given(rows, seeds)
def test_a_special_token_is_never_chosen(some, seed):
    ids = padded(some)
    hidden, labels = masked(ids, seed)
    special = ids <= MASK
    assert labels[special].eq(-100).all()
    assert torch.equal(hidden[special], ids[special])


@given(rows, seeds)
def test_a_chosen_word_becomes_the_mask_or_a_word(some, seed):
    hidden, labels = masked(padded(some), seed)
    shown = hidden[labels != -100]
    assert ((shown == MASK) | ((shown > MASK) & (shown < len(TOKENIZER)))).all()


@given(rows, seeds)
def test_fifteen_percent_of_each_example_are_chosen_but_at_least_one_word(some, seed):
    ids = padded(some)
    _, labels = masked(ids, seed)
    for words, chosen in zip((ids > MASK).sum(1), labels.ne(-100).sum(1), strict=True):
        # Either neighbor of 0.15 · words, by a draw in single precision.
        low, high = floor(0.15 * words - 1e-5), floor(0.15 * words + 1e-5) + 1
        if words:
            assert max(low, 1) <= chosen <= max(high, 1)
        else:
            assert chosen == 0


@pytest.mark.parametrize("words", range(1, 7))
def test_up_to_six_words_one_is_chosen(words: int):
    _, labels = masked(padded([[5] * words] * 200), seed=0)
    assert labels.ne(-100).sum(1).eq(1).all()


def test_an_example_without_words_is_left_alone():
    ids = padded([[], [UNK, MASK], [7, 8]])
    hidden, labels = masked(ids, seed=0)
    assert torch.equal(hidden[:2], ids[:2])
    assert labels[:2].eq(-100).all()
    assert labels[2].ne(-100).any()


@given(rows, seeds)
def test_the_same_seed_masks_the_same(some, seed):
    ids = padded(some)
    for a, b in zip(masked(ids, seed), masked(ids, seed), strict=True):
        assert torch.equal(a, b)


def test_another_seed_masks_otherwise():
    ids = padded([list(range(5, 35))] * 20)
    assert not torch.equal(masked(ids, 1)[1], masked(ids, 2)[1])


@given(rows, seeds)
def test_nothing_else_changes(some, seed):
    ids = padded(some)
    before, state = ids.clone(), torch.get_rng_state()
    masked(ids, seed)
    assert torch.equal(ids, before)
    assert torch.equal(torch.get_rng_state(), state)


@given(rows, seeds)
def test_any_share_may_be_asked_for(some, seed):
    ids = padded(some)
    words = ids > MASK
    assert torch.equal(masked(ids, seed, share=1.0)[1] != -100, words)
    one = masked(ids, seed, share=0.0)[1].ne(-100).sum(1)
    assert torch.equal(one, words.any(1).long())


def test_words_are_chosen_and_shown_in_the_shares_of_the_paper():
    vocabulary = 500
    tokenizer = make_tokenizer(vocabulary)
    generator = torch.Generator().manual_seed(5)
    ids = padded([[5] * 50] * 2000)
    ids[:, 1:-1] = torch.randint(5, len(tokenizer), (2000, 50), generator=generator)
    hidden, labels = masked(ids, 0, tokenizer)
    chosen = labels != -100
    total = int(chosen.sum())
    assert_drawn(total, 2000 * 50, 0.15)
    shown, original = hidden[chosen], ids[chosen]
    # One of the random words in so many is the word that was there.
    other = 0.1 * (1 - 1 / vocabulary)
    assert_drawn(int(shown.eq(MASK).sum()), total, 0.8)
    assert_drawn(int((shown.ne(MASK) & shown.ne(original)).sum()), total, other)
    assert_drawn(int(shown.eq(original).sum()), total, 0.2 - other)


def test_every_place_is_as_likely():
    # 50 words: 7.5 on average, so that 7 and 8 are drawn equally often.
    _, labels = masked(padded([[5] * 50] * 2000), seed=0)
    chosen = labels != -100
    for column in chosen[:, 1:-1].T:
        assert_drawn(int(column.sum()), 2000, 0.15)
    assert_drawn(int(chosen.sum(1).eq(8).sum()), 2000, 0.5)


def test_a_random_word_is_any_word_as_likely_and_never_special():
    ids = padded([[5] * 100] * 400)
    hidden, _ = masked(ids, seed=0, share=1.0)
    changed = hidden[(hidden != ids) & (hidden != MASK)]
    counts = changed.bincount(minlength=len(TOKENIZER))
    assert counts[:6].eq(0).all()  # five specials, and the word that was there
    for count in counts[6:].tolist():
        assert_drawn(count, 400 * 100, 0.1 / 30)


def test_a_tokenizer_without_a_mask_is_refused():
    with pytest.raises(ConfigError, match=r"This tokenizer has no mask token.*`loss='contrastive'"):
        masked(padded([[5, 6]]), 0, make_tokenizer(3, mask=None))
