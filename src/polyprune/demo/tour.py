"""What the stages of the tour share: one small context, and how they tell what they found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ..api.score import ScoreResult
from ..averages import Value, mean, number
from ..loading.hub import load
from ..loading.reading import fitting_tokenizer
from ..measuring.machine import machine
from ..measuring.speed import time_call
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import Progress
from ..versions import versions
from .tour_plan import TourPlan, TourTexts

TITLES = {
    "dense": "Uncut",
    "pruned": "Cut",
    "recovered": "Cut and recovered",
    "elastic": "Elastic sprout",
}
"""What the models are called for people."""


@dataclass(frozen=True, slots=True)
class StageTable:
    """What a stage found, for people."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sum_up: bool = False
    """Whether the last row sums up the others."""


@dataclass(frozen=True, slots=True)
class TourModel:
    """A model that is measured."""

    name: str
    """`dense`, `pruned`, `recovered` or `elastic`."""
    size: float
    """Its sparsity."""
    folder: Path

    @property
    def title(self) -> str:
        """In a few letters."""
        return f"{self.size:.0%}" if self.name == "pruned" else self.name

    def record(self) -> dict[str, Any]:
        """Its name and size, as results have them."""
        sparsity = None if self.name == "dense" else self.size
        return {"system": self.name, "title": TITLES[self.name], "sparsity": sparsity}


@dataclass
class Tour:
    """What is known so far. Everything is made in `work`, and moved to its place at the end."""

    plan: TourPlan
    work: Path
    texts: TourTexts
    original: PolyprunePreTrainedModel | None = None
    scores: ScoreResult | None = None
    systems: list[TourModel] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    """One line per score of a model and one per size, as they lie in results.jsonl."""

    def note(self, system: TourModel, **found: Any) -> None:
        """Write down what was found of a model."""
        self.rows.append({**system.record(), **found})

    def note_scores(
        self, system: TourModel, task: str, score: str, languages: Mapping[str, float]
    ) -> None:
        """Write down how a model did at a task, in every language."""
        by_code = {code: {score: number(value)} for code, value in languages.items()}
        self.note(system, task=task, mean={score: mean(languages.values())}, languages=by_code)

    def load(self, system: TourModel, readout: str | None = None) -> PolyprunePreTrainedModel:
        """In single precision, whatever it is kept in."""
        return load(system.folder, readout, dtype=torch.float32, verify=False)

    def take(self, stage: "Stage", progress: Progress) -> StageTable:
        """One stage, and how long it took."""
        tables: list[StageTable] = []
        seconds = time_call(lambda: tables.append(stage.run(self, progress)))
        self.rows.append({"stage": stage.name, "seconds": round(seconds, 2)})
        return tables[0]

    def tokenizer(self) -> Any:
        """That all of the systems share."""
        assert self.original is not None
        return fitting_tokenizer(self.original, strict=True)

    def records(self, command: str) -> list[dict[str, Any]]:
        """The measurements as they are written, each with what it was made by and on."""
        run = {"model": self.plan.model, "command": command}
        run |= {"machine": machine(), "versions": versions()}
        return [row | run for row in self.rows]


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the tour."""

    name: str
    run: Callable[[Tour, Progress], StageTable]


def one_digit(value: Value) -> str:
    """Format a percentage for a table; a dash if it is not a number."""
    known = number(value)
    return "–" if known is None else f"{known:.1f}"


def by_language(title: str, found: Mapping[str, Mapping[str, float]]) -> StageTable:
    """Return a table of every language with one column per system; the mean is last."""
    codes = list(next(iter(found.values())))
    rows = [(code, *(one_digit(own[code]) for own in found.values())) for code in codes]
    rows.append(("mean", *(one_digit(mean(own.values())) for own in found.values())))
    return StageTable(title, ("language", *found), tuple(rows), sum_up=True)
