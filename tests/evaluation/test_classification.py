import numpy as np
import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import ConfigError, DataError
from polyprune.evaluation import classification
from polyprune.evaluation.classification import (
    LabelSetPreprocessor,
    NumberPreprocessor,
    PairPreprocessor,
    truncate,
)
from polyprune.evaluation.examples import SentencePair
from support.questions import BERT, ROBERTA, real_xlmr, tokenizers

LABELS = ("contradiction", "entailment", "neutral")

# Not of nothing, which transformers takes for no sentence at all.
texts = st.text("abdehilmnrstuy  茶山ชา", min_size=1, max_size=40)


def official(first: list[int], second: list[int], room: int) -> tuple[list[int], list[int]]:
    """The official loop: the last token of the longer one, of equal ones of the second."""
    first, second = first[:], second[:]
    while len(first) + len(second) > room:
        (first if len(first) > len(second) else second).pop()
    return first, second


tokens = st.lists(st.integers(4, 60), max_size=40)


@given(tokens, tokens, st.integers(0, 90))
def test_pairs_are_cut_as_by_the_official_loop(first, second, room):
    before = first[:], second[:]
    assert truncate(first, second, room) == official(first, second, room)
    assert (first, second) == before


@given(st.lists(st.tuples(texts, texts), max_size=8), tokenizers, st.integers(6, 60))
def test_inputs_fit_and_short_ones_are_the_tokenizers_own(texts, tokenizer, longest):
    examples = [SentencePair(*pair) for pair in texts]
    encoded = list(PairPreprocessor(longest).encode(examples, tokenizer))
    assert [each.example for each in encoded] == list(range(len(examples)))
    for pair, each in zip(examples, encoded, strict=True):
        theirs = tokenizer(pair.first, pair.second, return_token_type_ids=True)
        whole = len(theirs["input_ids"]) <= longest
        assert len(each.ids) == min(longest, len(theirs["input_ids"]))
        assert not whole or each.ids == theirs["input_ids"]
        if tokenizer is BERT:
            assert len(each.types) == len(each.ids)
            assert not whole or each.types == theirs["token_type_ids"]
        else:
            assert each.types is None


def test_an_empty_sentence_is_one_of_a_pair_too():
    (encoded,) = PairPreprocessor().encode([SentencePair("tea", "")], ROBERTA)
    assert encoded.ids == [0, *ROBERTA("tea", add_special_tokens=False)["input_ids"], 2, 2, 2]


def test_long_pairs_are_cut_between_their_special_tokens():
    pair = SentencePair("tea " * 9, "red " * 30)
    (encoded,) = PairPreprocessor(20).encode([pair], ROBERTA)
    one, other = (
        ROBERTA(text, add_special_tokens=False)["input_ids"] for text in (pair.first, pair.second)
    )
    assert encoded.ids == [0, *one[:8], 2, 2, *other[:8], 2]


@pytest.fixture(scope="module")
def xlmr() -> transformers.PreTrainedTokenizerFast:
    return real_xlmr()


def test_the_real_tokenizer_gives_the_official_input(xlmr):
    examples = [
        SentencePair("The tea is red.", "It is not green."),
        SentencePair("茶在山城。", "ชาอยู่ในเมือง"),
        SentencePair("", "Чай красный."),
    ]
    for pair, each in zip(examples, PairPreprocessor().encode(examples, xlmr), strict=True):
        assert each.ids == xlmr(pair.first, pair.second)["input_ids"]
        assert each.types is None


def test_the_real_tokenizers_long_pairs_are_cut_as_it_would(xlmr):
    pair = SentencePair(
        "The tea in the old town is red. " * 12, "Nobody grows tea by the sea. " * 9
    )
    (encoded,) = PairPreprocessor().encode([pair], xlmr)
    theirs = xlmr(pair.first, pair.second, truncation="longest_first", max_length=128)
    assert len(encoded.ids) == 128
    assert encoded.ids == theirs["input_ids"]


def test_labels_are_numbers():
    examples = [SentencePair("tea", "red", label) for label in ("neutral", None, "contradiction")]
    encoded = list(PairPreprocessor().encode(examples, ROBERTA, LABELS, training=True))
    assert [each.labels for each in encoded] == [(2,), (), (0,)]


def test_without_names_of_labels_there_are_none():
    assert [
        each.labels for each in PairPreprocessor().encode([SentencePair("a", "b", "neutral")], BERT)
    ] == [()]


def test_an_unknown_label_is_an_error_that_names_the_example(monkeypatch):
    monkeypatch.setattr(classification, "TOKENIZED_TOGETHER", 2)
    examples = [SentencePair("tea", "red", "neutral")] * 4 + [SentencePair("tea", "red", "maybe")]
    message = r"Example 5 has the label 'maybe'\. There are: contradiction, entailment, neutral\."
    with pytest.raises(DataError, match=message):
        list(PairPreprocessor().encode(examples, ROBERTA, LABELS))


def test_many_pairs_are_as_one_at_a_time(monkeypatch):
    examples = [SentencePair("tea " * i, "red") for i in range(7)]
    together = list(PairPreprocessor().encode(examples, ROBERTA))
    monkeypatch.setattr(classification, "TOKENIZED_TOGETHER", 2)
    assert list(PairPreprocessor().encode(iter(examples), ROBERTA)) == together


def test_inputs_have_to_have_room_for_two_sentences():
    with pytest.raises(ConfigError, match="5 tokens have no room for two sentences"):
        list(PairPreprocessor(5).encode([], ROBERTA))


def test_inputs_are_no_longer_than_a_model_can_read():
    assert PairPreprocessor().fit(64) == PairPreprocessor(64)
    assert PairPreprocessor().fit(512) == PairPreprocessor(128)


def test_the_likeliest_label_is_said():
    examples = [SentencePair("tea", "red")] * 3
    encoded = list(PairPreprocessor().encode(examples, ROBERTA))
    outputs = list(np.array([[0.1, 0.2, 0.0], [3.0, -1.0, 2.0], [-3.0, -2.0, -1.0]]))
    said = PairPreprocessor().decode(examples, encoded, outputs, LABELS)
    assert said == ["entailment", "contradiction", "neutral"]


@given(st.lists(texts, max_size=6), tokenizers, st.integers(6, 60))
def test_one_text_is_encoded_as_by_the_tokenizer_itself(texts, tokenizer, longest):
    examples = [SentencePair(text, None) for text in texts]
    for text, each in zip(
        texts, PairPreprocessor(longest).encode(examples, tokenizer), strict=True
    ):
        theirs = tokenizer(
            text, truncation=True, max_length=longest, return_token_type_ids=tokenizer is BERT
        )
        assert each.ids == theirs["input_ids"]
        assert each.types == theirs.get("token_type_ids")


def test_several_labels_are_ones_and_zeros_and_back():
    examples = [SentencePair("tea", None, each) for each in (("neutral", "entailment"), (), None)]
    several = LabelSetPreprocessor()
    encoded = list(several.encode(examples, ROBERTA, LABELS, training=True))
    assert [each.labels for each in encoded] == [(0.0, 1.0, 1.0), (0.0, 0.0, 0.0), ()]
    outputs = [np.array([-1.0, 2.0, 0.1]), np.array([-1.0, -2.0, -0.1])]
    assert several.decode(examples[:2], encoded[:2], outputs, LABELS) == [
        ("entailment", "neutral"),
        (),
    ]


def test_a_number_is_what_it_is():
    examples = [SentencePair("tea", "red", each) for each in (2.5, None)]
    encoded = list(NumberPreprocessor().encode(examples, ROBERTA, training=True))
    assert [each.labels for each in encoded] == [(2.5,), ()]
    assert NumberPreprocessor().decode(examples, encoded, [np.array([0.25])], ()) == [0.25]
