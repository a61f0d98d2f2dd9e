"""What is asked of models, and the data that it is asked with."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import ConfigError, UnknownName
from .data_checks import describe_data, locate_errors, require_data, validated
from .labels import attach_labels
from .readers.splits import SPLIT_LABELS
from .task_types import TaskType
from .tasks import Task

SPLITS = ("test", "dev")


@dataclass(frozen=True, slots=True)
class EvalConfig:
    """What is asked, and how."""

    data: str
    split: Any = "test"
    languages: tuple[str, ...] | None = None
    """All that there is data for unless given."""
    limit: int | None = None
    """Examples of each language."""
    labels: str | None = None
    """A folder of labels in XTREME's layout, for test files without."""
    predictions: Path | None = None
    """Where prediction files are written."""
    compat: bool = False
    """Answers cut out as the official script does, not by character offsets."""
    layer: int | None = None
    """Of sentence embeddings; the eighth of twelve, or a sentence encoder's own, unless given."""
    fallback: str | None = None
    """Whose gates a language without any uses; English ones, or else the first, unless given."""
    device: str = "auto"
    """Where models run."""

    def __post_init__(self):
        if self.split not in SPLITS:
            raise UnknownName("split", self.split, SPLITS, f"There are: {', '.join(SPLITS)}.")
        if self.labels is not None and self.split != "test":
            raise ConfigError(
                f"--labels is for test files: leave it out with --split {self.split}."
            )

    def check(self, task: Task) -> None:
        """Raise for what a task has no use for, and for all that is wrong with its data.

        Everything is read for that: rather now than after an hour.
        """
        self.kind(task)
        retrieval = task.kind.readout == "hidden-states"
        if self.layer is not None and not retrieval:
            raise ConfigError(f"--layer is for retrieval: leave it out for {task.title}.")
        if self.limit is not None and retrieval:
            raise ConfigError(
                f"{task.title} looks for translations among all sentences: leave --limit out."
            )
        for code in self.codes(task):
            examples = self.read(task, code)
            self.gold(task, code, examples)
            if task.kind.needs_dev:
                with locate_errors(describe_data(task, self.data, "dev", code)):
                    task.kind.check_dev(self.dev(task, code, examples))

    def kind(self, task: Task) -> TaskType:
        """What is done with the examples of a task."""
        kind = task.kind.compatible() if self.compat else task.kind
        if kind is None:
            raise ConfigError(f"--compat is for question answering: leave it out for {task.title}.")
        return kind

    def codes(self, task: Task) -> list[str]:
        """The languages that are asked for; raise where one of them has no data."""
        codes = task.find(self.data, self.split, self.languages)
        require_data(task, self.data, self.split, codes)
        return codes

    def read(self, task: Task, code: str) -> list[Any]:
        """The examples of a language."""
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
        """What is right; None where the data does not tell."""
        with locate_errors(describe_data(task, self.data, self.split, code)):
            return task.kind.gold(examples)

    def dev(self, task: Task, code: str, examples: list[Any]) -> list[Any]:
        """What settings are chosen on; where dev itself is asked, that."""
        if self.split == "dev":
            return examples
        place = describe_data(task, self.data, "dev", code)
        return list(validated(task, task.reader.read(self.data, "dev", code), place))

    def record(self) -> dict[str, Any]:
        """As JSON has it, but for what does not change scores."""
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
