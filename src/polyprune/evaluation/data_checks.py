"""Checks of a task's data, with messages that name the language and the place."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import DataError
from .readers.splits import SPLIT_LABELS
from .tasks import Task


def describe_data(task: Task, data: str, split: Any, code: str) -> str:
    """Describe the examples of a language for messages: `dev data of xnli for 'sw' in xtreme`."""
    return f"{SPLIT_LABELS[split]} of {task.name} for {code!r} in {task.data or data}"


def require_data(task: Task, data: str, split: Any, codes: Sequence[str]) -> None:
    """Raise for the first language without data, and list the files that would hold it."""
    there = set(task.reader.languages(data, split, codes))
    for code in codes:
        if code not in there:
            task.reader.read(data, split, code)


def validated(task: Task, examples: Iterable[Any], data: str) -> Iterator[Any]:
    """Yield the examples unchanged; raise at a label that the task does not have."""
    for number, example in enumerate(examples, 1):
        unknown = [label for label in task.kind.said(example) if label not in task.labels]
        if task.labels and unknown:
            raise DataError(
                f"Example {number} of the {data} has the label {unknown[0]!r}. There are: "
                f"{', '.join(task.labels)}."
            )
        yield example


@contextmanager
def locate_errors(data: str) -> Iterator[None]:
    """Add the description of the data to errors raised inside the block."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{error} This is the {data}.") from error
