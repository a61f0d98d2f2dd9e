"""Words with tags: parts of speech (UD) and names (PAN-X, which is WikiANN)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...corpora.lines import read_lines
from ...errors import DataError
from ..examples import Tagged
from . import data_sets
from .columns import wrong_columns
from .conllu import parse_conllu
from .reader import Place, Reader
from .splits import Split


def parse_words(paths: Sequence[Path], language: str) -> Iterator[Tagged]:
    """The sentences of files with a word and its tag a line, or words only."""
    for path in paths:
        yield from _sentences(path, prefixed=False)


def parse_wikiann(paths: Sequence[Path], language: str) -> Iterator[Tagged]:
    """The sentences of WikiANN's own files, where each word comes after its language: `en:word`."""
    for path in paths:
        yield from _sentences(path, prefixed=True)


def _sentences(path: Path, prefixed: bool) -> Iterator[Tagged]:
    words: list[str] = []
    tags: list[str] = []
    allowed = (1, 2)
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            if words:
                yield _tagged(words, tags)
            words, tags = [], []
            continue
        columns = line.split("\t")
        if len(columns) not in allowed:
            raise wrong_columns(path, number, len(columns), allowed)
        allowed = (len(columns),)
        words.append(_without_language(path, number, columns[0]) if prefixed else columns[0])
        tags += columns[1:]
    if words:
        yield _tagged(words, tags)


def _tagged(words: list[str], tags: list[str]) -> Tagged:
    return Tagged(tuple(words), tuple(tag.strip() for tag in tags) or None)


def _without_language(path: Path, number: int, word: str) -> str:
    _, colon, rest = word.partition(":")
    if not colon:
        raise DataError(
            f"Line {number} of {path} has no language before its word, as in en:word. Files with "
            "words only are called panx/train-en.tsv."
        )
    return rest.strip()


def _ud(split: str) -> tuple[Place, ...]:
    # Long training files are in parts: de_hdt-ud-train-a-1.conllu.
    file = f"UD_*/{{language}}_*-ud-{split}*.conllu"
    return (
        Place((f"udpos/{split}-{{language}}.tsv",), parse_words),
        *(
            Place((f"{folder}{file}",), parse_conllu)
            for folder in ("ud-treebanks-v2.5/", "ud-treebanks-v2.7/", "ud_conllu/", "")
        ),
    )


def _wikiann(split: str) -> tuple[Place, ...]:
    return (
        Place((f"panx/{split}-{{language}}.tsv",), parse_words),
        Place((f"panx/{{language}}/{split}",), parse_wikiann),
        Place((f"panx_dataset/{{language}}-{split}",), parse_wikiann),
        Place((f"{{language}}/{split}",), parse_wikiann),
    )


# Nobody translates tags: translate-train takes what people have tagged in every language.
_SPLITS: dict[Split, str] = {
    "train": "train",
    "dev": "dev",
    "test": "test",
    "translated": "train",
}

UDPOS = Reader("udpos", {split: _ud(name) for split, name in _SPLITS.items()}, data_sets.UDPOS)

PANX = Reader("panx", {split: _wikiann(name) for split, name in _SPLITS.items()}, data_sets.PANX)
