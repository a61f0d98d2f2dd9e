"""Find and read the data of a task."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeAlias

from ...errors import DataError
from ..examples import TaskExample
from .hub_tables import HubTable, has_table, is_data_set, read_hub_table
from .language_codes import LANGUAGES, fill_pattern
from .splits import SPLIT_LABELS, Split

Parse: TypeAlias = Callable[[Sequence[Path], str], Iterator[TaskExample]]
"""Parses the examples of a language from files."""


@dataclass(frozen=True, slots=True)
class FileLayout:
    """The files of one split of one language, or of English if their names contain no language."""

    files: tuple[str, ...]
    """Paths below the folder, all of which are needed; a `*` matches any number, in order of name.
    """
    parse: Parse
    languages: Callable[[Path], Collection[str]] | None = None
    """Lists the languages of a file that holds several."""

    def looked_for(self, language: str) -> list[str]:
        """Return the files that hold a language, or None."""
        if language != "en" and self.languages is None and "{" not in "".join(self.files):
            return []
        return [name for file in self.files if (name := fill_pattern(file, language))]

    def missing(self, folder: Path, language: str) -> list[str]:
        """Return the files that are missing."""
        return [name for name in self.looked_for(language) if not _matching(folder, name)]

    def find(self, folder: Path, language: str) -> list[Path] | None:
        """Return the files if they exist and hold this language."""
        names = self.looked_for(language)
        paths = [path for name in names for path in _matching(folder, name)]
        if not names or self.missing(folder, language):
            return None
        if self.languages and not any(self._holds(path, language) for path in paths):
            return None
        return paths

    def _holds(self, path: Path, language: str) -> bool:
        return language in _languages(self.languages, path, path.stat().st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads a task's data from any of its known layouts."""

    task: str
    places: Mapping[Split, tuple[FileLayout, ...]]
    """The file layouts of each split, tried in this order."""
    tables: Mapping[Split, HubTable] = field(default_factory=dict)
    """The tables of each split in a data set such as `google/xtreme`."""

    def read(self, data: str, split: Split, language: str) -> Iterator[TaskExample]:
        """Read the examples of one language lazily.

        `data` is a folder, as XTREME's download script leaves it or with the files as they were
        published, or the name or folder of a Hugging Face data set. Nothing needs to be
        translated into English: its `translated` examples are those of `train`.
        """
        split = _of_english(split, language)
        folder = Path(data).expanduser()
        for place in self.places.get(split, ()):
            if paths := place.find(folder, language):
                return _require_any(place.parse(paths, language), f"{paths[0]} has no example")
        table = self.tables.get(split)
        if is_data_set(data) and table and has_table(data, table, language):
            rows = read_hub_table(data, table, language)
            return _require_any(
                rows, f"{data} has no {SPLIT_LABELS[split]} of {self.task} for {language!r}"
            )
        raise DataError(self._not_found(data, split, language))

    def languages(self, data: str, split: Split, known: Sequence[str]) -> list[str]:
        """Return which of these languages have data."""
        folder = Path(data).expanduser()

        def there(language: str) -> bool:
            actual = _of_english(split, language)
            if any(place.find(folder, language) for place in self.places.get(actual, ())):
                return True
            table = self.tables.get(actual)
            return table is not None and is_data_set(data) and has_table(data, table, language)

        return [language for language in known if there(language)]

    def looked_for(self, data: str, split: Split, language: str) -> list[str]:
        """Return where the data of a language is searched, in order."""
        split = _of_english(split, language)
        files = [
            name
            for place in self.places.get(split, ())
            for name in place.looked_for(language)
            if Path(data).expanduser().is_dir()
        ]
        table = self.tables.get(split)
        if table and is_data_set(data):
            files += table.looked_for(language)
        return files

    def _not_found(self, data: str, split: Split, language: str) -> str:
        """Return the error that names what is missing and what exists instead."""
        folder = Path(data).expanduser()
        if not folder.is_dir() and not is_data_set(data):
            return f"There is no folder {data} with the data of XTREME."
        what = f"{SPLIT_LABELS[split]} of {self.task} for {language!r}"
        if not self.looked_for(data, split, language):
            form = "files" if folder.is_dir() else "data sets"
            return f"There is no {what}: XTREME's {form} have none."
        places = []
        for place in self.places.get(split, ()):
            names, missing = place.looked_for(language), place.missing(folder, language)
            if 0 < len(missing) < len(names):
                return f"The {what} in {data} is not complete: {' and '.join(missing)} is missing."
            places += [" and ".join(names)] if names and folder.is_dir() else []
        if (table := self.tables.get(split)) and is_data_set(data):
            places += table.looked_for(language)
        others = self.languages(data, split, LANGUAGES[self.task])
        there = f" There is some for {', '.join(others)}." if others else ""
        return f"There is no {what} in {data}: looked for {', or '.join(places)}.{there}"


@cache
def _languages(find: Callable[[Path], Collection[str]], path: Path, _: int) -> Collection[str]:
    """Return the languages of a file; cached until the file changes."""
    return find(path)


def _of_english(split: Split, language: str) -> Split:
    return "train" if split == "translated" and language == "en" else split


def _matching(folder: Path, pattern: str) -> list[Path]:
    """Return the matching files in the order of their names, which is the official one."""
    if "*" in pattern:
        return sorted(folder.glob(pattern), key=lambda path: path.name)
    return [folder / pattern] if (folder / pattern).is_file() else []


def _require_any(examples: Iterator[TaskExample], if_none: str) -> Iterator[TaskExample]:
    """Yield the examples; raise if there are none."""
    first = next(examples, None)
    if first is None:
        raise DataError(f"{if_none}. Copy or make it again.")
    yield first
    yield from examples
