"""Columns between tabs, in which a quote is a character like any other.

The official scripts write these files with quotes around sentences that contain one, and read
them without taking the quotes off again. Here they are read as they are.
"""

from collections.abc import Iterator
from pathlib import Path

from ...corpora.text_files import read_lines
from ...errors import DataError


def read_columns(path: Path, *allowed: int) -> Iterator[list[str]]:
    """The columns of each line; all lines have as many as the first, one of the allowed numbers."""
    for number, line in enumerate(read_lines(path), 1):
        columns = line.split("\t")
        if len(columns) not in allowed:
            raise wrong_columns(path, number, len(columns), allowed)
        allowed = (len(columns),)
        yield columns


def read_table(path: Path, *names: str) -> Iterator[list[str]]:
    """The columns with these names of each line after the first, in which the names are."""
    lines = enumerate(read_lines(path), 1)
    header = next(lines, (1, ""))[1].split("\t")
    absent = [name for name in names if name not in header]
    if absent:
        raise DataError(
            f"The first line of {path} should name its columns, but there is no "
            f"{' and no '.join(absent)} in it. Copy the file again as it was published."
        )
    places = [header.index(name) for name in names]
    for number, line in lines:
        columns = line.split("\t")
        if len(columns) != len(header):
            raise wrong_columns(path, number, len(columns), (len(header),))
        yield [columns[place].strip() for place in places]


def wrong_columns(path: Path, number: int, found: int, allowed: tuple[int, ...]) -> DataError:
    """The error of a line that has another number of columns than is allowed."""
    expected = " or ".join(map(str, sorted(allowed)))
    return DataError(
        f"Line {number} of {path} has {found} column{'s' * (found > 1)} between tabs, where "
        f"{expected} should be. Copy or make the file again."
    )
