"""Words with tags: parts of speech (UD) and names (PAN-X, which is WikiANN)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...corpora.text_files import read_lines
from ...errors import DataError
from ..examples import TaggedSentence
from . import hub_tables
from .conllu import parse_conllu
from .reader import FileLayout, Reader
from .splits import Split
from .tab_files import wrong_columns


def parse_words(paths: Sequence[Path], language: str) -> Iterator[TaggedSentence]:
    """The sentences of files with a word and its tag a line, or words only."""
    for path in paths:
        yield from _sentences(path, prefixed=False)


def parse_wikiann(paths: Sequence[Path], language: str) -> Iterator[TaggedSentence]:
    """The sentences of WikiANN's own files, where each word comes after its language: `en:word`."""
    for path in paths:
        yield from _sentences(path, prefixed=True)


def _sentences(path: Path, prefixed: bool) -> Iterator[TaggedSentence]:
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


def _tagged(words: list[str], tags: list[str]) -> TaggedSentence:
    return TaggedSentence(tuple(words), tuple(tag.strip() for tag in tags) or None)


def _without_language(path: Path, number: int, word: str) -> str:
    _, colon, rest = word.partition(":")
    if not colon:
        raise DataError(
            f"Line {number} of {path} has no language before its word, as in en:word. Files with "
            "words only are called panx/train-en.tsv."
        )
    return rest.strip()


def _ud(split: str) -> tuple[FileLayout, ...]:
    # Long training files are in parts: de_hdt-ud-train-a-1.conllu.
    file = f"UD_*/{{language}}_*-ud-{split}*.conllu"
    return (
        FileLayout((f"udpos/{split}-{{language}}.tsv",), parse_words),
        *(
            FileLayout((f"{folder}{file}",), parse_conllu)
            for folder in ("ud-treebanks-v2.5/", "ud-treebanks-v2.7/", "ud_conllu/", "")
        ),
    )


def _wikiann(split: str) -> tuple[FileLayout, ...]:
    return (
        FileLayout((f"panx/{split}-{{language}}.tsv",), parse_words),
        FileLayout((f"panx/{{language}}/{split}",), parse_wikiann),
        FileLayout((f"panx_dataset/{{language}}-{split}",), parse_wikiann),
        FileLayout((f"{{language}}/{split}",), parse_wikiann),
    )


# Nobody translates tags: translate-train takes what people have tagged in every language.
_SPLITS: dict[Split, str] = {
    "train": "train",
    "dev": "dev",
    "test": "test",
    "translated": "train",
}

UDPOS = Reader("udpos", {split: _ud(name) for split, name in _SPLITS.items()}, hub_tables.UDPOS)

PANX = Reader("panx", {split: _wikiann(name) for split, name in _SPLITS.items()}, hub_tables.PANX)
