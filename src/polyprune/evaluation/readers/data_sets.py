"""XTREME as a Hugging Face data set, in the layout of `google/xtreme`, streamed.

Two of its tasks are not quite the official ones. `udpos` has the parts of words where XTREME has
the words (French `de`, `le` for `du`), and `bucc18` has only those sentences that have a
translation, without the many others among which they are to be found.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from ...corpora.data_set import ask
from ...errors import DataError
from ..examples import Answer, Bitext, Example, Pair, Question, Tagged
from .languages import LANGUAGES, NAMES, spelled
from .splits import Split

logger = logging.getLogger(__name__)

Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """Where in a data set one split of one language is, and what its rows say."""

    configuration: str
    """Its name, with the language in it; of English, or of `languages`, if there is none."""
    split: str
    examples: Callable[[Iterable[Row], str], Iterator[Example]]
    """The examples of a language in these rows."""
    languages: tuple[str, ...] = ("en",)
    """What languages it holds, if it is not one that the configuration names."""

    def looked_for(self, language: str) -> list[str]:
        """What holds a language, if this is a place for it."""
        named = spelled(self.configuration, language)
        if named is None or (named == self.configuration and language not in self.languages):
            return []
        return [f"the split {self.split} of {named}"]


def is_data_set(data: str) -> bool:
    """Whether this is a data set's name, or a folder whose card lists configurations."""
    folder = Path(data).expanduser()
    if folder.is_dir():
        card = folder / "README.md"
        return card.is_file() and "config_name:" in card.read_text("utf-8", errors="replace")
    # The name of a data set is one word, or two with a slash between them.
    return data[:1] not in "./~" and data.count("/") <= 1


def has_table(hub: str, table: Table, language: str) -> bool:
    """Whether a data set holds this split of this language."""
    if not table.looked_for(language):
        return False
    name = spelled(table.configuration, language) or ""
    return name in _configurations(hub) and table.split in _splits(hub, name)


def read_table_of(hub: str, table: Table, language: str) -> Iterator[Example]:
    """The examples of one language, read while they are used."""
    name = spelled(table.configuration, language)
    loaded = _ask(hub, lambda it: it.load_dataset(hub, name, split=table.split, streaming=True))
    try:
        yield from table.examples(_with_names(loaded), language)
    except KeyError as error:
        raise DataError(
            f"The data set {hub}/{name} has no column {error}. Give one in the layout of "
            "google/xtreme, or a folder with XTREME's own files."
        ) from error


def pairs(rows: Iterable[Row], language: str) -> Iterator[Pair]:
    """The pairs of rows of PAWS-X."""
    for row in rows:
        yield Pair(row["sentence1"], row["sentence2"], str(row["label"]))


def pairs_of_all(rows: Iterable[Row], language: str) -> Iterator[Pair]:
    """The pairs of one language among rows of XNLI, which are of all fifteen."""
    for row in rows:
        if row["language"] == language:
            label = str(row["gold_label"])
            label = "contradiction" if label == "contradictory" else label
            yield Pair(row["sentence1"], row["sentence2"], label)


def parts_of_speech(rows: Iterable[Row], language: str) -> Iterator[Tagged]:
    """The sentences of rows of Universal Dependencies."""
    for row in rows:
        yield Tagged(tuple(row["tokens"]), tuple(row["pos_tags"]))


def names(rows: Iterable[Row], language: str) -> Iterator[Tagged]:
    """The sentences of rows of PAN-X."""
    for row in rows:
        yield Tagged(tuple(row["tokens"]), tuple(row["ner_tags"]))


def questions(rows: Iterable[Row], language: str) -> Iterator[Question]:
    """The questions of rows in SQuAD's form."""
    for row in rows:
        answers = row["answers"]
        found = zip(answers["text"], answers["answer_start"], strict=True)
        yield Question(
            str(row["id"]),
            row["question"],
            row["context"],
            tuple(Answer(text, start) for text, start in found if text),
        )


def questions_of_all(rows: Iterable[Row], language: str) -> Iterator[Question]:
    """The questions of one language among rows of TyDi QA, which are of all nine."""
    start = f"{NAMES[language].lower()}-"
    return (found for found in questions(rows, language) if found.id.startswith(start))


def translations(rows: Iterable[Row], language: str) -> Iterator[Bitext]:
    """The sentences of rows with a sentence and its translation, the English ones sorted."""
    both = [(row["source_sentence"].strip(), row["target_sentence"].strip()) for row in rows]
    numbers = tuple(map(str, range(len(both))))
    order = sorted(range(len(both)), key=lambda i: both[i][1])
    if both:
        yield Bitext(
            tuple(source for source, _ in both),
            tuple(both[i][1] for i in order),
            numbers,
            numbers,
            tuple(zip(map(str, order), numbers, strict=True)),
        )


def translations_only(rows: Iterable[Row], language: str) -> Iterator[Bitext]:
    """The same of rows of BUCC, with a warning that most of its sentences are not among them."""
    logger.warning(
        "This data set has only those sentences of BUCC in %s that have a translation: they are "
        "much easier to find than in the real files.",
        language,
    )
    return translations(rows, language)


@cache
def _configurations(hub: str) -> list[str]:
    return _ask(hub, lambda datasets: datasets.get_dataset_config_names(hub))


@cache
def _splits(hub: str, configuration: str) -> list[str]:
    return _ask(hub, lambda datasets: datasets.get_dataset_split_names(hub, configuration))


def _with_names(loaded: Any) -> Iterator[Row]:
    """The rows, with names in place of numbers where the data set numbers its labels."""
    labels = {}
    for column, feature in (loaded.features or {}).items():
        label = getattr(feature, "feature", feature)
        if hasattr(label, "int2str"):
            labels[column] = label.int2str
    for row in loaded:
        yield {**row, **{column: to_name(row[column]) for column, to_name in labels.items()}}


def _ask(hub: str, question: Callable[[Any], Any]) -> Any:
    return ask(hub, question, "a folder with XTREME's files")


_SQUAD: dict[Split, Table] = {
    "train": Table("SQuAD", "train", questions),
    "dev": Table("SQuAD", "validation", questions),
}

XNLI: dict[Split, Table] = {
    "dev": Table("XNLI", "validation", pairs_of_all, LANGUAGES["xnli"]),
    "test": Table("XNLI", "test", pairs_of_all, LANGUAGES["xnli"]),
}
PAWSX: dict[Split, Table] = {
    "train": Table("PAWS-X.en", "train", pairs),
    "dev": Table("PAWS-X.{language}", "validation", pairs),
    "test": Table("PAWS-X.{language}", "test", pairs),
    # Only English was written by people.
    "translated": Table("PAWS-X.{language}", "train", pairs),
}
UDPOS: dict[Split, Table] = {
    "train": Table("udpos.{Name}", "train", parts_of_speech),
    "dev": Table("udpos.{Name}", "validation", parts_of_speech),
    "test": Table("udpos.{Name}", "test", parts_of_speech),
    "translated": Table("udpos.{Name}", "train", parts_of_speech),
}
PANX: dict[Split, Table] = {
    "train": Table("PAN-X.{language}", "train", names),
    "dev": Table("PAN-X.{language}", "validation", names),
    "test": Table("PAN-X.{language}", "test", names),
    "translated": Table("PAN-X.{language}", "train", names),
}
XQUAD: dict[Split, Table] = {**_SQUAD, "test": Table("XQuAD.{language}", "validation", questions)}
MLQA: dict[Split, Table] = {
    "train": _SQUAD["train"],
    "dev": Table("MLQA.{language}.{language}", "validation", questions),
    "test": Table("MLQA.{language}.{language}", "test", questions),
}
TYDIQA: dict[Split, Table] = {
    "train": Table("tydiqa", "train", questions_of_all, LANGUAGES["tydiqa"]),
    "dev": Table("tydiqa", "validation", questions_of_all, LANGUAGES["tydiqa"]),
    "test": Table("tydiqa", "validation", questions_of_all, LANGUAGES["tydiqa"]),
}
BUCC: dict[Split, Table] = {
    "dev": Table("bucc18.{language}", "validation", translations_only),
    "test": Table("bucc18.{language}", "test", translations_only),
}
TATOEBA: dict[Split, Table] = {"test": Table("tatoeba.{three}", "validation", translations)}
