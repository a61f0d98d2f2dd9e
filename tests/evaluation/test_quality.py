"""What models can do without any task."""

import math

import pytest
import torch

import polyprune as pp
from polyprune.evaluation.quality import find_translations, guess_words, percent
from polyprune.model.network.source import ModelSource
from support.text import SENTENCES


def test_a_sentence_finds_itself(speaking):
    model, tokenizer = pp.load(speaking), ModelSource.at(speaking).tokenizer()
    lines = {"en": SENTENCES["en"], "sw": SENTENCES["en"], "de": SENTENCES["en"][::-1]}
    assert find_translations(model, tokenizer, lines, "en") == {"sw": 100.0, "de": 0.0}


def test_words_are_guessed_by_what_the_model_puts_first(speaking):
    model, tokenizer = pp.load(speaking), ModelSource.at(speaking).tokenizer()
    lines = {"en": ["a a a a a a"] * 20}
    with torch.no_grad():
        model.masked_words.bias.fill_(-100)
        model.masked_words.bias[tokenizer.convert_tokens_to_ids("a")] = 100
    assert guess_words(model, tokenizer, lines) == {"en": 100.0}
    assert 0 <= guess_words(pp.load(speaking), tokenizer, {"en": ["boat"] * 20})["en"] < 100


@pytest.mark.parametrize(("part", "expected"), [(1, 25.0), (0, 0.0)])
def test_a_percentage(part, expected):
    assert percent(part, 4) == expected
    assert math.isnan(percent(part, 0))
