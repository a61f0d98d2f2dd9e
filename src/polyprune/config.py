"""Read TOML into a `Run` or a `Study`, and report every mistake in a file at once."""

import dataclasses
import logging
import tomllib
import types
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from .errors import ConfigError
from .training.run_config import Run

if TYPE_CHECKING:
    from .studies.study_config import Study

ConfigType = TypeVar("ConfigType")

logger = logging.getLogger(__name__)


def read_run(path: Path, changes: Sequence[str] = (), steps: int | None = None) -> Run:
    """Read a run from a file, with `section.key=value` changes and another number of steps."""
    table = _read(path, changes)
    run = make_run(table, str(path))
    return run if steps is None else run.with_steps(steps)


def read_study(
    path: Path, changes: Sequence[str] = (), *, quick: bool = False
) -> "tuple[Study, dict[str, Run]]":
    """Read a study from a file, with the runs of its trained systems."""
    from .studies.study_config import (  # which imports all tasks: runs need none of them
        Study,
        run_of,
    )

    table = _read(path, changes)
    table.setdefault("name", path.stem)
    study = _make(Study, table, str(path))
    study = study.quickly() if quick else study
    runs = {}
    for system in study.systems:
        own = None if system.config is None else read_run(path.parent / system.config)
        if system.made:
            runs[system.name] = run_of(system, own)
    return study, runs


def config_problems(path: Path) -> list[str]:
    """What is wrong with a config, be it of a run or of a study; nothing if it is right."""
    try:
        if {"systems", "tasks"} & _read(path, ()).keys():
            read_study(path)
        else:
            read_run(path)
    except ConfigError as error:
        return [str(error)]
    return []


def _read(path: Path, changes: Sequence[str]) -> dict[str, Any]:
    """Read the table in a file, with `section.key=value` changes."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(
            f"There is no file {path}. Configs are in configs/paper and configs/miniature."
        ) from error
    except IsADirectoryError as error:
        raise ConfigError(f"{path} is a folder. Give a .toml file.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}.") from error
    for change in changes:
        _set(table, change)
    return table


def make_run(table: Mapping[str, Any], name: str = "The config") -> Run:
    """Make the run that a table describes."""
    return _make(Run, table, name)


def _make(kind: type[ConfigType], table: Mapping[str, Any], name: str) -> ConfigType:
    table = _with_new_names(kind, table)
    mistakes = list(_unknown(kind, table))
    try:
        made = TypeAdapter(kind).validate_python(_known(kind, table))
    except ValidationError as error:
        mistakes += [_sentence(each) for each in error.errors()]
    else:
        if not mistakes:
            return made
    many = f"{len(mistakes)} mistakes:\n  " if len(mistakes) > 1 else "a mistake: "
    raise ConfigError(f"{name} has {many}" + "\n  ".join(mistakes))


def _with_new_names(kind: Any, table: Any, path: str = "") -> Any:
    """Return the table with the present names of keys and values that were renamed, and warn."""
    if isinstance(table, list):
        return [_with_new_names(kind, part, f"{path}{i}.") for i, part in enumerate(table)]
    if not isinstance(table, Mapping) or not dataclasses.is_dataclass(kind):
        return table
    renamed: dict[Any, str] = {
        f.metadata["was"]: f.name for f in dataclasses.fields(kind) if "was" in f.metadata
    }
    old_values = {f.name: f.metadata.get("old_values", {}) for f in dataclasses.fields(kind)}
    hints, result = get_type_hints(kind), {}
    for name, value in table.items():
        new = renamed.get(name, str(name))
        if new in table and new != name:
            raise ConfigError(f"{path}{name} is now called {path}{new}. Give only {path}{new}.")
        if new != name:
            logger.warning("%s%s is now called %s%s: please rename it.", path, name, path, new)
        value = _with_new_value(value, old_values.get(new, {}), f"{path}{new}")
        result[new] = _with_new_names(_inner(hints.get(new)), value, f"{path}{new}.")
    return result


def _with_new_value(value: Any, renamed: Mapping[str, str], path: str) -> Any:
    """Return the present name of a value that was renamed, and warn about it."""
    if not isinstance(value, str) or value not in renamed:
        return value
    logger.warning('%s = "%s" is now "%s": please rename it.', path, value, renamed[value])
    return renamed[value]


def _sentence(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"]) or "config"
    message = error["msg"].removeprefix("Value error, ")
    given = error.get("input")
    shown = (
        ""
        if isinstance(given, (dict, list)) or error["type"] == "value_error"
        else f", not {given!r}"
    )
    return f"{where}: {message}{shown}"


def _unknown(kind: Any, table: Any, path: str = "") -> Iterator[str]:
    """Return one sentence per unknown key, with the nearest known one."""
    for name, value, hint in _entries(kind, table):
        where = f"{path}{name}"
        if hint is None:
            known = [field.name for field in dataclasses.fields(kind)]
            nearest = get_close_matches(name, known, n=1, cutoff=0.5)
            mean = (
                f" Did you mean {path}{nearest[0]}?"
                if nearest
                else f" There are: {', '.join(known)}."
            )
            yield f"{where}: there is no such key.{mean}"
        elif isinstance(value, list):
            for i, each in enumerate(value):
                yield from _unknown(hint, each, f"{where}.{i}.")
        else:
            yield from _unknown(hint, value, f"{where}.")


def _known(kind: Any, table: Any) -> Any:
    """Return the table without unknown keys, so that its values can be checked."""
    if isinstance(table, list):
        return [_known(kind, each) for each in table]
    if not isinstance(table, Mapping) or not dataclasses.is_dataclass(kind):
        return table
    return {name: _known(hint, value) for name, value, hint in _entries(kind, table) if hint}


def _entries(kind: Any, table: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield every key with its value, and its dataclass or type; None if it is unknown."""
    if not isinstance(table, Mapping) or not dataclasses.is_dataclass(kind):
        return
    hints = get_type_hints(kind)
    known = {field.name for field in dataclasses.fields(kind)}
    for name, value in table.items():
        yield name, value, _inner(hints[name]) if name in known else None


def _inner(hint: Any) -> Any:
    """The dataclass in a hint such as `tuple[Phase, ...]`, or the hint."""
    if get_origin(hint) in (tuple, Union, types.UnionType):
        for part in get_args(hint):
            if dataclasses.is_dataclass(part):
                return part
    return hint


def _set(table: dict[str, Any], change: str) -> None:
    """Apply `section.key=value`; values are TOML, or text where they are not."""
    name, equals, text = change.partition("=")
    if not equals or not name.strip():
        raise ConfigError(
            f"--set takes section.key=value, such as gating.sparsity=0.7, not {change!r}."
        )
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()
    *sections, last = name.strip().split(".")
    place: Any = table
    for section in sections:
        place = _enter(place, section, change)
    _inside(place, change)[last] = value


def _enter(place: Any, section: str, change: str) -> Any:
    if isinstance(place, list):
        return _item(place, section, change)
    return _inside(place, change).setdefault(section, {})


def _inside(place: Any, change: str) -> Any:
    """Return a section; raise if it is a plain value."""
    if isinstance(place, list):
        return _item(place, "", change)
    if not isinstance(place, dict):
        raise ConfigError(f"--set {change}: {place!r} is a value, not a section.")
    return place


def _item(place: list[Any], section: str, change: str) -> Any:
    """Return one of several phases, numbered from 0."""
    if not section.isdigit() or int(section) >= len(place):
        raise ConfigError(
            f"--set {change}: phases are numbered from 0 to {len(place) - 1}, such as "
            "phases.0.steps=100."
        )
    return place[int(section)]
