"""Make a `Task` of a folder of one's own, for a model that is scored or fine-tuned."""

import hashlib
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import ConfigError, DataError
from ...model.network.readouts import Readout
from ...pruning.criteria.losses import problem_type
from ..classification import LabelSetPreprocessor, NumberPreprocessor, PairPreprocessor
from ..named_metrics import find_metric
from ..prediction_formats import ANSWERS, DECIMALS, LABEL_SETS, LABELS, LINES, TAGS
from ..retrieval_types import TranslationSearch
from ..sentence_types import MultiLabelClassification, Regression
from ..tagging import TaggingPreprocessor
from ..task_types import PairClassification, SpanExtraction, TaskType, TokenTagging, labels_of
from ..tasks import Task, TaskDefaults
from .label_names import LabelNames, is_numbered, sorted_labels
from .own_reader import OwnReader, is_squad
from .records import suffix_of
from .task_folder import TaskFolder, Translations
from .task_kind import guess_kind, holds_translations

LOOKED_AT = 1000
"""The rows by which it is told what a table holds."""

GROUPS = {"multi-label": "classification", "regression": "classification"}
FORMATS = {
    "classification": LABELS,
    "multi-label": LABEL_SETS,
    "regression": DECIMALS,
    "tagging": TAGS,
    "question answering": ANSWERS,
    "retrieval": LINES,
}


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a model is for: its readout, its labels, and what it is called in messages."""

    name: str
    readout: Readout
    labels: tuple[str, ...] = ()
    problem: str = ""

    @classmethod
    def of(cls, name: str, config: Any, readout: Readout) -> "ModelFacts":
        """Return the facts that a config tells."""
        if not readout.has_task:
            return cls(name, readout)
        return cls(name, readout, tuple(labels_of(config)), problem_type(config))

    @property
    def kind(self) -> str:
        """The kind of task that the model was fine-tuned for; empty if for none."""
        if self.readout.labels_sentences:
            kinds = {"regression": "regression", "multi_label_classification": "multi-label"}
            return kinds.get(self.problem, "classification")
        names = {"token": "tagging", "span": "question answering"}
        return names.get(self.readout.labelled or "", "")


def scored_task(folder: TaskFolder, model: ModelFacts, metric: str = "") -> Task:
    """Return the task of a folder for a model that is scored: the labels are the model's."""
    kind = folder.about.kind or ("retrieval" if holds_translations(folder) else model.kind)
    if not kind:
        found = guess_kind(folder)
        raise ConfigError(
            f"{model.name} has the readout {model.readout}, and the files in {folder.data} are for "
            f"{found}. First: polyprune finetune {model.name} --data {folder.data} --out tuned."
        )
    if kind != "retrieval" and kind != model.kind:
        does = f"was made for {model.kind}" if model.kind else f"has the readout {model.readout}"
        raise ConfigError(
            f"{model.name} {does}, and {folder.name} is a task of {kind}. First: polyprune "
            f"finetune {model.name} --data {folder.data} --out tuned."
        )
    _check_form(folder, kind, model.name)
    names = () if kind in ("regression", "question answering", "retrieval") else model.labels
    labels = LabelNames(names, model.name, _given(folder, model), _what(kind))
    return _task(folder, kind, labels, metric)


def trained_task(folder: TaskFolder, model: ModelFacts | None = None, metric: str = "") -> Task:
    """Return the task of a folder for a model that is fine-tuned.

    The labels are those of the task file, of the model if it has all that are there, or of the
    training data.
    """
    kind = _trained_kind(folder, model)
    _check_form(folder, kind, folder.name)
    if kind in ("regression", "question answering", "retrieval"):
        return _task(folder, kind, LabelNames(), metric)
    if "train" not in folder.splits:
        raise DataError(
            f"There is no training data in {folder.data}: it has {folder.told()}. Add train-en.tsv "
            "or the like."
        )
    given = folder.about.labels
    if given:
        return _task(folder, kind, LabelNames(given, "task.toml", (), _what(kind)), metric)
    found = _training_labels(OwnReader(folder, kind), folder)
    if model is not None and model.kind == kind:
        own = LabelNames(model.labels, model.name, (), _what(kind))
        if all(own.find(label) for label in found):
            return _task(folder, kind, own, metric)
    if len(found) < 2 and kind == "classification":
        said = f"one label only, {found[0]!r}," if found else "no label"
        raise DataError(
            f"There is {said} in the training data in {folder.data}, and so nothing to learn."
        )
    return _task(folder, kind, LabelNames(found, "the training data", (), _what(kind)), metric)


def _trained_kind(folder: TaskFolder, model: ModelFacts | None) -> str:
    """Return what a model is fine-tuned for: a label may be one of several, a number a label."""
    found = guess_kind(folder)
    if model is None or folder.about.kind or found != "classification":
        return found
    if model.kind == "multi-label":
        return "multi-label"
    if model.kind == "regression":
        rows = islice(OwnReader(folder, found).said("train", _training(folder)[0]), LOOKED_AT)
        if all(label.lstrip("-").isdecimal() for label, _ in rows):
            return "regression"
    return found


def _training(folder: TaskFolder) -> list[str]:
    return list(folder.splits.get("train", ()))


def _training_labels(reader: OwnReader, folder: TaskFolder) -> tuple[str, ...]:
    said = (label for code in _training(folder) for label, _ in reader.said("train", code))
    return sorted_labels(said)


def _check_form(folder: TaskFolder, kind: str, whose: str) -> None:
    """Raise if the files are for another kind of task."""
    for place in folder.places:
        if isinstance(place, Translations) != (kind == "retrieval"):
            other = "two languages, as en-sw.tsv" if kind == "retrieval" else "one language"
            raise DataError(f"{place} should be called by {other}: {whose} is for {kind}.")
        suffix = suffix_of(place) if isinstance(place, Path) else ""
        if suffix == ".conll" and kind != "tagging":
            raise DataError(f"{place} holds tagged words, and {whose} is for {kind}.")
        if kind != "question answering" and isinstance(place, Path) and is_squad(place):
            raise DataError(f"{place} holds questions, and {whose} is for {kind}.")


def _given(folder: TaskFolder, model: ModelFacts) -> tuple[str, ...]:
    """Return a task file's names for the labels of a model that has none, after a check."""
    given = folder.about.labels
    if not given or set(given) <= set(model.labels):
        return ()
    if is_numbered(model.labels) and len(given) == len(model.labels):
        return given
    raise ConfigError(
        f"{folder.name} has the labels {', '.join(given)}, and {model.name} has "
        f"{', '.join(model.labels)}. Give those in its task.toml, in the same order."
    )


def _what(kind: str) -> str:
    return "tag" if kind == "tagging" else "label"


def _task(folder: TaskFolder, kind: str, labels: LabelNames, metric: str) -> Task:
    found = find_metric(kind, metric or folder.about.metric, labels.names)
    english = _training(folder) == ["en"]
    group: Any = GROUPS.get(kind, kind)
    return Task(
        name=folder.name,
        title=folder.name,
        group=group,
        kind=_type(kind, folder.about.longest),
        reader=OwnReader(folder, kind, labels),
        languages=folder.languages,
        score=found,
        format=FORMATS[kind],
        labels=labels.names,
        defaults=_defaults(kind),
        version=fingerprint(folder),
        regime="transfer" if english else "translate-train-all",
        check_gold=found.check,
        metric=found.name,
        data=folder.data,
    )


def _type(kind: str, longest: int) -> TaskType:
    types: dict[str, TaskType] = {
        "classification": PairClassification(PairPreprocessor(longest)),
        "multi-label": MultiLabelClassification(LabelSetPreprocessor(longest)),
        "regression": Regression(NumberPreprocessor(longest)),
        "tagging": TokenTagging(TaggingPreprocessor(longest, as_first=False)),
        "question answering": SpanExtraction(),
        "retrieval": TranslationSearch(),
    }
    return types[kind]


def _defaults(kind: str) -> TaskDefaults | None:
    rate = 3e-5 if kind == "question answering" else 2e-5
    epochs = 10 if kind == "tagging" else 5
    return None if kind == "retrieval" else TaskDefaults(epochs, rate)


def fingerprint(folder: TaskFolder) -> str:
    """Return what changes whenever a file of the task does; the name, for a data set."""
    digest = hashlib.sha256(repr(folder.about).encode())
    for place in folder.places:
        path = place.path if isinstance(place, Translations) else place
        content = path.read_bytes() if isinstance(path, Path) else str(path).encode()
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()[:12]
