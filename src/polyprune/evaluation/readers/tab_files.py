"""Tab-separated files, in which a quote is an ordinary character.

The official scripts write these files with quotes around sentences that contain one, and read
them without taking the quotes off again. Here they are read as they are.
"""

from collections.abc import Iterator
from pathlib import Path

from ...corpora.text_files import read_lines
from ...errors import DataError


def read_columns(path: Path, *allowed: int) -> Iterator[list[str]]:
    """Yield the columns of each line; their number must be allowed, and the same everywhere."""
    for number, line in enumerate(read_lines(path), 1):
        columns = line.split("\t")
        if len(columns) not in allowed:
            raise wrong_columns(path, number, len(columns), allowed)
        allowed = (len(columns),)
        yield columns


def read_table(path: Path, *names: str) -> Iterator[list[str]]:
    """Yield the columns with these names; the first line holds the names."""
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


def wrong_columns(path: Path, number: int, columns: int, allowed: tuple[int, ...]) -> DataError:
    """Return the error for a line with a wrong number of columns."""
    expected = " or ".join(map(str, sorted(allowed)))
    return DataError(
        f"Line {number} of {path} has {columns} column{'s' * (columns > 1)} between tabs, where "
        f"{expected} should be. Copy or make the file again."
    )
