"""What can be wrong with the data of a task, told with the language and the place."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import DataError
from .readers.splits import SPLIT_LABELS
from .tasks import Task


def describe_data(task: Task, data: str, split: Any, code: str) -> str:
    """What to call the examples of a language: `dev data of xnli for 'sw' in xtreme`."""
    return f"{SPLIT_LABELS[split]} of {task.name} for {code!r} in {data}"


def require_data(task: Task, data: str, split: Any, codes: Sequence[str]) -> None:
    """Raise for the first language without files, saying where they were looked for."""
    there = set(task.reader.languages(data, split, codes))
    for code in codes:
        if code not in there:
            task.reader.read(data, split, code)


def validated(task: Task, examples: Iterable[Any], place: str) -> Iterator[Any]:
    """The examples as they are; raise at the first with a label that the task does not have."""
    for number, example in enumerate(examples, 1):
        unknown = [label for label in task.kind.said(example) if label not in task.labels]
        if task.labels and unknown:
            raise DataError(
                f"Example {number} of the {place} has the label {unknown[0]!r}. There are: "
                f"{', '.join(task.labels)}."
            )
        yield example


@contextmanager
def locate_errors(place: str) -> Iterator[None]:
    """Say where it was, if something is wrong with what was read."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{error} This is the {place}.") from error
