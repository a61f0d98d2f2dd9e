"""What was found, whatever it was read from: a study, a demo, single measurements, the paper.

What is missing or not a number is None, never 0. Everything that shows results (tables, figures,
the page, a card) starts from these values.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

Value = float | None
Scores = Mapping[str, Value]
"""By name, in percent: `{"accuracy": 71.3}`, of answers `{"f1": 60.1, "exact": 45.2}`."""


@dataclass(frozen=True, slots=True)
class System:
    """What a row of a table is of: a model that was made in some way, in one size."""

    name: str
    """The same for all its sizes: `grad-shared`. Name and sparsity are what tells systems apart."""
    title: str = field(compare=False)
    sparsity: float | None = None
    """How much was cut; None where that is not what made it what it is."""
    setting: str = field(default="", compare=False)
    """`shared`, `non-shared`, or nothing."""


@dataclass(frozen=True, slots=True)
class Score:
    """How a system did at a task."""

    system: System
    task: str
    mean: Scores
    """Over languages."""
    languages: Mapping[str, Scores] = field(default_factory=dict)
    regime: str = "transfer"
    seed: int | None = None
    failed: str = ""
    """Why there are no numbers, where it was tried."""


@dataclass(frozen=True, slots=True)
class SystemSize:
    """How large and how fast a system is."""

    system: System
    parameters: Value = None
    layer_parameters: Value = None
    """Without the word table and what reads it."""
    bytes: Value = None
    multiply_adds: Value = None
    sentences_per_second: Value = None
    gpu_sentences_per_second: Value = None
    faster: Value = None
    """How many times as fast as the dense model, measured in turns."""
    low: Value = None
    high: Value = None
    """The 95 % interval of that."""


@dataclass(frozen=True, slots=True)
class LayerWidths:
    """Heads and units of every layer, and the rank of the word table."""

    heads: tuple[int, ...]
    units: tuple[int, ...]
    rank: int


@dataclass(frozen=True, slots=True)
class KeptComponents:
    """What pruning left of a model, for one language or for all alike."""

    system: System
    language: str | None
    """None where all languages share it."""
    kept: LayerWidths
    whole: LayerWidths
    """Before anything was cut."""
    head_width: int = 64


@dataclass(frozen=True, slots=True)
class Distances:
    """How much the subnetworks of languages differ: the fraction of gates that do."""

    system: System
    languages: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """Held-out loss over training."""

    system: System
    language: str | None
    """None for the mean over languages."""
    points: tuple[tuple[int, Value], ...]
    """(step, loss)."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that was tried and did not come to an end."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Results:
    """All that is known."""

    title: str = "Results"
    scores: tuple[Score, ...] = ()
    sizes: tuple[SystemSize, ...] = ()
    kept: tuple[KeptComponents, ...] = ()
    distances: tuple[Distances, ...] = ()
    curves: tuple[Curve, ...] = ()
    failures: tuple[Failure, ...] = ()
    tasks: Mapping[str, str] = field(default_factory=dict)
    """Titles of tasks that are not among the nine: `{"retrieval": "Translations found"}`."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """What it was run by and on: `command`, `model`, `commit`, `machine`, `versions`."""

    @property
    def systems(self) -> tuple[System, ...]:
        """All of them, once, in the order in which they are first named."""
        named = (self.scores, self.sizes, self.kept, self.distances, self.curves)
        return tuple(dict.fromkeys(each.system for part in named for each in part))

    @property
    def languages(self) -> tuple[str, ...]:
        """All codes that something is known of, sorted."""
        codes = {code for score in self.scores for code in score.languages}
        codes |= {each.language for each in (*self.kept, *self.curves) if each.language}
        return tuple(sorted(codes | {code for each in self.distances for code in each.languages}))

    def with_more(self, other: "Results") -> "Results":
        """Both together, under the title of the first."""
        return Results(
            title=self.title,
            scores=self.scores + other.scores,
            sizes=self.sizes + other.sizes,
            kept=self.kept + other.kept,
            distances=self.distances + other.distances,
            curves=self.curves + other.curves,
            failures=self.failures + other.failures,
            tasks={**other.tasks, **self.tasks},
            about={**other.about, **self.about},
        )


def dense_of(results: Results, system: System) -> System | None:
    """What a system was cut from: itself with nothing cut, else the dense model, else nothing."""
    uncut = [each for each in results.systems if not each.sparsity]
    own = (each for each in uncut if each.name == system.name)
    named = (each for each in uncut if each.name == "dense")
    return next(own, None) or next(named, None) or next(iter(uncut), None)


def number(value: Any) -> Value:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def mean(values: Iterable[Value]) -> Value:
    """Of those that are numbers; None of none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def main_score(scores: Scores) -> Value:
    """The one that counts: the first; of answers F1."""
    return scores["f1"] if "f1" in scores else next(iter(scores.values()), None)


def table_scores(scores: Scores) -> dict[str, Value]:
    """The scores that tables show: the main one, and of answers F1 and exact match."""
    if "exact" in scores:
        return {name: scores.get(name) for name in ("f1", "exact")}
    name = "f1" if "f1" in scores else next(iter(scores), None)
    return {} if name is None else {name: scores[name]}
