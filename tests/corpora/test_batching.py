"""Every line ends up in exactly one batch, beside others of its length."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import count, islice, pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from polyprune.corpora.batching import WINDOW, Batching
from polyprune.corpora.padding import Batch
from polyprune.errors import ConfigError

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
WORDS = ["query:", "mvua", "mbuzi", "na", "بارش", "بکری", "اور", "雨", "羊", "和"]
PAD = SPECIAL.index("<pad>")


def make_tokenizer(**changes) -> PreTrainedTokenizerFast:
    """One token a word, between <s> and </s>."""
    words = Tokenizer(WordLevel({w: i for i, w in enumerate(SPECIAL + WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = WhitespaceSplit()
    words.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    roles = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}
    named = {f"{role}_token": token for role, token in (roles | changes).items()}
    return PreTrainedTokenizerFast(tokenizer_object=words, **named)


TOKENIZER = make_tokenizer()

sentences = st.lists(st.sampled_from(WORDS[1:]), min_size=1, max_size=6).map(" ".join)


def texts(batch: Batch, pair: str = "") -> list[str]:
    """The lines that a batch was made of."""
    ids = batch[f"{pair}input_ids"]
    return [TOKENIZER.decode(row, skip_special_tokens=True) for row in ids]


def lines_of(batches: Iterable[Batch]) -> list[str]:
    return [line for batch in batches for line in texts(batch)]


def endless(read: list[str]) -> Iterator[str]:
    """Lines without end; those taken so far are in `read`."""
    for i in count():
        read.append(" ".join(["mbuzi"] * (i % 7 + 1)))
        yield read[-1]


@given(st.lists(sentences, max_size=15), st.integers(1, 4))
def test_every_line_is_in_exactly_one_batch_all_but_the_last_full(lines: list[str], size: int):
    batches = list(Batching(TOKENIZER, size).plain(lines))
    assert Counter(lines_of(batches)) == Counter(lines)
    full, rest = divmod(len(lines), size)
    assert [len(batch["input_ids"]) for batch in batches] == [size] * full + [rest] * (rest > 0)


def test_attention_is_paid_to_everything_but_padding():
    lines = list(islice(endless([]), 20))
    for batch in Batching(TOKENIZER, 3).plain(lines):
        assert batch.keys() == {"input_ids", "attention_mask"}
        assert torch.equal(batch["attention_mask"], batch["input_ids"].ne(PAD).long())
        assert batch["attention_mask"].sum(1).max() == batch["input_ids"].shape[1]


@pytest.mark.parametrize("size", [1, 2])
def test_lines_are_sorted_by_length_within_a_window_and_not_beyond(size: int):
    window = size * WINDOW
    lines = list(islice(endless([]), 5 * window // 2))
    got = lines_of(Batching(TOKENIZER, size).plain(lines))
    for start in range(0, len(lines), window):
        some = got[start : start + window]
        assert all(len(a) <= len(b) for a, b in pairwise(some))
        assert Counter(some) == Counter(lines[start : start + window])


def test_lines_of_one_length_keep_their_order():
    lines = ["mvua na mbuzi", "mbuzi na mvua", "na mbuzi mvua", "mvua mbuzi na"]
    assert lines_of(Batching(TOKENIZER, 3).plain(lines)) == lines


def test_sorting_saves_most_of_the_padding():
    lines = list(islice(endless([]), 4 * WINDOW))
    padded = sum(int(b["input_ids"].eq(PAD).sum()) for b in Batching(TOKENIZER, 4).plain(lines))
    longest = max(len(line.split()) for line in lines)
    unsorted = sum(longest - len(line.split()) for line in lines)
    assert padded < 0.1 * unsorted


def test_no_more_than_a_window_is_read_ahead():
    read: list[str] = []
    batches = Batching(TOKENIZER, 3).plain(endless(read))
    assert read == []
    next(batches)
    assert len(read) == 3 * WINDOW
    list(islice(batches, WINDOW))
    assert len(read) == 2 * 3 * WINDOW


def test_no_lines_are_no_batches():
    batching = Batching(TOKENIZER)
    assert list(batching.plain([])) == list(batching.pairs([])) == list(batching.masked([])) == []


@pytest.mark.parametrize(("longest", "words"), [(3, 1), (4, 2), (7, 5), (8, 6), (128, 6)])
def test_a_long_line_is_cut_but_keeps_its_ends(longest: int, words: int):
    line = "mvua na mbuzi na بکری 羊"
    (batch,) = Batching(TOKENIZER, longest=longest).plain([line])
    assert texts(batch) == [" ".join(line.split()[:words])]
    assert batch["input_ids"][0, [0, -1]].tolist() == [0, 2]
    assert batch["input_ids"].shape == (1, words + 2)


def test_every_line_begins_with_the_prefix():
    batching = Batching(TOKENIZER, prefix="query: ")
    (batch,) = batching.plain(["mbuzi", "بکری اور بارش"])
    assert texts(batch) == ["query: mbuzi", "query: بکری اور بارش"]
    (batch,) = batching.pairs([("mbuzi", "羊")])
    assert texts(batch) + texts(batch, "pair_") == ["query: mbuzi", "query: 羊"]


def test_the_prefix_is_cut_with_its_line():
    (batch,) = Batching(TOKENIZER, longest=4, prefix="query: ").plain(["mvua na mbuzi"])
    assert texts(batch) == ["query: mvua"]


@pytest.mark.parametrize(("size", "longest"), [(0, 128), (-1, 128), (16, 2), (16, 0), (0, 0)])
def test_sizes_that_cannot_be_meant(size: int, longest: int):
    message = f"^A batch has at least 1 example of at least 3 tokens, got {size} of {longest}.$"
    with pytest.raises(ConfigError, match=message):
        Batching(TOKENIZER, size, longest)


def test_one_line_a_batch_needs_no_padding_token():
    lines = ["mvua", "mvua na mbuzi"]
    batches = list(Batching(make_tokenizer(pad=None), 1).plain(lines))
    assert [batch["input_ids"].shape for batch in batches] == [(1, 3), (1, 5)]


@given(st.lists(st.tuples(sentences, sentences), max_size=15), st.integers(1, 4))
def test_translations_stay_side_by_side(translations: list[tuple[str, str]], size: int):
    batches = list(Batching(TOKENIZER, size).pairs(translations))
    got = [pair for b in batches for pair in zip(texts(b), texts(b, "pair_"), strict=True)]
    assert Counter(got) == Counter(translations)
    assert all(len(batch["input_ids"]) <= size for batch in batches)
    for batch in batches:
        assert torch.equal(batch["pair_attention_mask"], batch["pair_input_ids"].ne(PAD).long())


def test_translations_are_sorted_by_the_first():
    translations = [("mvua na mbuzi", "羊"), ("mbuzi", "雨 和 羊"), ("na mvua", "和 雨")]
    batches = list(Batching(TOKENIZER, 2).pairs(translations))
    assert [texts(b) for b in batches] == [["mbuzi", "na mvua"], ["mvua na mbuzi"]]
    assert [texts(b, "pair_") for b in batches] == [["雨 和 羊", "和 雨"], ["羊"]]


@given(st.lists(sentences, max_size=12), st.integers(1, 4), st.integers(0, 2**32))
def test_labels_give_back_what_was_masked(lines: list[str], size: int, seed: int):
    batching = Batching(TOKENIZER, size)
    masked = list(batching.masked(lines, seed))
    for batch, plain in zip(masked, batching.plain(lines), strict=True):
        assert batch.keys() == {"input_ids", "attention_mask", "labels"}
        labels = batch["labels"]
        restored = batch["input_ids"].where(labels == -100, labels)
        assert torch.equal(restored, plain["input_ids"])
        assert torch.equal(batch["attention_mask"], plain["attention_mask"])
        assert labels.ne(-100).any(1).all()


def test_the_seed_decides_what_is_masked():
    lines = ["mvua na mbuzi na mvua na mbuzi"] * 40

    def labels(seed: int) -> torch.Tensor:
        return torch.cat([b["labels"] for b in Batching(TOKENIZER, 8).masked(lines, seed)])

    assert torch.equal(labels(1), labels(1))
    assert not torch.equal(labels(1), labels(2))
    assert not torch.equal(labels(1)[:8], labels(1)[8:16])  # nor is every batch masked alike


def test_words_cannot_be_masked_without_a_mask():
    with pytest.raises(ConfigError, match="This tokenizer has no mask token"):
        next(Batching(make_tokenizer(mask=None)).masked(["mbuzi"]))
