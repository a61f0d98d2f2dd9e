"""`task.toml`: what there is to say about a task of one's own, if its files do not say it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ...errors import ConfigError, UnknownName

TASK_FILE = "task.toml"

KINDS = (
    "classification", "multi-label", "regression", "tagging", "question answering", "retrieval",
)  # fmt: skip
"""The kinds of tasks, as users write them."""

ROLES = ("text", "pair", "label", "tokens", "tags", "question", "context", "answers",
         "answer_start", "id")  # fmt: skip
"""What a column may hold."""


@dataclass(frozen=True, slots=True)
class TaskFile:
    """The description of a task; all of it may be left out."""

    name: str = ""
    """What it is called; its folder's name unless given."""
    kind: str = ""
    """One of `KINDS`; the model's and the files' say it unless given."""
    labels: tuple[str, ...] = ()
    """In the order of the model's numbers; the model's, or those of the training data."""
    metric: str = ""
    """The score that counts; the usual one of the kind unless given."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The names of columns by what they hold: `{text = "review", label = "stars"}`."""
    separator: str | None = None
    """What stands between the columns of tables."""
    files: str | Mapping[str, str] = ""
    """Where files are: `"{split}/reviews.{language}.csv"`, or such a name for each split."""
    longest: int = 512
    """The tokens of an input, what is longer is cut off; never more than the model reads."""

    def __post_init__(self):
        if self.kind and self.kind not in KINDS:
            raise UnknownName("kind of task", self.kind, KINDS, f"There are: {', '.join(KINDS)}.")
        for role in self.columns:
            if role not in ROLES:
                see = f"There are: {', '.join(ROLES)}."
                raise UnknownName("column", role, ROLES, see)
        if len(set(self.labels)) < len(self.labels):
            raise ConfigError(f"Each label is there once, not {', '.join(self.labels)}.")
        if self.longest < 8:
            raise ConfigError(f"Inputs have 8 tokens or more, not {self.longest}.")
        for pattern in [self.files] if isinstance(self.files, str) else self.files.values():
            if self.files and "{language}" not in pattern:
                raise ConfigError(f"Names of files have a {{language}} in them, not {pattern!r}.")


def read_task_file(path: Path) -> TaskFile:
    """Read and check a description; every mistake names the file."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}.") from error
    try:
        return _checked(table)
    except (ConfigError, UnknownName) as error:
        raise ConfigError(f"{path}: {error}") from error


def _checked(table: dict[str, Any]) -> TaskFile:
    known = {each.name for each in fields(TaskFile)}
    for name in table:
        if name not in known:
            see = f"There are: {', '.join(sorted(known))}."
            raise UnknownName("key", name, known, see)
    strings = {"name", "kind", "metric", "separator"}
    types: dict[str, Any] = dict.fromkeys(strings, str)
    types |= {"labels": list, "columns": dict, "files": (str, dict), "longest": int}
    for name, value in table.items():
        if not isinstance(value, types[name]):
            such = {"labels": 'a list: ["no", "yes"]', "columns": 'a table: {text = "review"}'}
            raise ConfigError(f"{name} is {such.get(name, 'something else')}, not {value!r}.")
    given = dict(table)
    if "labels" in given:
        given["labels"] = tuple(map(str, given["labels"]))
    return TaskFile(**given)
