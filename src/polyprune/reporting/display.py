"""Numbers, languages and names as people read them."""

from collections.abc import Callable

from ..averages import Value
from ..corpora.languages import Language, language
from ..errors import UnknownName
from ..evaluation.tasks import find_task
from .results import Results, System

SPACE = "\u00a0"
"""At which no line ends."""

MISSING = "–"
"""What stands where there is no number."""

NO_FAMILY = "no family known"


def format_number(value: Value, form: str = ".1f", unit: str = "") -> str:
    """A number for people, or a dash."""
    return MISSING if value is None else f"{value:{form}}{unit}"


def percent(value: Value) -> str:
    """A share, or a dash; the sign stays with its number."""
    return MISSING if value is None else f"{100 * value:.0f}{SPACE}%"


def millions(value: Value) -> str:
    """Of parameters or bytes."""
    return MISSING if value is None else f"{value / 1e6:.1f}"


def system_title(system: System) -> str:
    """A system with its size: `Grad, shared, 50 % cut`."""
    cut = "" if system.sparsity is None else f", {percent(system.sparsity)} cut"
    return system.title + cut


def task_title(results: Results, task: str) -> str:
    """What a task is called."""
    if task in results.tasks:
        return results.tasks[task]
    try:
        return find_task(task).title
    except UnknownName:
        return task


def language_name(code: str) -> str:
    """A language in English, or its code if nobody knows."""
    return _known(code, lambda found: found.name, code)


def language_family(code: str) -> str:
    """The family of a language."""
    return _known(code, lambda found: found.family or NO_FAMILY, NO_FAMILY)


def _known(code: str, tell: Callable[[Language], str], otherwise: str) -> str:
    try:
        return tell(language(code))
    except UnknownName:
        return otherwise
