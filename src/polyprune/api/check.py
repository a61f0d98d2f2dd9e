"""`polyprune.check`: everything that is wrong with a folder or a file."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config import config_problems
from ..loading.checks import changed_since, problems
from ..progress import Progress
from ..reporting.tables.table import Table
from .requests.check import CheckRequest
from .result import Result
from .verb import verb


@dataclass(frozen=True, slots=True, repr=False)
class CheckResult(Result):
    """What is wrong with a folder or a file, and what has changed since it was saved."""

    path: Path
    problems: tuple[str, ...]
    changed: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        """The problems, one sentence each."""
        return {
            "path": str(self.path),
            "right": self.right,
            "problems": list(self.problems),
            "changed": list(self.changed),
        }

    def summary(self) -> Iterator[Table | str]:
        """Whether it is right."""
        note = f" Changed since it was saved, which is no fault: {', '.join(self.changed)}."
        if self.right:
            yield f"{self.path} is right.{note if self.changed else ''}"
        else:
            yield from self.problems

    @property
    def exit_status(self) -> int:
        """The status of misuse where anything is wrong."""
        return 0 if self.right else 2


@verb(CheckRequest)
def check(path: str | Path, request: CheckRequest, progress: Progress) -> CheckResult:
    """Find everything that is wrong with a model folder, a file of gates or scores, or a config."""
    path = Path(path)
    if path.suffix == ".toml":
        return CheckResult(path, tuple(config_problems(path)))
    changed = tuple(changed_since(path)) if path.is_dir() else ()
    return CheckResult(path, tuple(problems(path)), changed)
