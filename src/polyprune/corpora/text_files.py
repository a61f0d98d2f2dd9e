"""Read the lines of a text file, plain or compressed, from any position."""

import gzip
import logging
import lzma
import zlib
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from ..errors import DataError

logger = logging.getLogger(__name__)

_warned: set[tuple[Path, str]] = set()

PACKED = ("", ".gz", ".xz", ".zst")
"""How a text file may be compressed; CC-100's come as `.xz`."""

Damaged = Literal["stop", "skip"]
"""What to do with a damaged file: `stop` with an error, or `skip` the damage with a warning."""


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file, in constant memory."""
    return (line for line, _, _ in read_lines_from(path) if line is not None)


def read_lines_from(
    path: Path, byte: int = 0, number: int = 0, damaged: Damaged = "stop"
) -> Iterator[tuple[str | None, int, int]]:
    """Yield the lines from a byte and line number on, each with the byte and line number after it.

    A line that is not UTF-8 is None where damage is skipped, so that the lines of a translation
    stay at their places.
    """
    left_out = 0
    try:
        with _open(path) as file:
            _wind(file, byte, number, damaged == "skip" and path.suffix in PACKED[1:])
            for line in file:
                number += 1
                byte += len(line)
                try:
                    # A mark of byte order is no text.
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    text = _leave_out(path, number, error, damaged)
                    left_out += 1
                yield text, byte, number
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, _zstd_error()) as error:
        _break_off(path, number, error, damaged)
    if left_out:
        logger.info("%d lines of %s are not UTF-8 and were left out.", left_out, path)


def _wind(file: Any, byte: int, number: int, by_line: bool) -> None:
    """Move to a position that was reached before.

    In a compressed file `seek` reads on, in steps that depend on the place. A damaged one would
    break off elsewhere than before, so it is read again exactly as it was, line by line.
    """
    if by_line:
        deque(islice(file, number), maxlen=0)
    else:
        file.seek(byte)


def _leave_out(path: Path, number: int, error: UnicodeDecodeError, damaged: Damaged) -> None:
    """Raise, or warn."""
    said = f"Line {number} of {path} is not UTF-8 ({error.reason})."
    if damaged == "stop":
        raise DataError(f"{said} Convert the file, for example with iconv.") from error
    _warn_once(path, "line", f"{said} It is left out, as are any others.")


def _break_off(path: Path, number: int, error: Exception, damaged: Damaged) -> None:
    """Raise, or warn."""
    said = f"{path} is damaged or cut off after line {number} ({error})."
    if damaged == "stop":
        raise DataError(f"{said} Copy or make it again.") from error
    _warn_once(path, "rest", f"{said} What comes after is left out.")


def _warn_once(path: Path, what: str, message: str) -> None:
    """Warn only the first time: every lane reads the file in every epoch."""
    if (path, what) not in _warned:
        _warned.add((path, what))
        logger.warning(message)


def _open(path: Path) -> Any:
    """Open a file for reading bytes, decompressed on the way."""
    if path.suffix == ".gz":
        return gzip.open(path)
    if path.suffix == ".xz":
        return lzma.open(path)
    if path.suffix == ".zst":
        from backports import zstd

        return zstd.open(path)
    return path.open("rb")


def _zstd_error() -> type[Exception]:
    from backports import zstd

    return zstd.ZstdError
