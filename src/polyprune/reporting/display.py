"""Numbers, systems, tasks and languages as people read them."""

from collections.abc import Callable

from ..averages import Value
from ..corpora.languages import Language, language
from ..errors import UnknownName
from ..evaluation.task_names import TASK_NAMES, find_task_name
from .results import Results, System

SPACE = "\u00a0"
"""A space at which no line is broken."""

MISSING = "–"
"""The dash that stands for a missing number."""

NO_FAMILY = "no family known"


def format_number(value: Value, form: str = ".1f", unit: str = "") -> str:
    """Format a number, or a dash if it is missing."""
    return MISSING if value is None else f"{value:{form}}{unit}"


def percent(value: Value) -> str:
    """Format a fraction in percent, or a dash if it is missing."""
    return MISSING if value is None else f"{100 * value:.0f}{SPACE}%"


def millions(value: Value) -> str:
    """Format a number of parameters or bytes in millions."""
    return MISSING if value is None else f"{value / 1e6:.1f}"


def system_title(system: System) -> str:
    """Return a system's title with its size: `Grad, shared, 50 % cut`."""
    cut = "" if system.sparsity is None else f", {percent(system.sparsity)} cut"
    return system.title + cut


def task_title(results: Results, task: str) -> str:
    """Return the title of a task."""
    if task in results.tasks:
        return results.tasks[task]
    try:
        return TASK_NAMES[find_task_name(task)].title
    except UnknownName:
        return task


def language_name(code: str) -> str:
    """Return the English name of a language, or its code if it is unknown."""
    return _known(code, lambda found: found.name, code)


def language_family(code: str) -> str:
    """Return the family of a language."""
    return _known(code, lambda found: found.family or NO_FAMILY, NO_FAMILY)


def _known(code: str, field: Callable[[Language], str], otherwise: str) -> str:
    try:
        return field(language(code))
    except UnknownName:
        return otherwise
