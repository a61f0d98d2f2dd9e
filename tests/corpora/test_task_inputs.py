"""A line with a tab is a pair of texts for whatever reads inputs of a fine-tuned model."""

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from polyprune.corpora.batching import Batching
from polyprune.corpora.collate import collate
from polyprune.corpora.example import Example
from polyprune.corpora.packing import Packing, pack_once
from polyprune.corpora.task_inputs import encode_inputs
from polyprune.corpora.text_sources import TextFile

WORDS = ["<s>", "<pad>", "</s>", "mvua", "inanyesha", "mbuzi", "analala", "leo"]
LINES = ["mvua inanyesha\tmbuzi analala", "leo mvua", "mbuzi\tleo leo leo"]


def make_tokenizer(typed: bool) -> PreTrainedTokenizerFast:
    words = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<pad>"))
    words.pre_tokenizer = WhitespaceSplit()
    words.post_processor = TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> $B:1 </s>:1",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if typed else [])]
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        model_input_names=names,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
    )


@pytest.mark.parametrize("typed", [False, True])
def test_lines_are_encoded_as_the_tokenizer_encodes_texts_and_pairs(typed):
    tokenizer = make_tokenizer(typed)
    for line, found in zip(LINES, encode_inputs(LINES, tokenizer, 16), strict=True):
        expected = tokenizer(*line.split("\t"), return_token_type_ids=True)
        assert found.ids == expected["input_ids"]
        assert found.types == (expected["token_type_ids"] if typed else None)


@pytest.mark.parametrize("typed", [False, True])
def test_batches_and_streams_read_the_same_inputs(typed, tmp_path):
    tokenizer, path = make_tokenizer(typed), tmp_path / "sw.txt"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    packed = list(pack_once(TextFile(path), "sw", Packing(tokenizer, 16, "input")))
    assert [each.text for each in packed] == LINES
    examples = [Example(i, "sw", *each) for i, each in enumerate(packed)]
    (batch,) = Batching(tokenizer, longest=16).inputs(sorted(LINES, key=len))
    same = collate(sorted(examples, key=lambda each: len(each.text or "")), tokenizer)
    assert batch.keys() == same.keys()
    assert all(batch[name].equal(same[name]) for name in batch)
    assert ("token_type_ids" in batch) == typed


def test_long_pairs_are_cut_and_empty_ones_left_out(tmp_path):
    tokenizer, path = make_tokenizer(False), tmp_path / "sw.txt"
    long = " ".join(["leo"] * 20)
    assert len(encode_inputs([f"{long}\t{long}"], tokenizer, 9)[0].ids) == 9
    path.write_text("\t\nleo mvua\n", encoding="utf-8")
    packed = list(pack_once(TextFile(path), "sw", Packing(tokenizer, 16, "input")))
    assert [each.text for each in packed] == ["leo mvua"]
