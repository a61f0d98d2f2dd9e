"""Which task is meant by `task` and `data`: one of XTREME's nine, or one of one's own."""

from pathlib import Path
from typing import Any

from ...errors import ConfigError, DataError, UnknownName
from ..readers.hub_tables import is_data_set
from ..tasks import TASKS, Task, find_task
from .own_task import ModelFacts, scored_task, trained_task
from .task_file import TASK_FILE
from .task_folder import TaskFolder, holds_task, open_task_folder, read_about
from .task_kind import guess_kind

INSTEAD = "For a task of your own leave `task` out, and give its folder as `data`"


def choose_task(
    task: str | None,
    data: str | None,
    model: ModelFacts,
    metric: str | None = None,
    trained: bool = False,
) -> tuple[Task, str]:
    """Return the task for a model that is scored or `trained`, and where its data is."""
    known = None if task is None else _known(task)
    if known is not None and data is not None:
        if metric is not None:
            raise ConfigError(
                f"{known.title} has a metric of its own: `metric` is for tasks of your own."
            )
        return known, data
    folder = _own_folder(task, data)
    make = trained_task if trained else scored_task
    return make(folder, model, metric or ""), folder.data


def _known(name: str) -> Task | None:
    try:
        return find_task(name)
    except UnknownName:
        return None


def _own_folder(task: str | None, data: str | None) -> TaskFolder:
    """Return the folder of a task of one's own."""
    if task is None and data is None:
        raise ConfigError(f"Give `data`, and `task` for one of XTREME's. {INSTEAD}.")
    if task is None:
        return open_task_folder(str(data))
    if _is_place(task):
        return open_task_folder(data or task, read_about(task))
    if data is None:
        find_task(task)  # which raises unless it is one of XTREME's
        raise ConfigError(f"Give `data` too: a folder of XTREME that has {task} in it.")
    if holds_task(Path(data).expanduser()) or is_data_set(data):
        folder = open_task_folder(data)
        if folder.name == task:
            return folder
    try:
        find_task(task)
    except UnknownName as error:
        raise ConfigError(f"{error} {INSTEAD}.") from error
    raise AssertionError(task)


def _is_place(task: str) -> bool:
    """Whether a task is given as its folder, or as a task file."""
    place = Path(task).expanduser()
    return holds_task(place) or (place.suffix == ".toml" and place.is_file())


def own_tasks(data: str | None) -> list[dict[str, Any]]:
    """Describe the tasks that a folder holds, itself or in its folders, as JSON.

    Without a folder, those here that have a task file.
    """
    folder = Path(data or ".").expanduser()
    if not folder.is_dir():
        raise DataError(f"There is no folder {data} with tasks.")
    several = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    found = [open_task_folder(str(each)) for each in several if _is_own(each, data is None)]
    return [
        {
            "task": each.name,
            "data": each.data,
            "group": guess_kind(each),
            "languages": list(each.languages),
            "splits": {split: list(own) for split, own in each.splits.items()},
        }
        for each in found
    ]


def _is_own(folder: Path, named_only: bool) -> bool:
    if (folder / TASK_FILE).is_file():
        return True
    return not named_only and folder.name not in TASKS and holds_task(folder)
