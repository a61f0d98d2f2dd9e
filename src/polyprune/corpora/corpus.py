"""Text on disk: a folder with one file a language, read as a stream, plain or compressed."""

import gzip
import lzma
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import DataError, UnknownName
from .languages import find_all, language, languages

PACKED = ("", ".gz", ".xz", ".zst")
"""How a text file may be compressed; CC-100's come as `.xz`."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The text file of each language, by the language's code in App. C."""

    folder: Path
    files: dict[str, Path]

    def codes(self, languages: Sequence[str] | None = None) -> list[str]:
        """The codes of these languages, all of which must have text here; all there are if None."""
        if languages is None:
            return list(self.files)
        return find_all(languages, list(self.files), str(self.folder))

    def sentences(self, code: str, count: int) -> Iterator[str]:
        """The first so many lines of a language; blank ones, which separate documents, left out."""
        return islice((line for line in read_lines(self.files[code]) if line.strip()), count)

    def translations(self, code: str, pivot: str, count: int) -> Iterator[tuple[str, str]]:
        """The first so many lines of a language, each with the line at its place in `pivot`."""
        both = zip(read_lines(self.files[code]), read_lines(self.files[pivot]), strict=False)
        return islice((pair for pair in both if all(line.strip() for line in pair)), count)


def open_corpus(folder: str | Path) -> Corpus:
    """The corpus in a folder of `<lang>.txt[.gz|.xz|.zst]`, or `<anything>.<lang>.txt`."""
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise DataError(
            f"There is no folder {folder}. A corpus is a folder with one file a language, named "
            "after it: sw.txt, ur.txt.xz."
        )
    # Plain names first: beside `sw.txt.xz`, `news.sw.txt` is something else.
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir(), key=lambda path: (_stem(path).count("."), path.name)):
        code = _code(path)
        if code is not None and path.is_file():
            found.setdefault(code, path)
    if not found:
        raise DataError(
            f"{folder} has no text: there is no file named after a language, such as sw.txt or "
            "sw.txt.xz. All 100: polyprune ls languages."
        )
    return Corpus(folder, {code: found[code] for code in languages() if code in found})


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a text file, one at a time, whatever its size."""
    number = 0
    try:
        with _open(path) as file:
            for line in file:
                number += 1
                encoding = (
                    "utf-8-sig" if number == 1 else "utf-8"
                )  # a mark of byte order is no text
                yield line.decode(encoding).rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(
            f"Line {number} of {path} is not UTF-8 ({error.reason}). Convert the file, for example "
            "with iconv."
        ) from error
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, _zstd_error()) as error:
        raise DataError(
            f"{path} is damaged or cut off after line {number} ({error}). Copy or make it again."
        ) from error


def _stem(path: Path) -> str:
    """A file's name before `.txt` and how it is packed; empty if it is no text."""
    for packed in PACKED:
        if path.name.endswith(f".txt{packed}"):
            return path.name.removesuffix(f".txt{packed}")
    return ""


def _code(path: Path) -> str | None:
    """The language that a file is named after: the last part of its name before `.txt`."""
    stem = _stem(path)
    if stem.startswith("."):  # hidden
        return None
    try:
        return language(stem.rpartition(".")[2]).code
    except UnknownName:
        return None


def _open(path: Path) -> Any:
    """A file of bytes, unpacked on the way."""
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
