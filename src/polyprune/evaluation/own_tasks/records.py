"""The rows of people's files, each with the line that it stands in."""

import csv
import json
import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...corpora.text_files import PACKED, read_lines
from ...errors import DataError
from .columns import TableForm

logger = logging.getLogger(__name__)

SEPARATORS = {".tsv": "\t", ".csv": ","}
LONGEST_CELL = 2**31 - 1


class Record(NamedTuple):
    """The values of a row by their roles, and where it stands."""

    where: str
    """As a sentence begins: `Line 7 of reviews/sw.tsv`."""
    values: dict[str, Any]
    line: int | None = None
    """The line of its first word, where each word has a line of its own."""

    def where_word(self, number: int) -> str:
        """Return where one of its words stands."""
        if self.line is None:
            return self.where
        return f"Line {self.line + number} of{self.where.partition(' of')[2]}"


def suffix_of(path: Path) -> str:
    """The ending of a file's name that says its format: `.tsv` for `sw.tsv.gz`."""
    packed = path.suffix in PACKED[1:]
    return (path.with_suffix("") if packed else path).suffix.lower()


def read_records(
    path: Path, form: TableForm, separator: str | None = None, tagged: bool = False
) -> Iterator[Record]:
    """Yield the rows of a file; `tagged` files have a word in each line, also as `.tsv`."""
    suffix = suffix_of(path)
    if suffix == ".conll" or (tagged and suffix == ".tsv"):
        return _words(path, form)
    if suffix in (".json", ".jsonl"):
        rows = _json_rows(path) if suffix == ".jsonl" else _json_list(path)
        return (_of_json(where, row, form) for where, row in rows)
    return _table(path, form, separator or SEPARATORS[suffix])


def first_row(path: Path, separator: str | None = None) -> list[str]:
    """Return the names in the first row of a file: of JSON, its keys; of a table, all its cells."""
    suffix = suffix_of(path)
    if suffix in (".json", ".jsonl"):
        rows = _json_rows(path) if suffix == ".jsonl" else _json_list(path)
        where, row = next(rows, ("", {}))
        _of_json(where, row, TableForm({}))
        return list(row)
    between = separator or SEPARATORS[suffix]
    rows = _csv_rows(path, between) if suffix == ".csv" else _rows(path, between)
    return next((cells for _, cells in rows), [])


def _table(path: Path, form: TableForm, separator: str) -> Iterator[Record]:
    rows = _csv_rows(path, separator) if suffix_of(path) == ".csv" else _rows(path, separator)
    rows = _without_blank(path, rows)
    first = next(rows, None)
    if first is None:
        return
    number, cells = first
    roles = form.roles(cells) if form.is_header(cells) else None
    if roles is None:
        named = form.without_header.get(len(cells))
        if named is None:
            raise _columns_unknown(path, form, cells)
        roles = {role: place for place, role in enumerate(named)}
        yield _record(path, number, cells, roles)
    else:
        _tell_unused(path, form, cells, roles)
    for number, row in rows:
        if len(row) != len(cells):
            raise DataError(
                f"Line {number} of {path} has {len(row)} column{'s' * (len(row) != 1)}, and line "
                f"{first[0]} has {len(cells)}. Texts with line breaks or separators in them go "
                "into .csv files with quotes, or into .jsonl."
            )
        yield _record(path, number, row, roles)


def _record(path: Path, number: int, row: Sequence[str], roles: dict[str, int]) -> Record:
    return Record(_line(path, number), {role: row[place] for role, place in roles.items()})


def _line(path: Path, number: int) -> str:
    return f"Line {number} of {path}"


def _columns_unknown(path: Path, form: TableForm, cells: Sequence[str]) -> DataError:
    """Return the error of a table whose first line names no column, and that has too many."""
    allowed = " or ".join(map(str, form.without_header))
    if len(cells) == 1 and any(other in cells[0] for other in ";\t,|"):
        return DataError(
            f"{path} has one column, {cells[0][:40]!r}: say what is between its columns by "
            "separator = ';' in a task.toml."
        )
    return DataError(
        f"{path} has {len(cells)} columns, and its first line does not name them: begin with a "
        f"line of names ({', '.join(form.names)}), or leave {allowed} columns."
    )


def _tell_unused(path: Path, form: TableForm, header: Sequence[str], roles: dict[str, int]) -> None:
    """Warn if a table has other columns and none with labels: one of them may be meant."""
    if form.target and form.target not in roles and len(header) > len(roles):
        names = [name for place, name in enumerate(header) if place not in roles.values()]
        logger.warning(
            "%s has no column %s, but %s: if one of them is meant, say so in a task.toml, "
            "columns = {%s = %r}.",
            path, form.target, ", ".join(names), form.target, names[-1],
        )  # fmt: skip


def _without_blank(
    path: Path, rows: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows; empty lines are allowed at the end of a file only."""
    blank = None
    for number, row in rows:
        if not any(cell.strip() for cell in row):
            blank = blank or number
            continue
        if blank is not None:
            raise DataError(
                f"Line {blank} of {path} is empty. Delete it; tagged words with empty lines "
                "between sentences are in .conll files."
            )
        yield number, row


def _rows(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_lines(path), 1):
        yield number, [unquoted(cell) for cell in line.split(separator)]


def unquoted(cell: str) -> str:
    """Take off the quotes that spreadsheets and pandas write: all within are doubled then."""
    within = cell[1:-1]
    if len(cell) < 2 or cell[0] + cell[-1] != '""' or '"' in within.replace('""', ""):
        return cell
    return within.replace('""', '"')


def _csv_rows(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(LONGEST_CELL)  # documents are longer than Python's own limit
    lines = (f"{line}\n" for line in read_lines(path))
    rows = csv.reader(lines, delimiter=separator, strict=True)
    number = 1
    try:
        for row in rows:
            yield number, row
            number = rows.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"The row that begins in line {number} of {path} is no CSV ({error}). Quote texts that "
            "contain a separator or a quote, and double the quotes in them."
        ) from error


def _json_rows(path: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        where = _line(path, number)
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(f"{where} is no JSON ({error}). Write one object a line.") from error
        yield where, row


def _json_list(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        rows = json.loads("\n".join(read_lines(path)))
    except ValueError as error:
        raise DataError(
            f"{path} is damaged or cut off, and no JSON ({error}). Copy or make it again."
        ) from error
    if not isinstance(rows, list):
        raise DataError(
            f"{path} is neither in SQuAD's form, with a list `data`, nor a list of rows."
        )
    for number, row in enumerate(rows, 1):
        yield f"Row {number} of {path}", row


def _of_json(where: str, row: Any, form: TableForm) -> Record:
    if not isinstance(row, dict):
        raise DataError(f'{where} is no JSON object, such as {{"text": …, "label": …}}.')
    return Record(where, form.pick(row, where))


_COLUMNS = re.compile("[ \t]+")
"""What separates a word from its tag: not every space of Unicode, some of which are in words."""


def _words(path: Path, form: TableForm) -> Iterator[Record]:
    """Yield the sentences of a file with a word in each line: the first column; tags: the last."""
    tokens: list[str] = []
    tags: list[str] = []
    first, width = 0, 0
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip() or line.startswith("-DOCSTART-"):
            if tokens:
                yield _sentence(path, first, tokens, tags)
            tokens, tags = [], []
            continue
        cells = line.split("\t") if "\t" in line else _COLUMNS.split(line.strip())
        if not tokens and line.startswith("# ") and "\t" not in line and len(cells) != 2:
            continue  # a comment before a sentence
        first = first if tokens else number
        width = width or len(cells)
        if len(cells) != width or not cells[0].strip():
            raise DataError(_wrong_word(path, number, cells, width))
        tokens.append(cells[0])
        tags += [cells[-1].strip()] if width > 1 else []
    if tokens:
        yield _sentence(path, first, tokens, tags)


def _wrong_word(path: Path, number: int, cells: Sequence[str], width: int) -> str:
    where = _line(path, number)
    if not cells[0].strip():
        return f"{where} has no word before its tag. Leave lines between sentences empty."
    if len(cells) == 1:
        return f"{where} has no tag: {cells[0][:40]!r}. Tag all words, or none."
    return (
        f"{where} has {len(cells)} columns, and others have {width}: the word comes first, its "
        "tag last, with a tab between if there are spaces in them."
    )


def _sentence(path: Path, number: int, tokens: list[str], tags: list[str]) -> Record:
    said = {"tags": tags} if tags else {}
    return Record(_line(path, number), {"tokens": tokens, **said}, number)
