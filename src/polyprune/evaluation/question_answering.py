"""Question answering: split contexts into windows, and turn the best span into an answer.

Everything is as in XTREME's scripts, except that an answer's text is found by character offsets
unless `compat` is set: what the official recovery does to Chinese is in `final_text`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from jaxtyping import Float, Int
from transformers import PreTrainedTokenizerBase

from ..errors import ConfigError
from .context_windows import ContextWindow, TokenizedContext, tokenize_context, window_starts
from .encoded_input import EncodedInput
from .examples import Answer, Question
from .final_text import final_text
from .pair_template import PairTemplate, pair_template

Spans = tuple[Float[np.ndarray, " _"], Int[np.ndarray, " _"], Int[np.ndarray, " _"]]
"""Scores, first and last tokens in the document."""

_CONTEXTS = 8
"""The number of contexts to cache: files list the questions of a context one after another."""


@dataclass(frozen=True, slots=True)
class SpanPreprocessor:
    """Turns questions about contexts of any length into inputs, and spans into answers."""

    longest: int = 384
    """The maximum number of tokens in an input."""
    query: int = 64
    """The maximum number of tokens of a question."""
    stride: int = 128
    """The number of tokens between the starts of two windows."""
    best: int = 20
    """The number of best starts and of best ends that are combined per window."""
    answer: int = 30
    """The maximum number of tokens in an answer."""
    compat: bool = False
    """Recover the text of answers as the official scripts do, not by character offsets."""

    def __post_init__(self):
        for name in ("longest", "query", "stride", "best", "answer"):
            if getattr(self, name) < 1:
                raise ConfigError(
                    f"`{name}` is {getattr(self, name)}, and windows need at least 1 there."
                )

    def encode(
        self,
        examples: Iterable[Question],
        tokenizer: PreTrainedTokenizerBase,
        labels: Sequence[str] = (),
        training: bool = False,
    ) -> Iterator[EncodedInput]:
        """Yield the windows of every question, one after another.

        With `training` each has the first and the last token of the question's first answer, or
        (0, 0) if it is not in this window; a question whose answer is not where it is said to be
        has no windows then. `labels` mean nothing here.
        """
        around = pair_template(tokenizer)
        read_cached = lru_cache(_CONTEXTS)(partial(tokenize_context, tokenizer=tokenizer))
        for number, example in enumerate(examples):
            document = read_cached(example.context)
            span = self._span(document, example, tokenizer) if training else None
            if training and span is None:
                continue
            question = tokenizer(example.question, add_special_tokens=False, verbose=False)
            for ids, types, window in self._cut(document, question["input_ids"], around):
                yield EncodedInput(number, ids, types, _labels(window, span), window)

    def fit(self, longest: int) -> "SpanPreprocessor":
        """Return the same for shorter inputs, a third of whose tokens hold the question."""
        longest = min(self.longest, longest)
        query, stride = min(self.query, longest // 3), min(self.stride, longest // 3)
        return replace(self, longest=longest, query=query, stride=stride)

    def _cut(
        self, document: TokenizedContext, question: list[int], around: PairTemplate
    ) -> Iterator[tuple[list[int], list[int] | None, ContextWindow]]:
        question = question[: self.query]
        room = self.longest - len(question) - around.size
        if room < 1:
            raise ConfigError(
                f"Inputs of {self.longest} tokens are too short: {around.size} special tokens and "
                f"a question of {len(question)} leave none for its context. Make `longest` larger, "
                "or `query` smaller."
            )
        first = len(around.specials[0]) + len(question) + len(around.specials[1])
        for start, widest in window_starts(len(document.ids), room, self.stride):
            context = document.ids[start : start + room]
            yield *around.fill(question, context), ContextWindow(document, first, start, widest)

    def _span(
        self, document: TokenizedContext, example: Question, tokenizer: PreTrainedTokenizerBase
    ) -> tuple[int, int] | None:
        """Return the first and last token of the first answer; None if it is not in the context."""
        if not example.answers or not _contains_answer(document, example.answers[0]):
            return None
        answer = example.answers[0]
        if not self.compat:
            return _span_by_characters(document, answer)
        pieces = tokenizer(answer.text, add_special_tokens=False, verbose=False)
        return _span_by_words(document, answer, pieces["input_ids"])

    def decode(
        self,
        examples: Sequence[Question],
        encoded: Sequence[EncodedInput],
        outputs: Sequence[Float[np.ndarray, "2 _"]],
        labels: Sequence[str] = (),
    ) -> dict[str, str]:
        """Return the answer to every question by its id, from its windows' start and end logits."""
        spans: list[list[Spans]] = [[] for _ in examples]
        documents: dict[int, TokenizedContext] = {}
        for input_, output in zip(encoded, outputs, strict=True):
            documents[input_.example] = input_.about.document
            spans[input_.example].append(self._spans(input_.about, output))
        return {
            example.id: self._text(documents[number], spans[number])
            if number in documents
            else self._nothing
            for number, example in enumerate(examples)
        }

    def _spans(self, window: ContextWindow, output: Float[np.ndarray, "2 tokens"]) -> Spans:
        """Return the spans of a window that can be answers, in the official order."""
        # In double precision, so that sums tie where the official ones do.
        start_logits, end_logits = output.astype(np.float64)
        starts = self._likeliest(start_logits, window)
        starts = starts[window.widest[starts]]
        ends = self._likeliest(end_logits, window)
        lengths = ends - starts[:, None] + 1
        row, column = np.nonzero((lengths >= 1) & (lengths <= self.answer))
        starts, ends = starts[row], ends[column]
        scores = start_logits[window.first + starts] + end_logits[window.first + ends]
        return scores, window.start + starts, window.start + ends

    def _likeliest(
        self, logits: Float[np.ndarray, " tokens"], window: ContextWindow
    ) -> Int[np.ndarray, " best"]:
        """Return a window's most likely tokens, best first, without those outside the context."""
        best = np.argsort(-logits, kind="stable")[: self.best] - window.first
        return best[(best >= 0) & (best < len(window.widest))]

    def _text(self, document: TokenizedContext, spans: list[Spans]) -> str:
        scores, firsts, lasts = (np.concatenate(column) for column in zip(*spans, strict=True))
        for span in np.argsort(-scores, kind="stable"):
            first, last = int(firsts[span]), int(lasts[span])
            if self.compat:
                text = final_text(document.written(first, last), document.whole_words(first, last))
            else:
                text = document.characters(first, last)
            if text:
                return text
        return self._nothing

    @property
    def _nothing(self) -> str:
        return "empty" if self.compat else ""


def _contains_answer(document: TokenizedContext, answer: Answer) -> bool:
    """Return whether the words at an answer's position contain its text."""
    text = " ".join(answer.text.split())
    first, last = _words(document, answer)
    return bool(text) and text in " ".join(document.words[first : last + 1])


def _words(document: TokenizedContext, answer: Answer) -> tuple[int, int]:
    end = answer.start + len(answer.text)
    return document.word_at(answer.start), document.word_at(end - 1)


def _span_by_characters(document: TokenizedContext, answer: Answer) -> tuple[int, int] | None:
    """Return the tokens that contain characters of the answer."""
    end = answer.start + len(answer.text)
    tokens = np.flatnonzero((document.begin < end) & (document.end > answer.start))
    return (int(tokens[0]), int(tokens[-1])) if tokens.size else None


def _span_by_words(
    document: TokenizedContext, answer: Answer, pieces: list[int]
) -> tuple[int, int] | None:
    """Return the tokens of the answer's words, or exactly its pieces if they are among them."""
    words = _words(document, answer)
    first = int(np.searchsorted(document.word, words[0], side="left"))
    after = int(np.searchsorted(document.word, words[1], side="right"))
    for start in range(first, after - len(pieces) + 1):
        if pieces and document.ids[start : start + len(pieces)] == pieces:
            return start, start + len(pieces) - 1
    return (first, after - 1) if first < after else None


def _labels(window: ContextWindow, span: tuple[int, int] | None) -> tuple[int, ...]:
    if span is None:
        return ()
    first, last = map(window.place, span)
    return (0, 0) if first is None or last is None else (first, last)
