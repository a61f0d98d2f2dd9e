import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from polyprune.errors import ConfigError
from polyprune.evaluation.context_windows import window_starts
from polyprune.evaluation.examples import Answer
from polyprune.evaluation.question_answering import SpanPreprocessor
from support.questions import (
    BERT,
    ROBERTA,
    answer_of,
    ask,
    contexts,
    small_windows,
    tokenizers,
    tokens_by_hand,
)


@given(contexts, contexts, small_windows, tokenizers)
def test_windows_cover_every_token_and_one_has_most_context(context, question, windows, tokenizer):
    encoded = list(windows.encode([ask(context, question=question)], tokenizer))
    tokens = tokenizer.convert_tokens_to_ids(
        [token for token, *_ in tokens_by_hand(context, tokenizer)]
    )
    asked = tokenizer(question, add_special_tokens=False)["input_ids"][: windows.query]
    first = len(asked) + (3 if tokenizer is ROBERTA else 2)
    room = windows.longest - first - 1
    assert len(encoded) == 1 + max(0, math.ceil((len(tokens) - room) / min(windows.stride, room)))
    owners = np.zeros(len(tokens), dtype=int)
    for number, input_ in enumerate(encoded):
        window = input_.about
        shown = input_.ids[first:-1]
        assert len(input_.ids) <= windows.longest
        assert input_.ids[1 : 1 + len(asked)] == asked
        assert window.first == first
        assert window.start == number * min(windows.stride, room)
        assert shown == tokens[window.start : window.start + room]
        assert len(shown) == len(window.widest)
        owners[window.start : window.start + len(shown)] += window.widest
    assert (owners == 1).all()


@given(st.integers(0, 60), st.integers(1, 20), st.integers(1, 20))
@example(320, 316, 128)  # a last window that is so much shorter that it counts
def test_a_token_has_most_context_where_its_nearer_side_is_longest(tokens, room, stride):
    windows = window_starts(tokens, room, stride)
    for token in range(tokens):
        scores = [
            min(token - start, start + len(widest) - 1 - token) + 0.01 * len(widest)
            if start <= token < start + len(widest)
            else -1
            for start, widest in windows
        ]
        best = scores.index(max(scores))
        for number, (start, widest) in enumerate(windows):
            if scores[number] >= 0:
                assert widest[token - start] == (number == best)


def test_the_two_families_surround_pairs_with_their_own_tokens():
    question = ask("red tea", question="tea")
    (roberta,) = SpanPreprocessor().encode([question], ROBERTA)
    assert ROBERTA.convert_ids_to_tokens(roberta.ids) == [
        *("<s>", "▁tea", "</s>", "</s>"),
        *("▁red", "▁tea", "</s>"),
    ]
    assert roberta.types is None
    (bert,) = SpanPreprocessor().encode([question], BERT)
    assert BERT.convert_ids_to_tokens(bert.ids) == [
        *("[CLS]", "tea", "[SEP]"),
        *("r", "##e", "##d", "tea", "[SEP]"),
    ]
    assert bert.types == [0, 0, 0, 1, 1, 1, 1, 1]
    assert bert.about.first == 3
    assert bert.labels == roberta.labels == ()


def test_words_end_where_the_official_scripts_say():
    (encoded,) = SpanPreprocessor().encode([ask("red\u202ftea\tin\r\nthe\u3000tea ")], ROBERTA)
    assert encoded.about.document.words == ("red", "tea", "in", "the\u3000tea")


def test_windows_without_the_answer_point_at_the_first_token():
    question = ask("red tea in the town", "town")
    windows = SpanPreprocessor(longest=11, stride=2)
    encoded = list(windows.encode([question], ROBERTA, training=True))
    assert len(encoded) > 2
    assert encoded[0].labels == (0, 0)
    first, last = encoded[-1].labels
    pieces = ROBERTA.convert_ids_to_tokens(encoded[-1].ids)
    assert pieces[first : last + 1] == ["t", "o", "w", "n"]


def test_only_the_first_answer_is_learned():
    question = ask("red tea", "tea")
    other = replace(question, answers=(*question.answers, Answer("red", 0)))
    labels = [
        [x.labels for x in SpanPreprocessor().encode([each], ROBERTA, training=True)]
        for each in (question, other)
    ]
    assert labels[0] == labels[1]


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize(
    "wrong",
    [
        (),
        (Answer("milk", 0),),
        (Answer("tea", 0),),
        (Answer("", 0),),
        (Answer(" ", 3),),
        (Answer("tea", 90),),
    ],
)
def test_a_question_whose_answer_is_not_there_is_not_learned(wrong, compat):
    good = ask("red milk tea", "tea")
    bad = replace(ask("red milk tea"), answers=wrong)
    bad = replace(bad, context="red milk cup") if wrong == (Answer("tea", 90),) else bad
    windows = SpanPreprocessor(compat=compat)
    assert [x.example for x in windows.encode([bad, good], ROBERTA, training=True)] == [1]
    assert [x.example for x in windows.encode([bad, good], ROBERTA)] == [0, 1]


def test_an_answer_without_tokens_is_not_learned():
    question = ask("tea \0\0 red", "\0\0")
    for compat in (False, True):
        assert not list(SpanPreprocessor(compat=compat).encode([question], BERT, training=True))


def labelled(context: str, answer: str, compat: bool, tokenizer: Any = ROBERTA) -> list[str]:
    question = ask(context, answer)
    (encoded,) = SpanPreprocessor(compat=compat).encode([question], tokenizer, training=True)
    first, last = encoded.labels
    return tokenizer.convert_ids_to_tokens(encoded.ids[first : last + 1])


def test_answers_within_a_word_are_labelled_by_pieces_or_else_by_the_word():
    assert labelled("the (tea)", "tea", False, BERT) == ["tea"]
    assert labelled("the (tea)", "tea", True, BERT) == ["tea"]
    # As an answer it would begin with ▁, so the official labels are the whole word's.
    assert labelled("red 山红茶河", "红茶", False) == ["红茶"]
    assert labelled("red 山红茶河", "红茶", True) == ["▁", "山", "红茶", "河"]
    # At the beginning of a word ▁ belongs to the official answer alone.
    assert labelled("红茶河", "红茶", False) == ["红茶"]
    assert labelled("红茶河", "红茶", True) == ["▁", "红茶"]
    # Not on a token's border: all tokens with some of it.
    assert labelled("in the red tea", "ed te", False) == ["▁red", "▁tea"]
    assert labelled("in the red tea", "ed te", True) == ["▁red", "▁tea"]


def test_an_empty_question_is_one():
    (encoded,) = SpanPreprocessor().encode([ask("red tea", question="")], ROBERTA)
    assert len(encoded.ids) == 6
    assert answer_of(SpanPreprocessor(), ask("red tea", "tea", question="")) == "tea"


def test_a_long_question_is_cut():
    (encoded,) = SpanPreprocessor().encode([ask("red tea", question="tea " * 99)], ROBERTA)
    assert len(encoded.ids) == 64 + 4 + 2


def test_questions_about_one_context_share_its_tokens():
    questions = [ask("red tea"), ask("the town"), ask("red tea", question="red")]
    documents = [x.about.document for x in SpanPreprocessor().encode(questions, ROBERTA)]
    assert documents[0] is documents[2] is not documents[1]


def test_room_for_one_token_of_the_context_is_needed():
    question = ask("red tea in the town", "town", question="the tea")
    assert answer_of(SpanPreprocessor(longest=7, answer=1), ask("red tea", "tea")) == "tea"
    with pytest.raises(ConfigError, match=r"Inputs of 6 tokens are too short: 4 special .* 2"):
        list(SpanPreprocessor(longest=6).encode([question], ROBERTA))


@pytest.mark.parametrize("name", ["longest", "query", "stride", "best", "answer"])
def test_windows_need_positive_sizes(name):
    with pytest.raises(ConfigError, match=f"`{name}` is 0"):
        replace(SpanPreprocessor(), **{name: 0})
