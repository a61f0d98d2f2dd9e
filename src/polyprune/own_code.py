"""Import what users name: their own `module:name`, or an entry point of an installed package.

An import runs the code of a module. So names come from a command line, an argument or a config that
the user gave, never from the files of a model.
"""

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from .errors import ConfigError


def offered(group: str) -> dict[str, EntryPoint]:
    """What installed packages offer under an entry point, by name; nothing is imported."""
    return {point.name: point for point in entry_points(group=group)}


def split_name(name: str, group: str) -> tuple[str, str]:
    """The module and the name in it that `module:name`, or an entry point, stands for."""
    points = offered(group)
    place = points[name].value if name in points else name
    module, _, attribute = place.partition(":")
    if not module or not attribute.isidentifier():
        raise ConfigError(f"Your own is named module:name, such as my_rules:mine, not {place!r}.")
    return module, attribute


def own_module(module: str) -> Any:
    """A user's module, imported; also from the working directory."""
    try:
        with _working_directory_too():
            return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise _failed(module, error) from error
        raise ConfigError(
            f"There is no module {module}: it has to be installed, in the working directory, or on "
            "PYTHONPATH."
        ) from error
    except (Exception, SystemExit) as error:  # whatever a user's code does when it is imported
        raise _failed(module, error) from error


def code_hash(module: str) -> str:
    """A hash of the file of a user's module; empty if it has none."""
    file = getattr(own_module(module), "__file__", None)
    return "" if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


def _failed(module: str, error: BaseException) -> ConfigError:
    why = " ".join(str(error).split()).rstrip(".")
    kind = type(error).__name__
    return ConfigError(
        f"Importing {module} fails with {kind}{': ' if why else ''}{why}. Mend that module."
    )


@contextmanager
def _working_directory_too() -> Iterator[None]:
    """Look for modules in the working directory too, after all other places."""
    here = str(Path.cwd())
    sys.path.append(here)
    try:
        yield
    finally:
        for place in range(len(sys.path) - 1, -1, -1):  # the last of them is ours
            if sys.path[place] == here:
                del sys.path[place]
                break
