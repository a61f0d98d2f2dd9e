"""The config of an evaluation: which data to use, and how models predict."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import ConfigError, DataError, UnknownName
from .data_checks import describe_data, locate_errors, require_data, validated
from .prediction_formats import read_file
from .readers.splits import SPLIT_LABELS
from .task_types import TaskType
from .tasks import Task


def label_file(task: Task, folder: str, language: str) -> Path:
    """Return where a folder of labels has those of a language."""
    name = f"test-{language}.{task.format.suffix}"
    return Path(folder).expanduser() / task.name / name


def attach_labels(task: Task, examples: Iterable[Any], folder: str, language: str) -> list[Any]:
    """Return the examples with the labels from `folder/task/test-language`."""
    path = label_file(task, folder, language)
    if not path.is_file():
        raise DataError(f"There are no labels of {task.name} for {language!r}: {path} is missing.")
    gold = read_file(path, task.format.parse_labels)
    try:
        return task.kind.label(list(examples), gold)
    except DataError as error:
        raise DataError(f"{path}: {error} Make it of the same data.") from error


SPLITS = ("test", "dev")


@dataclass(frozen=True, slots=True)
class LanguageData:
    """The examples of a task in one language."""

    examples: list[Any]
    gold: Any
    """The gold labels; None if the data has none."""
    dev: list[Any]
    """The dev examples, for tasks that choose a threshold on them; else none."""


@dataclass(frozen=True, slots=True)
class EvalData:
    """The data of a task, read once for all models that are scored on it."""

    languages: dict[str, LanguageData]


@dataclass(frozen=True, slots=True)
class EvalConfig:
    """The data, split and options of an evaluation."""

    data: str
    split: Any = "test"
    languages: tuple[str, ...] | None = None
    """The languages to score; all that have data unless given."""
    limit: int | None = None
    """The maximum number of examples per language."""
    labels: str | None = None
    """A folder of labels in XTREME's layout, for test files without labels."""
    predictions: Path | None = None
    """The folder to write predictions to."""
    compat: bool = False
    """Extract answers as the official script does, not by character offsets."""
    layer: int | None = None
    """The layer of sentence embeddings; the eighth of twelve, or a sentence encoder's own, unless
    given.
    """
    fallback: str | None = None
    """The language whose gates are used for one without gates; English or the first unless given.
    """
    device: str = "auto"
    """The device to run models on."""

    def __post_init__(self):
        if self.split not in SPLITS:
            raise UnknownName("split", self.split, SPLITS, f"There are: {', '.join(SPLITS)}.")
        if self.labels is not None and self.split != "test":
            raise ConfigError(
                f"`labels` is for test files: leave it out with `split={self.split!r}`."
            )

    def check(self, task: Task) -> None:
        """Raise if an option does not apply to the task."""
        self.kind(task)
        retrieval = task.kind.readout.embeds
        if self.layer is not None and not retrieval:
            raise ConfigError(f"`layer` is for retrieval: leave it out for {task.title}.")
        if self.limit is not None and retrieval:
            raise ConfigError(
                f"{task.title} looks for translations among all sentences: leave `limit` out."
            )

    def read_all(self, task: Task) -> "EvalData":
        """Read the data of every language; raise if there is a mistake in any of it.

        Everything is read before the first model runs: rather now than after an hour.
        """
        return EvalData({code: self._read_language(task, code) for code in self.codes(task)})

    def _read_language(self, task: Task, code: str) -> "LanguageData":
        examples = self.read(task, code)
        gold, dev = self.gold(task, code, examples), []
        if gold is not None and task.check_gold is not None:
            task.check_gold(gold, describe_data(task, self.data, self.split, code))
        if task.kind.needs_dev:
            dev = self.dev(task, code, examples)
            with locate_errors(describe_data(task, self.data, "dev", code)):
                task.kind.check_dev(dev)
        return LanguageData(examples, gold, dev)

    def kind(self, task: Task) -> TaskType:
        """Return the task's type, adapted to these options."""
        kind = task.kind.compatible() if self.compat else task.kind
        if kind is None:
            raise ConfigError(f"`compat` is for question answering: leave it out for {task.title}.")
        return kind

    def codes(self, task: Task) -> list[str]:
        """Return the languages to score; raise if one of them has no data."""
        codes = task.find(self.data, self.split, self.languages)
        require_data(task, self.data, self.split, codes)
        return codes

    def read(self, task: Task, code: str) -> list[Any]:
        """Read the examples of a language."""
        place = describe_data(task, self.data, self.split, code)
        # Files of labels are of all examples.
        most = self.limit if self.labels is None else None
        examples = list(islice(task.reader.read(self.data, self.split, code), most))
        if self.labels is not None and not self.gold(task, code, examples):
            examples = attach_labels(task, examples, self.labels, code)
            place = (
                f"{SPLIT_LABELS[self.split]} of {task.name} for {code!r}, "
                f"labelled by {self.labels},"
            )
        return list(validated(task, islice(examples, self.limit), place))

    def gold(self, task: Task, code: str, examples: list[Any]) -> Any:
        """Return the gold labels of a language; None if the data has none."""
        with locate_errors(describe_data(task, self.data, self.split, code)):
            return task.kind.gold(examples)

    def dev(self, task: Task, code: str, examples: list[Any]) -> list[Any]:
        """Return the dev examples on which thresholds are chosen."""
        if self.split == "dev":
            return examples
        place = describe_data(task, self.data, "dev", code)
        return list(validated(task, task.reader.read(self.data, "dev", code), place))

    def record(self) -> dict[str, Any]:
        """Return the options that affect scores, as JSON."""
        return {
            "data": self.data,
            "split": self.split,
            "languages": None if self.languages is None else list(self.languages),
            "limit": self.limit,
            "labels": self.labels,
            "compat": self.compat,
            "layer": self.layer,
            "fallback": self.fallback,
        }
