"""Text on disk: a folder with one file per language, plain or compressed, read as a stream."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ..errors import DataError, UnknownName
from .languages import find_languages, language, languages
from .text_files import PACKED, read_lines

__all__ = ["Corpus", "development_files", "open_corpus", "read_lines"]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The text file of each language, by the language's code in App. C."""

    folder: Path
    files: dict[str, Path]

    def codes(self, languages: Sequence[str] | None = None) -> list[str]:
        """Return the codes of these languages, which must have text here; all there are if None."""
        known = self.known()
        if languages is None:
            return known
        return find_languages(languages, known, str(self.folder))

    def known(self) -> list[str]:
        """The codes of all languages that have text."""
        return list(self.files)

    def lines(self, code: str) -> Iterator[str]:
        """All lines of a language."""
        return read_lines(self.files[code])

    def sentences(self, code: str, count: int) -> Iterator[str]:
        """Return the first `count` lines of a language, without blank ones."""
        return islice((line for line in self.lines(code) if line.strip()), count)

    def translations(self, code: str, pivot: str, count: int) -> Iterator[tuple[str, str]]:
        """Return the first `count` lines of a language, each with the same line of `pivot`."""
        both = zip(self.lines(code), self.lines(pivot), strict=False)
        return islice((pair for pair in both if all(line.strip() for line in pair)), count)


def open_corpus(folder: str | Path) -> Corpus:
    """Open a folder of `<lang>.txt[.gz|.xz|.zst]`, or `<anything>.<lang>.txt`, as a corpus."""
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise DataError(
            f"There is no folder {folder}. A corpus is a folder with one file per language, named "
            "after it: sw.txt, ur.txt.xz."
        )
    found = _named_after_languages(folder, _stem)
    if not found:
        raise DataError(
            f"{folder} has no text: there is no file named after a language, such as sw.txt or "
            "sw.txt.xz. All 100: polyprune ls languages."
        )
    return Corpus(folder, found)


def development_files(folder: str | Path) -> dict[str, Path]:
    """Find each language's text that is reserved for measuring: `<lang>.dev.txt[.gz|.xz|.zst]`.

    There is none where there is no folder: a data set has other means.
    """
    folder = Path(folder).expanduser()
    return _named_after_languages(folder, _development_stem) if folder.is_dir() else {}


def _named_after_languages(folder: Path, stem: Callable[[Path], str]) -> dict[str, Path]:
    """The file of each language that has one, in the order of the paper."""
    # Plain names first: beside `sw.txt.xz`, `news.sw.txt` is something else.
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir(), key=lambda path: (stem(path).count("."), path.name)):
        code = _code(stem(path))
        if code is not None and path.is_file():
            found.setdefault(code, path)
    return {code: found[code] for code in languages() if code in found}


def _stem(path: Path) -> str:
    """Return a file's name before `.txt` and its compression; empty if it is no text."""
    for packed in PACKED:
        if path.name.endswith(f".txt{packed}"):
            return path.name.removesuffix(f".txt{packed}")
    return ""


def _development_stem(path: Path) -> str:
    """Return a file's name before `.dev.txt`; empty if it is something else."""
    stem = _stem(path)
    return stem.removesuffix(".dev") if stem.endswith(".dev") else ""


def _code(stem: str) -> str | None:
    """The language that a file is named after: the last part of its name before `.txt`."""
    if stem.startswith("."):  # hidden
        return None
    try:
        return language(stem.rpartition(".")[2]).code
    except UnknownName:
        return None
