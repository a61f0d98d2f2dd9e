"""Hold out a few lines of each language that are never trained on."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from ..errors import DataError
from ..storage import atomic_file
from .text_files import read_lines
from .text_sources import TextSource

RECORD = "held-out.json"
"""The file that is written last: a folder that has it is complete."""


def is_held_out(document: int, limit: int) -> bool:
    """Return whether a document is held out: every tenth below the language's limit."""
    return document < limit and document % 10 == 9


def hold_out(
    sources: Mapping[str, TextSource], lines: int, folder: Path, given: Mapping[str, Path]
) -> dict[str, int]:
    """Write up to `lines` lines per language to files; return the document limit of each language.

    The files are `folder/<code>.txt`. Where a file was `given`, its first lines are taken and
    nothing is kept from training. A language that has too little text for a tenth of it to be a
    document gets no file. What was done before is not done again.
    """
    record = folder / RECORD
    if record.is_file():
        return _read_back(record, sources)
    limits: dict[str, int] = {}
    counts: dict[str, int] = {}
    for code, source in sources.items():
        if code in given:
            some, limits[code] = list(_nonblank(given[code], lines)), 0
        else:
            some, limits[code] = _every_tenth(source, lines)
        counts[code] = len(some)
        if some:
            _write(folder / f"{code}.txt", "".join(f"{line}\n" for line in some))
    _write(record, json.dumps({"limits": limits, "lines": counts}, indent=2) + "\n")
    return limits


def _every_tenth(source: TextSource, lines: int) -> tuple[list[str], int]:
    """Return lines of every tenth document until there are enough, and the document limit."""
    found: list[str] = []
    limit = 0
    for document, after in source.documents():
        if len(found) >= lines:
            break
        if is_held_out(after["document"] - 1, after["document"]):
            found += [line if isinstance(line, str) else line[0] for line in document]
            limit = after["document"]
    return found[:lines], limit


def _nonblank(path: Path, count: int) -> Iterator[str]:
    return islice((line for line in read_lines(path) if line.strip()), count)


def _write(path: Path, text: str) -> None:
    with atomic_file(path, force=True) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def _read_back(record: Path, sources: Mapping[str, TextSource]) -> dict[str, int]:
    limits: dict[str, int] = json.loads(record.read_text(encoding="utf-8"))["limits"]
    missing = [code for code in sources if code not in limits]
    if missing:
        raise DataError(
            f"{record} says nothing about {', '.join(missing)}: it was made for other languages. "
            "Begin a new run in another folder."
        )
    return {code: limits[code] for code in sources}
