"""Pairs of sentences: XNLI and PAWS-X."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..examples import Pair
from . import data_sets
from .columns import read_columns, read_table
from .reader import Place, Reader


def parse_pairs(paths: Sequence[Path], language: str) -> Iterator[Pair]:
    """The pairs of files with two columns, or three with a label."""
    for path in paths:
        for first, second, *label in read_columns(path, 2, 3):
            yield _pair(first, second, *label)


def parse_translated(paths: Sequence[Path], language: str) -> Iterator[Pair]:
    """The translations of files with the English sentences in their first two columns."""
    for path in paths:
        for _, _, first, second, label in read_columns(path, 5):
            yield _pair(first, second, label)


def parse_xnli(paths: Sequence[Path], language: str) -> Iterator[Pair]:
    """The pairs of one language in files with those of all fifteen."""
    for path in paths:
        for code, label, first, second in read_table(
            path, "language", "gold_label", "sentence1", "sentence2"
        ):
            if code == language:
                yield _pair(first, second, label)


def parse_multinli(paths: Sequence[Path], language: str) -> Iterator[Pair]:
    """The pairs of files of XNLI-MT, which are MultiNLI and its translations."""
    for path in paths:
        for first, second, label in read_table(path, "premise", "hypo", "label"):
            yield _pair(first, second, label)


def parse_pawsx(paths: Sequence[Path], language: str) -> Iterator[Pair]:
    """The pairs of PAWS-X's own files."""
    for path in paths:
        for first, second, label in read_table(path, "sentence1", "sentence2", "label"):
            yield _pair(first, second, label)


def _languages_of_xnli(path: Path) -> set[str]:
    return {code for (code,) in read_table(path, "language")}


def _pair(first: str, second: str, label: str = "") -> Pair:
    label = label.strip()
    # Files of MultiNLI and of XNLI do not agree in this word.
    return Pair(first, second, "contradiction" if label == "contradictory" else label or None)


XNLI = Reader(
    "xnli",
    {
        "train": (
            Place(("xnli/train-{language}.tsv",), parse_pairs),
            Place(("XNLI-MT-1.0/multinli/multinli.train.en.tsv",), parse_multinli),
        ),
        "dev": (
            Place(("xnli/dev-{language}.tsv",), parse_pairs),
            Place(("XNLI-1.0/xnli.dev.tsv",), parse_xnli, _languages_of_xnli),
        ),
        "test": (
            Place(("xnli/test-{language}.tsv",), parse_pairs),
            Place(("XNLI-1.0/xnli.test.tsv",), parse_xnli, _languages_of_xnli),
        ),
        "translated": (
            Place(("XNLI/translate-train/en-{language}-translated.tsv",), parse_translated),
            Place(("XNLI-MT-1.0/multinli/multinli.train.{language}.tsv",), parse_multinli),
            Place(("xnli/train-{language}.tsv",), parse_pairs),
        ),
    },
    data_sets.XNLI,
)

PAWSX = Reader(
    "pawsx",
    {
        "train": (
            Place(("pawsx/train-{language}.tsv",), parse_pairs),
            Place(("x-final/{language}/train.tsv",), parse_pawsx),
        ),
        "dev": (
            Place(("pawsx/dev-{language}.tsv",), parse_pairs),
            Place(("x-final/{language}/dev_2k.tsv",), parse_pawsx),
        ),
        "test": (
            Place(("pawsx/test-{language}.tsv",), parse_pairs),
            Place(("x-final/{language}/test_2k.tsv",), parse_pawsx),
        ),
        "translated": (
            Place(("PAWSX/translate-train/en-{language}-translated.tsv",), parse_translated),
            Place(("x-final/{language}/translated_train.tsv",), parse_pawsx),
            Place(("pawsx/train-{language}.tsv",), parse_pairs),
        ),
    },
    data_sets.PAWSX,
)
