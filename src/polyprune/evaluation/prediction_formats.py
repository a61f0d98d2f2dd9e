"""The file formats of predictions."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DataError


@dataclass(frozen=True, slots=True)
class PredictionFormat:
    """How predictions are written to a file and parsed back.

    What is wrong with a text, `parse` and `parse_labels` say in a `ValueError`.
    """

    write: Callable[[Any], str]
    parse: Callable[[str], Any]
    parse_labels: Callable[[str], Any]
    """Parses a file of labels; the same as `parse` if labels are written like predictions."""
    suffix: str = "tsv"


def read_file(path: Path, parse: Callable[[str], Any]) -> Any:
    """Parse a file of predictions or labels."""
    try:
        return parse(path.read_text(encoding="utf-8-sig"))  # a mark of byte order is no text
    except FileNotFoundError:
        raise DataError(f"{path} does not exist. Write the predictions for it first.") from None
    except ValueError as error:  # JSON's and Unicode's own errors are such, too
        raise DataError(f"{path} cannot be read: {error}") from None


def _write_lines(lines: Sequence[str]) -> str:
    for line in lines:
        if not line or line != line.strip() or "\n" in line or "\r" in line:
            raise DataError(
                f"{line!r} cannot be a line of a file. Give text without line breaks and without "
                "space around it."
            )
    return "".join(f"{line}\n" for line in lines)


def _parse_lines(text: str) -> list[str]:
    # Not `splitlines`, which also divides at characters that may be part of a line.
    return [line.strip() for line in text.removesuffix("\n").split("\n")] if text else []


def _write_tags(sentences: Sequence[Sequence[str]]) -> str:
    return "".join(_write_lines(tags) + "\n" for tags in sentences)


def _parse_tags(text: str) -> list[list[str]]:
    sentences, sentence = [], []
    for line in _parse_lines(text):
        if line:
            sentence.append(line)
        else:
            sentences.append(sentence)
            sentence = []
    return [*sentences, sentence] if sentence else sentences


def _parse_tag_labels(text: str) -> list[list[str]]:
    """Parse the last column, so that a file of tagged words can be used."""
    return [[line.rpartition("\t")[2] for line in lines] for lines in _parse_tags(text)]


def _write_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    return _write_lines(["\t".join(pair) for pair in pairs])


def _parse_pairs(text: str) -> list[tuple[str, str]]:
    pairs = [line.split("\t") for line in _parse_lines(text)]
    for number, pair in enumerate(pairs, 1):
        if len(pair) != 2:
            raise ValueError(f"Line {number} should be two ids with a tab between them.")
    return [(source, target) for source, target in pairs]


def _write_numbers(numbers: Sequence[int]) -> str:
    return _write_lines([str(number) for number in numbers])


def _parse_numbers(text: str) -> list[int]:
    numbers = []
    for number, line in enumerate(_parse_lines(text), 1):
        # The official script writes the number as a list of one: [12].
        digits = line[1:-1] if line[:1] + line[-1:] == "[]" else line
        if not digits.isdecimal():
            raise ValueError(f"Line {number} should be a number, not {line!r}.")
        numbers.append(int(digits))
    return numbers


def _write_answers(answers: Mapping[str, str]) -> str:
    return json.dumps(dict(answers), ensure_ascii=False, indent=0) + "\n"


def _parse_answers(text: str) -> dict[str, str]:
    answers = json.loads(text)
    if not isinstance(answers, dict) or not all(isinstance(a, str) for a in answers.values()):
        raise ValueError("It should be a JSON object with an answer for each question id.")
    return answers


def _parse_questions(text: str) -> list[tuple[str, list[str]]]:
    """Parse question ids and their correct answers from a file in SQuAD's format."""
    content = json.loads(text)
    try:
        return [
            (str(question["id"]), [answer["text"] for answer in question["answers"]])
            for article in (content["data"] if isinstance(content, dict) else content)
            for paragraph in article["paragraphs"]
            for question in paragraph["qas"]
        ]
    except (KeyError, TypeError):
        raise ValueError("It should be a JSON file in the form of SQuAD.") from None


def _write_decimals(numbers: Sequence[float]) -> str:
    return _write_lines([repr(float(number)) for number in numbers])


def _parse_decimals(text: str) -> list[float]:
    return [float(line) for line in _parse_lines(text)]


def _write_label_sets(several: Sequence[Sequence[str]]) -> str:
    return "".join(f"{'|'.join(labels)}\n" for labels in several)


def _parse_label_sets(text: str) -> list[tuple[str, ...]]:
    return [tuple(filter(None, line.split("|"))) for line in _parse_lines(text)]


LABELS = PredictionFormat(_write_lines, _parse_lines, _parse_lines)
TAGS = PredictionFormat(_write_tags, _parse_tags, _parse_tag_labels)
ANSWERS = PredictionFormat(_write_answers, _parse_answers, _parse_questions, "json")
PAIRS = PredictionFormat(_write_pairs, _parse_pairs, _parse_pairs)
LINES = PredictionFormat(_write_numbers, _parse_numbers, _parse_numbers)
DECIMALS = PredictionFormat(_write_decimals, _parse_decimals, _parse_decimals)
LABEL_SETS = PredictionFormat(_write_label_sets, _parse_label_sets, _parse_label_sets)
