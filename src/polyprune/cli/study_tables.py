"""The tables of a study: for the terminal and, as Markdown, for a document."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..evaluation.tasks import find_task
from ..studies.results import shown
from .terminal import readable


@dataclass(frozen=True, slots=True)
class StudyTable:
    """Words in rows and columns."""

    title: str
    columns: list[str]
    rows: list[list[str]]

    def as_markdown(self) -> str:
        """As documents have it."""
        head = [" ".join(column.split()) for column in self.columns]
        lines = [head, ["---"] * len(head), *self.rows]
        return "\n".join([f"**{self.title}**", "", *(f"| {' | '.join(r)} |" for r in lines), ""])


def tables_of(answer: Mapping[str, Any]) -> list[StudyTable]:
    """A table a regime, then sizes and speeds."""
    tables = [_scores(regime, rows) for regime, rows in answer["regimes"].items()]
    return tables + ([_sizes(answer["sizes"])] if answer["sizes"] else [])


def _scores(regime: str, rows: list[Mapping[str, Any]]) -> StudyTable:
    tasks = list(rows[0]["tasks"]) if rows else []
    seeds = ["over seeds"] if any(row["over_seeds"] for row in rows) else []
    return StudyTable(
        regime,
        ["system", "cut", *(find_task(task).title for task in tasks), "average", *seeds],
        [
            [
                row["title"],
                cut(row["sparsity"]),
                *(shown(row["tasks"][task]) for task in tasks),
                "–" if row["average_flat"] is None else f"{row['average_flat']:.1f}",
                *(_over(row["over_seeds"]) for _ in seeds),
            ]
            for row in rows
        ],
    )


def _over(average: Mapping[str, Any] | None) -> str:
    """The average of the tasks that all seeds have."""
    return "–" if average is None else f"{average['mean']:.1f} ±{average['spread']:.1f}"


def _sizes(rows: list[Mapping[str, Any]]) -> StudyTable:
    return StudyTable(
        "size and speed",
        ["system", "cut", "parameters", "weights", "multiply–adds", "times as fast"],
        [
            [
                row["title"],
                cut(row["sparsity"]),
                readable(row["parameters"]),
                readable(row["bytes"], "B"),
                readable(row["multiply_adds"]),
                f"{row['ratio']:.2f} ({row['low']:.2f}–{row['high']:.2f})",
            ]
            for row in rows
        ],
    )


def cut(sparsity: float | None) -> str:
    """How much is cut, in percent."""
    return "–" if sparsity is None else f"{sparsity:.0%}"
