"""Text in memory: sentences by language, read as a folder of files would be."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import DataError
from .corpus import Corpus
from .languages import language

PLACE = Path("sentences in memory")
"""What messages and records call it."""


@dataclass(frozen=True, slots=True)
class SentenceCorpus(Corpus):
    """The sentences of each language, by the language's code in App. C."""

    texts: dict[str, list[str]] = field(default_factory=dict)

    def known(self) -> list[str]:
        """The codes of all languages that have text."""
        return list(self.texts)

    def lines(self, code: str) -> Iterator[str]:
        """All sentences of a language, each on one line."""
        return iter(self.texts[code])


def write_sentences(corpus: Corpus, folder: Path) -> None:
    """Write one file per language, for what reads files only; every sentence is a document."""
    folder.mkdir(parents=True, exist_ok=True)
    for code in corpus.known():
        text = "".join(f"{line}\n\n" for line in corpus.lines(code))
        (folder / f"{code}.txt").write_text(text, encoding="utf-8", newline="\n")


def is_sentences(texts: Mapping[str, Iterable[Any]]) -> bool:
    """Return whether a mapping holds lists of sentences, not batches of tensors."""
    return all(
        isinstance(lines, list | tuple) and all(isinstance(line, str) for line in lines)
        for lines in texts.values()
    )


def corpus_in_memory(texts: Mapping[str, Iterable[str]]) -> SentenceCorpus:
    """Return the corpus of these sentences, by the codes of their languages."""
    found = {
        language(name).code: [" ".join(line.split("\n")) for line in lines]
        for name, lines in texts.items()
    }
    if not found:
        raise DataError("There is no text: give sentences by language, such as {'sw': [...]}.")
    return SentenceCorpus(PLACE, {}, found)
