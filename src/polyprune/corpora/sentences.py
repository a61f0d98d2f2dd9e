"""Text in memory: sentences by language, read as a folder of files would be."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

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

    def write(self, folder: Path) -> None:
        """Write one file per language, for what reads files only."""
        folder.mkdir(parents=True, exist_ok=True)
        for code, lines in self.texts.items():
            text = "".join(f"{line}\n" for line in lines)
            (folder / f"{code}.txt").write_text(text, encoding="utf-8", newline="\n")


def corpus_in_memory(texts: Mapping[str, Iterable[str]]) -> SentenceCorpus:
    """The corpus of these sentences; languages may be named in any way that is known."""
    found = {
        language(name).code: [" ".join(line.split("\n")) for line in lines]
        for name, lines in texts.items()
    }
    if not found:
        raise DataError("There is no text: give sentences by language, such as {'sw': [...]}.")
    return SentenceCorpus(PLACE, {}, found)
