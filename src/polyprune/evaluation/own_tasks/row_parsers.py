"""The rows of people's files as examples, one parser for each kind of task."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar

from ...errors import DataError
from ..examples import Answer, Question, SentencePair, TaggedSentence, TaskExample, UniqueIds
from .label_names import LabelNames
from .records import Record

BETWEEN_LABELS = "|"


@dataclass(frozen=True, slots=True)
class RowParser(ABC):
    """Makes an example of a row; every mistake names its line."""

    what: ClassVar[str] = "label"

    @abstractmethod
    def said(self, record: Record) -> list[tuple[str, str]]:
        """Return the labels of a row as it writes them, and where each of them stands."""

    @abstractmethod
    def example(self, record: Record, name: Callable[[str], str]) -> TaskExample:
        """Return a row as an example, its labels named by `name`."""

    @abstractmethod
    def has_label(self, example: Any) -> bool:
        """Whether it says what is right."""

    def parse(self, records: Iterator[Record], labels: LabelNames) -> Iterator[TaskExample]:
        """Yield the examples; all have labels, or none, and no label is unknown."""
        first: tuple[str, bool] | None = None
        for record in records:
            wrong = [(label, w) for label, w in self.said(record) if labels.find(label) is None]
            if wrong:  # all that are wrong are told at once
                raise labels.unknown([*wrong, *(s for rest in records for s in self.said(rest))])
            example = self.example(record, lambda label: labels.find(label) or label)
            has = self.has_label(example)
            first = first or (record.where, has)
            if has != first[1]:
                bare, other = (first[0], record.where) if has else (record.where, first[0])
                raise DataError(
                    f"{bare} has no {self.what}, and {_inside(other)} has one: give one to all "
                    "rows, or to none."
                )
            yield example


def _inside(where: str) -> str:
    """A place as it stands inside a sentence."""
    return where[0].lower() + where[1:]


@dataclass(frozen=True, slots=True)
class TextParser(RowParser):
    """Texts, or pairs of them, each with one label."""

    def said(self, record):
        """Return the label, if there is one."""
        label = _as_label(record.values.get("label"), record.where)
        return [] if label is None else [(label, record.where)]

    def example(self, record, name):
        """Return the text or pair."""
        labels = [name(label) for label, _ in self.said(record)]
        return SentencePair(*_texts(record), labels[0] if labels else None)

    def has_label(self, example: SentencePair):
        """Whether there is one."""
        return example.label is not None


@dataclass(frozen=True, slots=True)
class LabelSetParser(TextParser):
    """Texts, or pairs of them, each with any number of labels."""

    def said(self, record):
        """Return all labels: a list of JSON, or names with | between them."""
        return [(label, record.where) for label in _label_set(record) or ()]

    def example(self, record, name):
        """Return the text or pair."""
        labels = (
            None if _label_set(record) is None else [name(each) for each, _ in self.said(record)]
        )
        return SentencePair(
            *_texts(record), None if labels is None else tuple(dict.fromkeys(labels))
        )


@dataclass(frozen=True, slots=True)
class NumberParser(TextParser):
    """Texts, or pairs of them, each with a number."""

    what = "number"

    def said(self, record):
        """Return nothing: numbers have no names."""
        return []

    def example(self, record, name):
        """Return the text or pair."""
        written = _as_label(record.values.get("label"), record.where)
        return SentencePair(
            *_texts(record), None if written is None else _number(written, record.where)
        )


@dataclass(frozen=True, slots=True)
class TagParser(RowParser):
    """Words, each with a tag."""

    what = "tag"

    def said(self, record):
        """Return the tag of every word, each with its own place."""
        tags = _as_list(record.values.get("tags"), record.where)
        return [(str(tag), record.where_word(number)) for number, tag in enumerate(tags or ())]

    def example(self, record, name):
        """Return the sentence."""
        words = tuple(map(str, _as_list(record.values["tokens"], record.where) or ()))
        tags = tuple(name(tag) for tag, _ in self.said(record))
        if not words:
            raise DataError(f"{record.where} has no words.")
        if tags and len(tags) != len(words):
            raise DataError(
                f"{record.where} has {len(words)} words, but {len(tags)} tags. Tag each word once."
            )
        return TaggedSentence(words, tags or None)

    def has_label(self, example: TaggedSentence):
        """Whether there are tags."""
        return example.tags is not None


@dataclass(frozen=True, slots=True)
class QuestionParser(RowParser):
    """Questions about texts, with the answers that are in them."""

    what = "answer"

    def said(self, record):
        """Return nothing: answers have no names."""
        return []

    def example(self, record, name):
        """Return the question; it is called by its place if it has no id."""
        values = record.values
        question, context = (_text(values, role, record.where) for role in ("question", "context"))
        found = [
            Answer(text, located(context, text, start, record.where))
            for text, start in _answers(values, record.where)
        ]
        return Question(str(values.get("id") or record.where), question, context, tuple(found))

    def has_label(self, example: Question):
        """Whether it is answered."""
        return bool(example.answers)

    def parse(self, records, labels):
        """Yield the questions, with ids that are unique."""
        apart = UniqueIds()
        # Not super(): dataclasses with slots are made twice.
        for each in RowParser.parse(self, records, labels):
            assert isinstance(each, Question)
            yield Question(apart(each.id), each.question, each.context, each.answers)


def located(context: str, text: str, start: int | None, where: str) -> int:
    """Return where an answer begins in its text; raise if it is not there."""
    place = context.find(text) if start is None else start
    if place >= 0 and context.startswith(text, place):
        return place
    there = context.find(text)
    shown = f"{text[:40]!r}"
    if there < 0:
        raise DataError(f"{where} has the answer {shown}, which is not in its text.")
    raise DataError(
        f"{where} has the answer {shown} at character {start}, where its text has "
        f"{context[place : place + len(text)][:40]!r}. It is at {there}."
    )


def _answers(values: dict[str, Any], where: str) -> list[tuple[str, int | None]]:
    """Return answers and their places, in any of the forms in which people write them."""
    given, start = _of_json(values.get("answers")), values.get("answer_start")
    try:
        if isinstance(given, dict):  # as data sets have it
            starts = given.get("answer_start") or [None] * len(given["text"])
            found = list(zip(given["text"], starts, strict=True))
        elif isinstance(given, list):
            found = [
                (each["text"], each.get("answer_start")) if isinstance(each, dict) else (each, None)
                for each in given
            ]
        else:
            found = [] if given is None else [(given, start if start != "" else None)]
        # The official scripts leave an empty answer where they take one out.
        return [(str(text), None if place is None else int(place)) for text, place in found if text]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{where} has answers of an unknown form ({error}): write "
            '{"text": ["Mombasa"], "answer_start": [12]}.'
        ) from error


def _texts(record: Record) -> tuple[str, str | None]:
    values = record.values
    second = _text(values, "pair", record.where) if values.get("pair") is not None else None
    return _text(values, "text", record.where), second


def _text(values: dict[str, Any], role: str, where: str) -> str:
    text = "" if values[role] is None else str(values[role])
    if not text.strip():
        raise DataError(f"{where} has no {role}. Fill it in, or delete the row.")
    return text


def _as_label(value: Any, where: str) -> str | None:
    """Return a label as text; None if there is none."""
    if value is None or value != value:  # pandas writes NaN for nothing
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        raise DataError(
            f"{where} has several labels, {json.dumps(value, ensure_ascii=False)[:40]}, where one "
            'should be. For several, say kind = "multi-label" in a task.toml.'
        )
    return str(value).strip() or None


def _label_set(record: Record) -> list[str] | None:
    value = record.values.get("label")
    if isinstance(value, str):
        value = value.strip()
        value = _as_list(value, record.where) if value[:1] == "[" else value.split(BETWEEN_LABELS)
    if value is None:
        return None
    several = value if isinstance(value, list) else [value]
    labels = [_as_label(each, record.where) for each in several]
    return [label for label in labels if label is not None]


def _as_list(value: Any, where: str) -> list[Any] | None:
    """Return a list, of JSON or of words with spaces between them."""
    if value is None or isinstance(value, list):
        return value
    if not isinstance(value, str):
        raise DataError(f"{where} has {value!r} where a list should be.")
    read = _of_json(value)
    return read if isinstance(read, list) else value.split()


def _of_json(value: Any) -> Any:
    """Return the list or object that a cell holds, or the cell itself."""
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in ("[", "{") else value
    except ValueError:  # words that begin with a bracket
        return value


def _number(text: str, where: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise DataError(f"{where} has {text!r} where a number should be.")
    return number
