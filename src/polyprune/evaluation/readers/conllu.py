"""Treebanks of Universal Dependencies, with the words that XTREME takes from them.

Where a treebank splits a word into several (French `du` into `de` and `le`), XTREME keeps the
word, with the tag of the part that is closest to the root of the tree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...corpora.text_files import read_lines
from ...errors import DataError
from ..examples import TaggedSentence
from .tab_files import wrong_columns

_PRECEDENCE = {
    "": "VERB NOUN PROPN PRON ADJ NUM ADV INTJ AUX ADP DET PART CCONJ SCONJ X PUNCT",
    "es": "VERB AUX PRON ADP DET",
    "fr": "VERB AUX PRON NOUN ADJ ADV ADP DET PART SCONJ CONJ",
    "it": "VERB AUX ADV PRON ADP DET INTJ",
}
"""Which tag wins between parts that are equally close to the root, by language."""


@dataclass(slots=True)
class _Sentence:
    """A sentence while its lines are read."""

    words: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Form and tag."""
    heads: dict[int, set[int]] = field(default_factory=dict)
    """The head, and the heads of the enhanced graph, which the official scripts follow too."""
    fused: dict[int, tuple[int, str]] = field(default_factory=dict)
    """Multiword tokens: index of the first part → index of the last part and the form."""

    def add(self, columns: list[str]) -> None:
        """Add a line; lines of empty nodes (`8.1`) are ignored."""
        number, form, _, tag, _, _, head, _, enhanced, _ = columns
        first, dash, last = number.partition("-")
        if dash:
            self.fused[int(first)] = int(last), form
        elif "." not in number:
            above = [head, *(arc.partition(":")[0] for arc in enhanced.split("|"))]
            self.words[int(number)] = form, tag
            self.heads[int(number)] = {int(node) for node in above if node.isdecimal()}

    def tagged(self, precedence: Sequence[str]) -> TaggedSentence | None:
        """Return the words and tags, or None if the treebank withholds the words (`_`)."""
        words: list[tuple[str, str]] = []
        last = 0
        for number, word in sorted(self.words.items()):
            if number in self.fused:
                last, form = self.fused[number]
                word = form, self._tag(range(number, last + 1), precedence)
            elif number <= last:
                continue
            words.append(word)
        # So the official script counts: one word that can be read does not save a sentence.
        withheld = sum(form.strip() == "_" for form, _ in words)
        if not words or (withheld and withheld >= len(words) - 1):
            return None
        # Spaces would part a word, and so would the mark that Persian is written with.
        clean = (form.strip().replace("\u200c", "").replace(" ", "") for form, _ in words)
        return TaggedSentence(tuple(clean), tuple(tag for _, tag in words))

    def _tag(self, parts: Sequence[int], precedence: Sequence[str]) -> str:
        """The tag of the part with the fewest nodes above it."""
        depths = {part: len(self._above(part)) for part in parts}
        nearest = [part for part in parts if depths[part] == min(depths.values())]

        def rank(tag: str) -> int:
            # The official script breaks down at a tag that is not in the list.
            return precedence.index(tag) if tag in precedence else len(precedence)

        return min((self.words[part][1] for part in nearest), key=rank)

    def _above(self, node: int) -> set[int]:
        """Return all ancestors of a word, including the root's 0."""
        above: set[int] = set()
        left = [node]
        while left:
            new = self.heads.get(left.pop(), set()) - above
            above |= new
            left += new
        return above - {node}


def parse_conllu(paths: Sequence[Path], language: str) -> Iterator[TaggedSentence]:
    """The sentences of treebanks, one treebank after the other."""
    precedence = _PRECEDENCE.get(language, _PRECEDENCE[""]).split()
    for path in paths:
        for sentence in _sentences(path):
            if tagged := sentence.tagged(precedence):
                yield tagged


def _sentences(path: Path) -> Iterator[_Sentence]:
    sentence = _Sentence()
    number = 0
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            yield _checked(path, number, sentence)
            sentence = _Sentence()
        elif not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) != 10:
                raise wrong_columns(path, number, len(columns), (10,))
            try:
                sentence.add(columns)
            except ValueError as error:
                raise DataError(
                    f"Line {number} of {path} does not begin with the number of a word, but with "
                    f"{columns[0]!r}. Copy the file again."
                ) from error
    yield _checked(path, number, sentence)


def _checked(path: Path, number: int, sentence: _Sentence) -> _Sentence:
    """The sentence, unless a word has parts that are not there."""
    for first, (last, form) in sentence.fused.items():
        if first > last or any(part not in sentence.words for part in range(first, last + 1)):
            raise DataError(
                f"In the sentence that ends at line {number} of {path}, {form!r} should be made "
                f"of the words {first} to {last}, which are not there. Copy the file again."
            )
    return sentence
