"""Labels that XTREME keeps apart from its test data, in the layout of its own scorer."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...corpora.lines import read_lines
from ...errors import DataError, UnknownName
from ..examples import Bitext, Example, Pair, Question, Tagged
from .bitexts import read_tatoeba_labels
from .columns import read_columns
from .languages import LANGUAGES
from .questions import parse_questions
from .tagged import parse_words


def with_labels(
    task_name: str, examples: Iterable[Example], folder: str, language: str
) -> list[Example]:
    """The examples, those without a label with that of the file `folder/task/test-language`."""
    if task_name not in _ADD:
        raise UnknownName("task", task_name, LANGUAGES, "All nine: polyprune ls tasks.")
    name, add = _ADD[task_name]
    path = Path(folder).expanduser() / task_name / name.format(language)
    if not path.is_file():
        raise DataError(f"There are no labels of {task_name} for {language!r}: {path} is missing.")
    return add(path, list(examples))


def _to_pairs(path: Path, pairs: list[Pair]) -> list[Pair]:
    labels = [line.strip() for line in read_lines(path)]
    _check(path, len(labels), len(pairs))
    return [
        pair if pair.label is not None else replace(pair, label=label)
        for pair, label in zip(pairs, labels, strict=True)
    ]


def _to_words(path: Path, sentences: list[Tagged]) -> list[Tagged]:
    # One column: what is read as words are the tags.
    labels = [labels.tags or labels.words for labels in parse_words([path], "")]
    _check(path, len(labels), len(sentences))
    for number, (sentence, tags) in enumerate(zip(sentences, labels, strict=True), 1):
        if len(sentence.words) != len(tags):
            raise DataError(
                f"{path} has {len(tags)} labels for the {len(sentence.words)} words of sentence "
                f"{number}. Make it of the same data."
            )
    return [
        sentence if sentence.tags is not None else replace(sentence, tags=tags)
        for sentence, tags in zip(sentences, labels, strict=True)
    ]


def _to_questions(path: Path, questions: list[Question]) -> list[Question]:
    answers = {question.id: question.answers for question in parse_questions([path], "")}
    absent = [question.id for question in questions if question.id not in answers]
    if absent:
        raise DataError(
            f"{path} has no answers to {len(absent)} of {len(questions)} questions, such as "
            f"{absent[0]}. Make it of the same data."
        )
    return [
        question if question.answers else replace(question, answers=answers[question.id])
        for question in questions
    ]


def _to_bucc(path: Path, bitexts: list[Bitext]) -> list[Bitext]:
    gold = tuple((source, target) for source, target in read_columns(path, 2))
    return [bitext if bitext.gold is not None else replace(bitext, gold=gold) for bitext in bitexts]


def _to_tatoeba(path: Path, bitexts: list[Bitext]) -> list[Bitext]:
    return [
        bitext
        if bitext.gold is not None
        else replace(bitext, gold=read_tatoeba_labels(path, len(bitext.targets)))
        for bitext in bitexts
    ]


def _check(path: Path, labels: int, examples: int) -> None:
    if labels != examples:
        raise DataError(
            f"{path} has {labels} labels for {examples} examples. Make it of the same data."
        )


_ADD: dict[str, tuple[str, Callable[[Path, Any], Any]]] = {
    **dict.fromkeys(("xnli", "pawsx"), ("test-{}.tsv", _to_pairs)),
    **dict.fromkeys(("udpos", "panx"), ("test-{}.tsv", _to_words)),
    **dict.fromkeys(("xquad", "mlqa", "tydiqa"), ("test-{}.json", _to_questions)),
    "bucc2018": ("test-{}.tsv", _to_bucc),
    "tatoeba": ("test-{}.tsv", _to_tatoeba),
}
