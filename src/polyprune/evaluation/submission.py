"""The folder of predictions that XTREME's scorer reads: how to write, read and score it.

    predictions/
    ├── xnli/test-sw.tsv       one label per line
    ├── panx/test-sw.tsv       one tag per line, an empty line after each sentence
    ├── tatoeba/test-sw.tsv    one line number per line
    ├── bucc2018/test-de.tsv   two ids per line
    └── xquad/test-de.json     {question id: answer}

The folder of labels looks the same, but for the questions, which are files like SQuAD's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..averages import mean_over_languages
from ..errors import DataError, PolypruneError
from ..storage import atomic_file
from .prediction_formats import read_file
from .tasks import TASKS, Task, find_task


@dataclass(frozen=True, slots=True)
class TaskScores:
    """The scores of a task by language, in percent."""

    languages: dict[str, dict[str, float]]
    """For each language: accuracy; or f1, precision and recall; or f1 and exact."""

    @property
    def means(self) -> dict[str, float]:
        """The mean of each score over the languages."""
        return mean_over_languages(self.languages)

    @property
    def score(self) -> float | dict[str, float]:
        """What the averages of `metrics` take: the mean accuracy or F1, or both F1 and exact."""
        means = self.means
        if "exact" in means:
            return means
        return means["accuracy"] if "accuracy" in means else means["f1"]

    @property
    def number(self) -> float:
        """The one number of the task: mean accuracy, mean F1, or of F1 and exact the mean."""
        score = self.score
        return (score["f1"] + score["exact"]) / 2 if isinstance(score, dict) else score


def write_predictions(
    folder: Path, task: str | Task, language: str, predictions: Any, split: str = "test"
) -> Path:
    """Write the predictions for a language of a task; return the file.

    Args:
        folder: that of all tasks.
        task: one of XTREME's nine, or one's own.
        language: its code.
        predictions: labels; or tags by sentence; or answers by question id; or pairs of ids; or
            line numbers.
        split: what has been predicted.
    """
    own = find_task(task) if isinstance(task, str) else task
    text = own.format.write(predictions)
    path = _path(folder, own, language, split)
    with atomic_file(path, force=True) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path


def read_predictions(folder: Path, task: str, language: str, split: str = "test") -> Any:
    """The predictions for a language of a task, as they were given to `write_predictions`."""
    return read_file(_path(folder, find_task(task), language, split), find_task(task).format.parse)


def score_folder(predictions: Path, labels: Path) -> dict[str, TaskScores]:
    """The scores of each task of which both folders have a subfolder, as XTREME's scorer has them.

    The languages are those that there are labels for.
    """
    both = {path.name for path in _folders(predictions)} & {path.name for path in _folders(labels)}
    reports = {
        task: TaskScores(_score_task(predictions, labels, task)) for task in TASKS if task in both
    }
    if not reports:
        raise DataError(
            f"No task has both predictions in {predictions} and labels in {labels}. "
            f"There should be folders with names such as {', '.join(TASKS)}."
        )
    return reports


def overall_scores(reports: Mapping[str, TaskScores]) -> dict[str, float]:
    """Return the mean score of each group of tasks that is complete, and of all nine (`all`)."""
    groups: dict[str, list[str]] = {"all": list(TASKS)}
    for task in TASKS.values():
        groups.setdefault(task.group, []).append(task.name)
    return {
        group: sum(reports[task].number for task in tasks) / len(tasks)
        for group, tasks in groups.items()
        if all(task in reports for task in tasks)
    }


def _path(folder: Path, task: Task, language: str, split: str) -> Path:
    return folder / task.name / f"{split}-{language}.{task.format.suffix}"


def _folders(path: Path) -> list[Path]:
    if not path.is_dir():
        raise DataError(f"{path} is not a folder. Give one that has a folder for each task.")
    return [child for child in path.iterdir() if child.is_dir()]


def _score_task(predictions: Path, labels: Path, task: str) -> dict[str, dict[str, float]]:
    form = find_task(task).format
    files = sorted((labels / task).glob(f"test-*.{form.suffix}"))
    if not files:
        raise DataError(f"{labels / task} has no file test-*.{form.suffix}. Put labels into it.")
    rows = {}
    for path in files:
        language = path.stem.removeprefix("test-")
        gold = read_file(path, form.parse_labels)
        given = read_predictions(predictions, task, language)
        try:
            rows[language] = find_task(task).score(gold, given, language)
        except PolypruneError as error:
            raise DataError(
                f"{_path(predictions, find_task(task), language, 'test')}: {error}"
            ) from None
    return rows
