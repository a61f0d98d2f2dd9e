"""The tasks of a study: XTREME's by name, one's own by their folders too."""

from dataclasses import replace
from functools import cache

from ..errors import ConfigError
from ..evaluation.own_tasks.own_task import trained_task
from ..evaluation.own_tasks.task_folder import open_task_folder
from ..evaluation.tasks import TASKS, Task, find_task


def find_study_task(name: str, data: str | None) -> Task:
    """Return the task that a study calls so; `data` is the folder of a task of one's own."""
    return find_task(name) if data is None else _own_task(name, data)


@cache  # its files are read for its labels, and it is asked for many times
def _own_task(name: str, data: str) -> Task:
    if name in TASKS:
        raise ConfigError(f"{name} is a task of XTREME: call the one in {data} something else.")
    return replace(trained_task(open_task_folder(data)), name=name, title=name)
