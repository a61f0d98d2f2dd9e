"""Labels that XTREME keeps separate from its test data, in its scorer's layout."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import DataError
from .prediction_formats import read_file
from .tasks import Task


def attach_labels(task: Task, examples: Iterable[Any], folder: str, language: str) -> list[Any]:
    """Return the examples with the labels from `folder/task/test-language`."""
    name = f"test-{language}.{task.format.suffix}"
    path = Path(folder).expanduser() / task.name / name
    if not path.is_file():
        raise DataError(f"There are no labels of {task.name} for {language!r}: {path} is missing.")
    gold = read_file(path, task.format.parse_labels)
    try:
        return task.kind.label(list(examples), gold)
    except DataError as error:
        raise DataError(f"{path}: {error} Make it of the same data.") from error
