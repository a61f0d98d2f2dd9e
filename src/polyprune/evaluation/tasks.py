"""XTREME's nine tasks, each one record."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from ..errors import DataError, UnknownName
from .metrics import PrecisionRecall, accuracy, chunk_scores, mlqa, set_scores, squad
from .prediction_formats import ANSWERS, LABELS, LINES, PAIRS, TAGS, PredictionFormat
from .readers import bitext_files, pair_files, question_files, tagged_files
from .readers.language_codes import LANGUAGES
from .readers.reader import Reader
from .task_names import TASK_NAMES, find_task_name
from .task_types import (
    BitextMining,
    PairClassification,
    SpanExtraction,
    TaskType,
    TokenTagging,
    TranslationSearch,
)

Gold = Sequence[tuple[str, list[str]]]
"""Question ids with all their correct answers."""


def accuracy_score(
    gold: Sequence[str | int], predicted: Sequence[str | int], language: str
) -> dict[str, float]:
    """Accuracy of labels, or of retrieved line numbers."""
    return {"accuracy": 100 * accuracy(gold, predicted)}


def chunk_score(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], language: str
) -> dict[str, float]:
    """Return the tags, sentence by sentence."""
    return _percent(chunk_scores(gold, predicted))


def pair_score(
    gold: Sequence[tuple[str, str]], predicted: Sequence[tuple[str, str]], language: str
) -> dict[str, float]:
    """F1, precision and recall of pairs of ids."""
    return _percent(set_scores(gold, predicted))


def squad_score(gold: Gold, predicted: Mapping[str, str], language: str) -> dict[str, float]:
    """F1 and exact match by SQuAD's English rules, which XTREME uses in every language."""
    return _answers(gold, predicted, squad)


def mlqa_score(gold: Gold, predicted: Mapping[str, str], language: str) -> dict[str, float]:
    """F1 and exact match by MLQA's rules for the language."""
    return _answers(gold, predicted, partial(mlqa, language=language))


def _percent(scores: PrecisionRecall) -> dict[str, float]:
    return {
        "f1": 100 * scores.f1,
        "precision": 100 * scores.precision,
        "recall": 100 * scores.recall,
    }


def _answers(
    gold: Gold,
    given: Mapping[str, str],
    score: Callable[[str, list[str]], tuple[float, float]],
) -> dict[str, float]:
    if not gold:
        raise DataError("There are no questions to score. Give at least one.")
    f1 = exact = 0.0
    for name, answers in gold:
        if name in given:  # without a prediction a question scores 0, but counts
            scores = score(given[name], answers)
            f1, exact = f1 + scores[0], exact + scores[1]
    return {"f1": 100 * f1 / len(gold), "exact": 100 * exact / len(gold)}


Group = Literal["classification", "tagging", "question answering", "retrieval"]


@dataclass(frozen=True, slots=True)
class TaskDefaults:
    """A task's default hyperparameters: the paper's, or XTREME's where the paper gives none."""

    epochs: int = 5
    """Epochs on English alone; on all languages there are three."""
    learning_rate: float = 2e-5
    weight_decay: float = 0.0
    warmup: int = 0
    """Warmup steps, at most a tenth of all."""
    every: int = 500
    """Steps between evaluations on dev, at most an epoch."""
    final: Literal["best", "last"] = "best"
    """Which model is kept: the best on dev, or the last."""
    search: bool = True
    """Whether hyperparameters may be chosen on dev: not if it is the test set as well."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task: its type, data, metric and defaults."""

    name: str
    """The name of XTREME's folder."""
    group: Group
    kind: TaskType
    reader: Reader
    score: Callable[[Any, Any, str], dict[str, float]]
    """Maps gold, predictions and language to scores in percent, the main one first."""
    format: PredictionFormat
    """The format of prediction files."""
    labels: tuple[str, ...] = ()
    defaults: TaskDefaults | None = None
    """The default hyperparameters; None if nothing is trained."""
    version: int = 1
    """Increased whenever scores change: results of different versions cannot be compared."""

    @property
    def title(self) -> str:
        """The name in papers."""
        return TASK_NAMES[self.name].title

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the task is scored in."""
        return LANGUAGES[self.name]

    def record(self) -> dict[str, Any]:
        """Return what is known of the task, as JSON."""
        return {
            "task": self.name,
            "title": self.title,
            "group": self.group,
            "readout": self.kind.readout.name,
            "languages": self.languages,
            "labels": self.labels,
            "trained": self.defaults is not None,
            "version": self.version,
        }

    def find(self, data: str, split: Any, languages: Sequence[str] | None) -> list[str]:
        """Return the languages to read: those named, or all of the task that have data."""
        if languages is None:
            # If there is none at all, reading the first says where it was looked for.
            return self.reader.languages(data, split, self.languages) or [self.languages[0]]
        for code in languages:
            if code not in self.languages:
                known = ", ".join(self.languages)
                raise UnknownName(
                    f"language of {self.title}", code, self.languages, f"There are: {known}."
                )
        return list(dict.fromkeys(languages))


UPOS = (
    "O", "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON",
    "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X", "_",
)  # fmt: skip
"""`O` is there because the official scripts add it; `_` is the tag of words left out."""

IOB2 = ("B-LOC", "B-ORG", "B-PER", "I-LOC", "I-ORG", "I-PER", "O")

_QA = TaskDefaults(learning_rate=3e-5, weight_decay=1e-4, warmup=500, every=1000, final="last")

_ALL = (
    Task(
        name="xnli",
        group="classification",
        kind=PairClassification(),
        reader=pair_files.XNLI,
        score=accuracy_score,
        format=LABELS,
        labels=("contradiction", "entailment", "neutral"),
        defaults=TaskDefaults(every=100),
    ),
    Task(
        name="pawsx",
        group="classification",
        kind=PairClassification(),
        reader=pair_files.PAWSX,
        score=accuracy_score,
        format=LABELS,
        labels=("0", "1"),
        defaults=TaskDefaults(every=200),
    ),
    Task(
        name="udpos",
        group="tagging",
        kind=TokenTagging(),
        reader=tagged_files.UDPOS,
        score=chunk_score,
        format=TAGS,
        labels=UPOS,
        defaults=TaskDefaults(epochs=10, every=500),
    ),
    Task(
        name="panx",
        group="tagging",
        kind=TokenTagging(),
        reader=tagged_files.PANX,
        score=chunk_score,
        format=TAGS,
        labels=IOB2,
        defaults=TaskDefaults(epochs=10, every=1000),
    ),
    Task(
        name="xquad",
        group="question answering",
        kind=SpanExtraction(),
        reader=question_files.XQUAD,
        score=squad_score,
        format=ANSWERS,
        defaults=_QA,
    ),
    Task(
        name="mlqa",
        group="question answering",
        kind=SpanExtraction(),
        reader=question_files.MLQA,
        score=mlqa_score,
        format=ANSWERS,
        defaults=_QA,
    ),
    Task(
        name="tydiqa",
        group="question answering",
        kind=SpanExtraction(),
        reader=question_files.TYDIQA,
        score=squad_score,
        format=ANSWERS,
        defaults=replace(_QA, search=False),
    ),
    Task(
        name="bucc2018",
        group="retrieval",
        kind=BitextMining(),
        reader=bitext_files.BUCC,
        score=pair_score,
        format=PAIRS,
    ),
    Task(
        name="tatoeba",
        group="retrieval",
        kind=TranslationSearch(),
        reader=bitext_files.TATOEBA,
        score=accuracy_score,
        format=LINES,
    ),
)

TASKS = {each.name: each for each in _ALL}
"""The tasks by name, in the order of the paper's tables."""


def find_task(name: str) -> Task:
    """Return the task with this name or alternative name."""
    return TASKS[find_task_name(name)]
