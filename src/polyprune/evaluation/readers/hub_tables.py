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

from ...corpora.hub_access import ask_hub
from ...errors import DataError
from ..examples import Answer, Bitext, Question, SentencePair, TaggedSentence, TaskExample
from .language_codes import LANGUAGES, NAMES, fill_pattern
from .splits import Split

logger = logging.getLogger(__name__)

Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HubTable:
    """Where a Hugging Face data set holds one split of a task, and how to read its rows."""

    configuration: str
    """The configuration's name, usually with the language in it."""
    split: str
    examples: Callable[[Iterable[Row], str], Iterator[TaskExample]]
    """The examples of a language in these rows."""
    languages: tuple[str, ...] = ("en",)
    """The languages it holds, if the configuration does not name one."""

    def looked_for(self, language: str) -> list[str]:
        """Return the configuration that holds a language, or None."""
        named = fill_pattern(self.configuration, language)
        if named is None or (named == self.configuration and language not in self.languages):
            return []
        return [f"the split {self.split} of {named}"]


def is_data_set(data: str) -> bool:
    """Return whether this is a data set's name, or a folder whose card lists configurations."""
    folder = Path(data).expanduser()
    if folder.is_dir():
        card = folder / "README.md"
        return card.is_file() and "config_name:" in card.read_text("utf-8", errors="replace")
    # The name of a data set is one word, or two with a slash between them.
    return data[:1] not in "./~" and data.count("/") <= 1


def has_table(hub: str, table: HubTable, language: str) -> bool:
    """Whether a data set holds this split of this language."""
    if not table.looked_for(language):
        return False
    name = fill_pattern(table.configuration, language) or ""
    return name in configurations(hub) and table.split in splits_of(hub, name)


def read_hub_table(hub: str, table: HubTable, language: str) -> Iterator[TaskExample]:
    """Read the examples of one language lazily."""
    name = fill_pattern(table.configuration, language)
    try:
        yield from table.examples(read_rows(hub, name, table.split), language)
    except KeyError as error:
        raise DataError(
            f"The data set {hub}/{name} has no column {error}. Give one in the layout of "
            "google/xtreme, or a folder with XTREME's own files."
        ) from error


def read_rows(hub: str, configuration: str | None, split: str) -> Iterator[Row]:
    """Yield the rows of a split lazily, with the names of labels for their numbers."""
    loaded = _ask(hub, lambda it: it.load_dataset(hub, configuration, split=split, streaming=True))
    return _with_names(loaded)


def pairs(rows: Iterable[Row], language: str) -> Iterator[SentencePair]:
    """The pairs of rows of PAWS-X."""
    for row in rows:
        yield SentencePair(row["sentence1"], row["sentence2"], str(row["label"]))


def pairs_of_all(rows: Iterable[Row], language: str) -> Iterator[SentencePair]:
    """The pairs of one language among rows of XNLI, which are of all fifteen."""
    for row in rows:
        if row["language"] == language:
            label = str(row["gold_label"])
            label = "contradiction" if label == "contradictory" else label
            yield SentencePair(row["sentence1"], row["sentence2"], label)


def parts_of_speech(rows: Iterable[Row], language: str) -> Iterator[TaggedSentence]:
    """The sentences of rows of Universal Dependencies."""
    for row in rows:
        yield TaggedSentence(tuple(row["tokens"]), tuple(row["pos_tags"]))


def names(rows: Iterable[Row], language: str) -> Iterator[TaggedSentence]:
    """The sentences of rows of PAN-X."""
    for row in rows:
        yield TaggedSentence(tuple(row["tokens"]), tuple(row["ner_tags"]))


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
    if both:
        yield Bitext.aligned(both)


def translations_only(rows: Iterable[Row], language: str) -> Iterator[Bitext]:
    """The same for rows of BUCC, with a warning that most of its sentences are missing."""
    logger.warning(
        "This data set has only those sentences of BUCC in %s that have a translation: they are "
        "much easier to find than in the real files.",
        language,
    )
    return translations(rows, language)


@cache
def configurations(hub: str) -> list[str]:
    """Return the names of a data set's configurations."""
    return _ask(hub, lambda datasets: datasets.get_dataset_config_names(hub))


@cache
def splits_of(hub: str, configuration: str) -> list[str]:
    """Return the names of a configuration's splits."""
    return _ask(hub, lambda datasets: datasets.get_dataset_split_names(hub, configuration))


def _with_names(loaded: Any) -> Iterator[Row]:
    """Replace numbered labels by their names."""
    labels = {}
    for column, feature in (loaded.features or {}).items():
        label = getattr(feature, "feature", feature)
        if hasattr(label, "int2str"):
            labels[column] = label.int2str
    for row in loaded:
        yield {**row, **{column: to_name(row[column]) for column, to_name in labels.items()}}


def _ask(hub: str, question: Callable[[Any], Any]) -> Any:
    return ask_hub(hub, question, "a folder with XTREME's files")


_SQUAD: dict[Split, HubTable] = {
    "train": HubTable("SQuAD", "train", questions),
    "dev": HubTable("SQuAD", "validation", questions),
}

XNLI: dict[Split, HubTable] = {
    "dev": HubTable("XNLI", "validation", pairs_of_all, LANGUAGES["xnli"]),
    "test": HubTable("XNLI", "test", pairs_of_all, LANGUAGES["xnli"]),
}
PAWSX: dict[Split, HubTable] = {
    "train": HubTable("PAWS-X.en", "train", pairs),
    "dev": HubTable("PAWS-X.{language}", "validation", pairs),
    "test": HubTable("PAWS-X.{language}", "test", pairs),
    # Only English was written by people.
    "translated": HubTable("PAWS-X.{language}", "train", pairs),
}
UDPOS: dict[Split, HubTable] = {
    "train": HubTable("udpos.{Name}", "train", parts_of_speech),
    "dev": HubTable("udpos.{Name}", "validation", parts_of_speech),
    "test": HubTable("udpos.{Name}", "test", parts_of_speech),
    "translated": HubTable("udpos.{Name}", "train", parts_of_speech),
}
PANX: dict[Split, HubTable] = {
    "train": HubTable("PAN-X.{language}", "train", names),
    "dev": HubTable("PAN-X.{language}", "validation", names),
    "test": HubTable("PAN-X.{language}", "test", names),
    "translated": HubTable("PAN-X.{language}", "train", names),
}
XQUAD: dict[Split, HubTable] = {
    **_SQUAD,
    "test": HubTable("XQuAD.{language}", "validation", questions),
}
MLQA: dict[Split, HubTable] = {
    "train": _SQUAD["train"],
    "dev": HubTable("MLQA.{language}.{language}", "validation", questions),
    "test": HubTable("MLQA.{language}.{language}", "test", questions),
}
TYDIQA: dict[Split, HubTable] = {
    "train": HubTable("tydiqa", "train", questions_of_all, LANGUAGES["tydiqa"]),
    "dev": HubTable("tydiqa", "validation", questions_of_all, LANGUAGES["tydiqa"]),
    "test": HubTable("tydiqa", "validation", questions_of_all, LANGUAGES["tydiqa"]),
}
BUCC: dict[Split, HubTable] = {
    "dev": HubTable("bucc18.{language}", "validation", translations_only),
    "test": HubTable("bucc18.{language}", "test", translations_only),
}
TATOEBA: dict[Split, HubTable] = {"test": HubTable("tatoeba.{three}", "validation", translations)}
