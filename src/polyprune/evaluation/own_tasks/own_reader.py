"""Read the examples of a task of one's own, as `readers.reader.Reader` reads XTREME's."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...corpora.text_files import read_lines
from ...errors import DataError
from ..examples import Bitext, TaskExample
from ..readers.hub_tables import read_rows
from ..readers.question_files import parse_questions
from ..readers.splits import SPLIT_LABELS, Split
from . import columns
from .columns import TableForm
from .label_names import LabelNames
from .records import Record, read_records, suffix_of
from .row_parsers import (
    LabelSetParser,
    NumberParser,
    QuestionParser,
    RowParser,
    TagParser,
    TextParser,
)
from .task_folder import HubPlace, Place, TaskFolder, Translations

PARSERS: dict[str, tuple[RowParser, TableForm]] = {
    "classification": (TextParser(), columns.TEXTS),
    "multi-label": (LabelSetParser(), columns.TEXTS),
    "regression": (NumberParser(), columns.TEXTS),
    "tagging": (TagParser(), columns.TAGGED),
    "question answering": (QuestionParser(), columns.QUESTIONS),
}
"""How the rows of each kind of task become examples."""


@dataclass(frozen=True, slots=True)
class OwnReader:
    """Reads the examples of one task, whose files are where its folder says."""

    folder: TaskFolder
    kind: str
    """One of `task_file.KINDS`."""
    labels: LabelNames = field(default_factory=LabelNames)

    def read(self, data: str, split: Split, language: str) -> Iterator[TaskExample]:
        """Read the examples of one language lazily; `data` is the folder's own."""
        own = self._places(split)
        if language not in own:
            raise DataError(self._not_found(split, language))
        place = own[language]
        if isinstance(place, Translations):
            return _translations(place, self.folder)
        parser = PARSERS[self.kind][0]
        return _require_any(parser.parse(self.records(place), self.labels), place)

    def said(self, split: Split, language: str) -> Iterator[tuple[str, str]]:
        """Yield all labels of a language's examples as they are written, and where."""
        parser = PARSERS[self.kind][0]
        for record in self.records(self._places(split)[language]):
            yield from parser.said(record)

    def records(self, place: Place) -> Iterator[Record]:
        """Yield the rows of a file or of a data set's split."""
        about, form = self.folder.about, PARSERS[self.kind][1].renamed(self.folder.about.columns)
        if isinstance(place, HubPlace):
            return _of_data_set(place, form)
        assert isinstance(place, Path)
        if self.kind == "question answering" and is_squad(place):
            return _of_squad(place)
        return read_records(place, form, about.separator, tagged=self.kind == "tagging")

    def languages(self, data: str, split: Split, known: Sequence[str]) -> list[str]:
        """Return which of these languages have data."""
        return [code for code in known if code in self._places(split)]

    def looked_for(self, data: str, split: Split, language: str) -> list[str]:
        """Return what the file of a language would be called."""
        return [f"{_same(split)}-{language}.tsv"]

    def _places(self, split: Split) -> dict[str, Place]:
        return dict(self.folder.splits.get(_same(split), {}))

    def _not_found(self, split: Split, language: str) -> str:
        there = self.folder.told()
        if not self._places(split):
            try_dev = split == "test" and "dev" in self.folder.splits
            advice = "score `split='dev'`" if try_dev else f"add {_same(split)}-{language}.tsv"
            return (
                f"There is no {SPLIT_LABELS[_same(split)]} in {self.folder.data}: it has {there}. "
                f"To go on, {advice}."
            )
        return (
            f"There is no {SPLIT_LABELS[_same(split)]} for {language!r} in {self.folder.data}: it "
            f"has {there}."
        )


def _same(split: Split) -> Split:
    """What is trained on, in whatever language: nobody has translated it."""
    return "train" if split == "translated" else split


def is_squad(path: Path) -> bool:
    """Whether a file is in SQuAD's form, and no list of rows."""
    return suffix_of(path) == ".json" and _first_letter(path) == "{"


def _first_letter(path: Path) -> str:
    return next((line.strip()[0] for line in read_lines(path) if line.strip()), "")


def _of_squad(path: Path) -> Iterator[Record]:
    for each in parse_questions([path], ""):
        values: dict[str, Any] = {"id": each.id, "question": each.question}
        answers = [{"text": own.text, "answer_start": own.start} for own in each.answers]
        values |= {"context": each.context, "answers": answers}
        yield Record(f"Question {each.id} of {path}", values)


def _of_data_set(place: HubPlace, form: TableForm) -> Iterator[Record]:
    for number, row in enumerate(read_rows(*place), 1):
        where = f"Row {number} of {place}"
        yield Record(where, form.pick(row, where))


def _translations(place: Translations, folder: TaskFolder) -> Iterator[TaskExample]:
    """Yield the one bitext of a file: each sentence, and in the same row its translation."""
    form = columns.translations(place.first, place.second)
    language, other = place.first, place.second
    if language == "en":
        language, other = other, language
    pairs = []
    for record in read_records(place.path, form, folder.about.separator):
        both = tuple(str(record.values[code] or "").strip() for code in (language, other))
        for code, sentence in zip((language, other), both, strict=True):
            if not sentence:
                raise DataError(f"{record.where} has no sentence in {code!r}.")
        pairs.append(both)
    return _require_any(iter([Bitext.aligned(pairs)] if pairs else []), place)


def _require_any(examples: Iterator[TaskExample], place: Place) -> Iterator[TaskExample]:
    """Yield the examples; raise if there are none."""
    first = next(examples, None)
    if first is None:
        raise DataError(f"{place} has no example. Fill it in, or delete it.")
    yield first
    yield from examples
