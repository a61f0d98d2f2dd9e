"""Pairs of sentences: XNLI and PAWS-X."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..examples import SentencePair
from . import hub_tables
from .reader import FileLayout, Reader
from .tab_files import read_columns, read_table


def parse_pairs(paths: Sequence[Path], language: str) -> Iterator[SentencePair]:
    """The pairs of files with two columns, or three with a label."""
    for path in paths:
        for first, second, *label in read_columns(path, 2, 3):
            yield _pair(first, second, *label)


def parse_translated(paths: Sequence[Path], language: str) -> Iterator[SentencePair]:
    """The translations of files with the English sentences in their first two columns."""
    for path in paths:
        for _, _, first, second, label in read_columns(path, 5):
            yield _pair(first, second, label)


def parse_xnli(paths: Sequence[Path], language: str) -> Iterator[SentencePair]:
    """The pairs of one language in files with those of all fifteen."""
    for path in paths:
        for code, label, first, second in read_table(
            path, "language", "gold_label", "sentence1", "sentence2"
        ):
            if code == language:
                yield _pair(first, second, label)


def parse_multinli(paths: Sequence[Path], language: str) -> Iterator[SentencePair]:
    """The pairs of files of XNLI-MT, which are MultiNLI and its translations."""
    for path in paths:
        for first, second, label in read_table(path, "premise", "hypo", "label"):
            yield _pair(first, second, label)


def parse_pawsx(paths: Sequence[Path], language: str) -> Iterator[SentencePair]:
    """The pairs of PAWS-X's own files."""
    for path in paths:
        for first, second, label in read_table(path, "sentence1", "sentence2", "label"):
            yield _pair(first, second, label)


def _languages_of_xnli(path: Path) -> set[str]:
    return {code for (code,) in read_table(path, "language")}


def _pair(first: str, second: str, label: str = "") -> SentencePair:
    label = label.strip()
    # Files of MultiNLI and of XNLI do not agree in this word.
    return SentencePair(
        first, second, "contradiction" if label == "contradictory" else label or None
    )


XNLI = Reader(
    "xnli",
    {
        "train": (
            FileLayout(("xnli/train-{language}.tsv",), parse_pairs),
            FileLayout(("XNLI-MT-1.0/multinli/multinli.train.en.tsv",), parse_multinli),
        ),
        "dev": (
            FileLayout(("xnli/dev-{language}.tsv",), parse_pairs),
            FileLayout(("XNLI-1.0/xnli.dev.tsv",), parse_xnli, _languages_of_xnli),
        ),
        "test": (
            FileLayout(("xnli/test-{language}.tsv",), parse_pairs),
            FileLayout(("XNLI-1.0/xnli.test.tsv",), parse_xnli, _languages_of_xnli),
        ),
        "translated": (
            FileLayout(("XNLI/translate-train/en-{language}-translated.tsv",), parse_translated),
            FileLayout(("XNLI-MT-1.0/multinli/multinli.train.{language}.tsv",), parse_multinli),
            FileLayout(("xnli/train-{language}.tsv",), parse_pairs),
        ),
    },
    hub_tables.XNLI,
)

PAWSX = Reader(
    "pawsx",
    {
        "train": (
            FileLayout(("pawsx/train-{language}.tsv",), parse_pairs),
            FileLayout(("x-final/{language}/train.tsv",), parse_pawsx),
        ),
        "dev": (
            FileLayout(("pawsx/dev-{language}.tsv",), parse_pairs),
            FileLayout(("x-final/{language}/dev_2k.tsv",), parse_pawsx),
        ),
        "test": (
            FileLayout(("pawsx/test-{language}.tsv",), parse_pairs),
            FileLayout(("x-final/{language}/test_2k.tsv",), parse_pawsx),
        ),
        "translated": (
            FileLayout(("PAWSX/translate-train/en-{language}-translated.tsv",), parse_translated),
            FileLayout(("x-final/{language}/translated_train.tsv",), parse_pawsx),
            FileLayout(("pawsx/train-{language}.tsv",), parse_pairs),
        ),
    },
    hub_tables.PAWSX,
)
