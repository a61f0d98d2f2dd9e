"""Readers of translation retrieval: BUCC 2018 and Tatoeba."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...corpora.text_files import read_lines
from ...errors import DataError
from ..examples import Bitext
from ..prediction_formats import LINES, read_file
from . import hub_tables
from .reader import FileLayout, Reader
from .tab_files import read_columns


def parse_bucc(paths: Sequence[Path], language: str) -> Iterator[Bitext]:
    """The sentences of two files, each with its id, and their pairs if a third file is there."""
    source, english = paths
    source_ids, sources = _with_ids(source)
    target_ids, targets = _with_ids(english)
    gold = english.with_suffix(".gold")
    pairs = tuple((one, other) for one, other in read_columns(gold, 2)) if gold.is_file() else None
    if sources and targets:
        yield Bitext(sources, targets, source_ids, target_ids, pairs)


def parse_tatoeba(paths: Sequence[Path], language: str) -> Iterator[Bitext]:
    """The sentences of two files, the English ones in alphabetical order, and their pairs.

    XTREME sorts the English file, and the numbers of the lines that it had before are the labels.
    Where it was not sorted yet, the lines say it themselves; where it was, a file of labels does.
    """
    source, english = paths
    sources, targets = _stripped(source), _stripped(english)
    if len(sources) != len(targets):
        raise DataError(
            f"{source} has {len(sources)} lines but {english} has {len(targets)}, and each should "
            "be the other's translation. Copy or make both again."
        )
    numbers = tuple(map(str, range(len(targets))))
    order = sorted(range(len(targets)), key=targets.__getitem__)
    gold = None
    if len(order) == 1 or order != list(range(len(targets))):
        targets = tuple(targets[i] for i in order)
        gold = tuple(zip(map(str, order), numbers, strict=True))
    elif labels := _label_file(english, language):
        gold = _labels(labels, len(targets))
    if sources:
        yield Bitext(sources, targets, numbers, numbers, gold)


def _labels(path: Path, count: int) -> tuple[tuple[str, str], ...]:
    """Read pairs from a file with one source line number per English sentence."""
    labels = read_file(path, LINES.parse_labels)
    if len(labels) != count:
        raise DataError(f"{path} has {len(labels)} labels for {count} sentences. Make it again.")
    return tuple((str(label), str(i)) for i, label in enumerate(labels))


def _label_file(english: Path, language: str) -> Path | None:
    name = f"test-{language}.tsv"
    folder = english.parent
    for path in (folder / name, folder.parent / "labels" / folder.name / name):
        if path.is_file():
            return path
    return None


def _stripped(path: Path) -> tuple[str, ...]:
    return tuple(line.strip() for line in read_lines(path))


def _with_ids(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    lines = list(read_columns(path, 2))
    return tuple(one for one, _ in lines), tuple(sentence for _, sentence in lines)


def _bucc(split: str, published: str) -> tuple[FileLayout, ...]:
    return tuple(
        FileLayout((f"{start}.{{language}}", f"{start}.en"), parse_bucc)
        for start in (
            f"bucc2018/{{language}}-en.{split}",
            f"bucc2018/{{language}}-en.{published}",
            f"bucc2018/{{language}}-en/{{language}}-en.{published}",
        )
    )


BUCC = Reader(
    "bucc2018",
    # The sets for the shared task's own test have never been given out.
    {"dev": _bucc("dev", "sample"), "test": _bucc("test", "training")},
    hub_tables.BUCC,
)

TATOEBA = Reader(
    "tatoeba",
    {
        "test": (
            FileLayout(
                ("tatoeba/{language}-en.{language}", "tatoeba/{language}-en.en"), parse_tatoeba
            ),
            FileLayout(
                ("tatoeba/tatoeba.{three}-eng.{three}", "tatoeba/tatoeba.{three}-eng.eng"),
                parse_tatoeba,
            ),
        )
    },
    hub_tables.TATOEBA,
)
