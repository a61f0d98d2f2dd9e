"""What the files of a task are for, where nobody says it: by their names, formats and rows."""

from itertools import islice
from pathlib import Path

from ...corpora.text_files import read_lines
from ..readers.hub_tables import read_rows
from .columns import QUESTIONS, TAGGED, TEXTS
from .own_reader import OwnReader, is_squad
from .records import Record, first_row, suffix_of
from .row_parsers import BETWEEN_LABELS
from .task_folder import HubPlace, Place, TaskFolder, Translations

LOOKED_AT = 1000
"""The rows by whose labels it is told what a table holds."""


def holds_translations(folder: TaskFolder) -> bool:
    """Whether its files are called by two languages each."""
    return any(isinstance(place, Translations) for place in folder.places)


def guess_kind(folder: TaskFolder) -> str:
    """Return what a folder is for, one of `task_file.KINDS`."""
    if folder.about.kind:
        return folder.about.kind
    if holds_translations(folder):
        return "retrieval"
    place = folder.places[0]
    if isinstance(place, Path) and holds_words(place):
        return "tagging"
    if isinstance(place, Path) and is_squad(place):
        return "question answering"
    names = _first_names(place, folder.about.separator)
    for kind, form in (("tagging", TAGGED), ("question answering", QUESTIONS)):
        own = form.renamed(folder.about.columns)
        if own.needed.keys() <= own.roles(names).keys() and own.target in own.roles(names):
            return kind
    texts = OwnReader(folder, "classification")
    return _kind_of_labels(list(islice(texts.records(place), LOOKED_AT)))


def holds_words(path: Path) -> bool:
    """Whether each line has a word: by the format, or by empty lines, which no table has."""
    if suffix_of(path) != ".tsv":
        return suffix_of(path) == ".conll"
    lines = [line.strip() for line in islice(read_lines(path), LOOKED_AT)]
    return "" in "\n".join(lines).strip().split("\n")[1:]


def _first_names(place: Place, separator: str | None) -> list[str]:
    if isinstance(place, HubPlace):
        return list(next(read_rows(*place), {}))
    assert isinstance(place, Path)
    return first_row(place, separator)


def _kind_of_labels(records: list[Record]) -> str:
    """Return what the labels of texts are: one each, several, or numbers that are no counts."""
    labels = [each.values.get(TEXTS.target) for each in records]
    if any(isinstance(label, list) for label in labels):
        return "multi-label"
    written = [str(label).strip() for label in labels if label is not None]
    if any(BETWEEN_LABELS in label or label[:1] == "[" for label in written):
        return "multi-label"
    numbers = [_number(label) for label in written]
    if None not in numbers and any(number % 1 for number in numbers if number is not None):
        return "regression"
    return "classification"


def _number(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        return None
