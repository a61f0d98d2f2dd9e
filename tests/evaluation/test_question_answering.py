import json
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import transformers
from hypothesis import assume, given
from hypothesis import strategies as st

from polyprune.evaluation.examples import Answer, Question
from polyprune.evaluation.final_text import final_text
from polyprune.evaluation.question_answering import SpanPreprocessor
from support.paths import SHARED
from support.questions import (
    BERT,
    CHINESE,
    ENGLISH,
    ROBERTA,
    THAI,
    answer_of,
    ask,
    oracle,
    real_xlmr,
    small_windows,
    tokenizers,
    tokens_by_hand,
)

MLQA = SHARED / "data" / "xtreme" / "mlqa" / "MLQA_V1" / "dev"


def spans_by_hand(
    windows: SpanPreprocessor, first: int, tokens: int, outputs
) -> list[tuple[int, int]]:
    """Every pair of a start and an end in every window, one at a time, the likeliest first."""
    room = windows.longest - first - 1
    views = [range(s, min(s + room, tokens)) for s in range(0, 10**4, windows.stride)]
    views = views[: len(outputs)]
    found = []
    for number, (view, output) in enumerate(zip(views, outputs, strict=True)):
        logits = output.tolist()
        likely = [sorted(range(len(row)), key=lambda place, row=row: -row[place]) for row in logits]
        for start, end in product(likely[0][: windows.best], likely[1][: windows.best]):
            token, last = view.start + start - first, view.start + end - first
            if token in view and last in view and 0 <= end - start < windows.answer:
                contexts = [
                    min(token - other.start, other[-1] - token) + 0.01 * len(other)
                    if token in other
                    else -1.0
                    for other in views
                ]
                if contexts.index(max(contexts)) == number:
                    found.append((logits[0][start] + logits[1][end], token, last))
    return [(token, last) for _, token, last in sorted(found, key=lambda each: -each[0])]


def text_by_hand(windows: SpanPreprocessor, context: str, tokenizer, tokens) -> str:
    if not windows.compat:
        return context[tokens[0][2] : tokens[-1][3]].strip()
    pieces = [piece for piece, *_ in tokens]
    if tokenizer is ROBERTA:
        text = "".join(pieces).replace("▁", " ")
    else:
        text = " ".join(pieces).replace(" ##", "")
    words = context.split()[tokens[0][1] : tokens[-1][1] + 1]
    return final_text(" ".join(text.split()), " ".join(words))


@given(
    st.text(st.sampled_from("abtea.,河南茶山ชา    "), min_size=20, max_size=40).filter(
        lambda text: "▁" not in text
    ),
    small_windows,
    tokenizers,
    st.integers(0, 10**6),
)
def test_decoding_is_the_official_search(context, windows, tokenizer, seed):
    windows = replace(windows, longest=windows.longest // 2 + 3, stride=min(windows.stride, 5))
    question = ask(context, question="tea")
    encoded = list(windows.encode([question], tokenizer))
    random = np.random.default_rng(seed)
    # Few different values, so that there are ties.
    outputs = [random.integers(0, 4, (2, len(x.ids))).astype(np.float32) for x in encoded]
    if tokenizer is ROBERTA and not windows.compat:
        # A lone `▁` has no characters here; by hand it would have the next token's first.
        for input_, output in zip(encoded, outputs, strict=True):
            bare = np.array(input_.ids) == ROBERTA.convert_tokens_to_ids("▁")
            output[:, bare] = -9
        windows = replace(windows, best=10**3)
    tokens = tokens_by_hand(context, tokenizer)
    spans = spans_by_hand(windows, 4 if tokenizer is ROBERTA else 3, len(tokens), outputs)
    texts = [
        text_by_hand(windows, context, tokenizer, tokens[first : last + 1]) for first, last in spans
    ]
    by_hand = next(filter(None, texts), "empty" if windows.compat else "")
    assert windows.decode([question], encoded, outputs) == {"1": by_hand}


@given(st.data(), st.sampled_from([ENGLISH, CHINESE, THAI, "A… b…c"]), tokenizers)
def test_the_likeliest_span_is_the_answer(data, context, tokenizer):
    tokens = tokens_by_hand(context, tokenizer)
    first = data.draw(st.integers(0, len(tokens) - 1))
    # More would not fit in every window where the first token has most context.
    last = data.draw(st.integers(first, min(first + 5, len(tokens) - 1)))
    # Or the answer would end within the next token.
    assume(last + 1 == len(tokens) or tokens[last + 1][2] >= tokens[last][3])
    gold = context[tokens[first][2] : tokens[last][3]]
    windows = SpanPreprocessor(longest=24, stride=5, answer=12)
    question = ask(context, gold, at=tokens[first][2])
    assert answer_of(windows, question, tokenizer) == gold


def test_the_official_text_of_chinese_is_the_whole_chunk():
    question = ask(CHINESE, "红茶")
    assert answer_of(SpanPreprocessor(), question) == "红茶"
    assert answer_of(SpanPreprocessor(compat=True), question) == "红茶在山城，城在河南。"
    thai = ask(THAI, "แดง")
    assert answer_of(SpanPreprocessor(), thai) == "แดง"
    english = ask(ENGLISH, "town")
    assert answer_of(SpanPreprocessor(compat=True), english) == "town"
    assert answer_of(SpanPreprocessor(compat=True), english, BERT) == "town"


def test_one_encoding_serves_both_ways_to_recover_text():
    question = ask(CHINESE, "红茶")
    encoded = list(SpanPreprocessor().encode([question], ROBERTA, training=True))
    assert SpanPreprocessor(compat=True).decode([question], encoded, oracle(encoded)) == {
        "1": "红茶在山城，城在河南。"
    }


@pytest.mark.parametrize(("compat", "nothing"), [(False, ""), (True, "empty")])
@pytest.mark.parametrize("context", ["", " \n", "\0"])
def test_an_empty_context_has_one_window_and_no_answer(context, compat, nothing):
    windows, question = SpanPreprocessor(compat=compat), ask(context)
    encoded = list(windows.encode([question], BERT))
    assert len(encoded) == 1
    assert windows.decode([question], encoded, oracle(encoded)) == {"1": nothing}
    assert windows.decode([question], [], []) == {"1": nothing}


def test_a_lone_underline_is_no_answer_so_the_next_best_is():
    question = ask("红茶河")
    encoded = list(SpanPreprocessor().encode([question], ROBERTA))
    output = np.zeros((2, len(encoded[0].ids)), dtype=np.float32)
    output[:, encoded[0].about.first] = 9  # ▁
    output[:, encoded[0].about.first + 1] = 4  # 红茶
    assert SpanPreprocessor().decode([question], encoded, [output]) == {"1": "红茶"}


def test_answers_that_are_too_long_are_not_given():
    question = ask(ENGLISH, "red tea  is in the old town")
    assert answer_of(SpanPreprocessor(answer=30), question) == "red tea  is in the old town"
    assert len(answer_of(SpanPreprocessor(answer=3), question)) < 12


def test_the_last_question_with_an_id_wins():
    questions = [ask("red tea", "tea"), ask("red tea", "red")]
    encoded = list(SpanPreprocessor().encode(questions, ROBERTA, training=True))
    assert SpanPreprocessor().decode(questions, encoded, oracle(encoded)) == {"1": "red"}


def test_a_context_may_be_of_any_length():
    context = "red " * 20_000 + "town"
    question = ask(context, "town")
    encoded = list(SpanPreprocessor().encode([question], ROBERTA, training=True))
    tokens = 20_000 + len(ROBERTA.tokenize("town"))
    assert len(encoded) == 1 + math.ceil((tokens - (384 - 4 - 2)) / 128)
    assert SpanPreprocessor().decode([question], encoded, oracle(encoded)) == {"1": "town"}


@pytest.fixture(scope="module")
def xlmr() -> transformers.PreTrainedTokenizerFast:
    return real_xlmr()


def test_the_real_tokenizer_gives_the_official_input(xlmr):
    question = ask("Red tea is grown near the town.", "the town", question="Where is it grown?")
    (encoded,) = SpanPreprocessor().encode([question], xlmr, training=True)
    asked = len(xlmr.tokenize(question.question))
    assert encoded.ids == xlmr(question.question, question.context)["input_ids"]
    assert encoded.types is None
    assert encoded.about.first == asked + 3
    assert encoded.labels[0] == asked + 3 + len(xlmr.tokenize("Red tea is grown near"))


def real_questions(language: str) -> list[Question]:
    file = MLQA / f"dev-context-{language}-question-{language}.json"
    if not file.exists():
        pytest.skip("needs MLQA")
    return [
        Question(
            each["id"],
            each["question"],
            paragraph["context"],
            tuple(Answer(answer["text"], answer["answer_start"]) for answer in each["answers"]),
        )
        for article in json.loads(file.read_text(encoding="utf-8"))["data"]
        for paragraph in article["paragraphs"]
        for each in paragraph["qas"]
    ]


@pytest.mark.parametrize(
    ("language", "offsets", "official"), [("en", 0.93, 0.8), ("ar", 0.85, 0.8), ("zh", 0.9, 0.0)]
)
def test_offsets_recover_real_answers_as_far_as_tokens_go(xlmr, language, offsets, official):
    """What is missing shares a token with its neighbours, as in `(1990)`, or is too long."""
    questions = real_questions(language)[:100]
    exact: dict[bool, float] = {}
    for compat in (False, True):
        windows = SpanPreprocessor(compat=compat)
        encoded = list(windows.encode(questions, xlmr, training=True))
        given_ = windows.decode(questions, encoded, oracle(encoded))
        right = [given_[question.id] == question.answers[0].text for question in questions]
        exact[compat] = sum(right) / len(right)
    assert exact[False] > offsets
    assert official <= exact[True] < exact[False]
    if language == "zh":
        assert exact[True] < 0.1
