"""Results as values, and the one scoreboard that answers questions about them.

Results come from a study, a demo, single measurements or the paper. Tables, figures, the page and
a model's card all show the same `Results`, and ask it what a system is compared with and what its
means are. A missing number is None, never 0.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..averages import Scores, Value, mean_over_seeds

DENSE = "dense"
"""The name of the system that nothing was cut from."""

HALF = 0.5
"""The sparsity at which systems are compared where they have several sizes."""


@dataclass(frozen=True, slots=True)
class System:
    """A model that was made in some way, in one size: what a row of a table shows."""

    name: str
    """The same for all its sizes: `grad-shared`. Name and sparsity identify a system."""
    title: str = field(compare=False)
    sparsity: float | None = None
    """The fraction that was cut; None if nothing was, or nobody knows how much."""
    setting: str = field(default="", compare=False)
    """`shared`, `non-shared`, or nothing."""


@dataclass(frozen=True, slots=True)
class Score:
    """How a system did at a task, with one seed."""

    system: System
    task: str
    mean: Scores
    """The mean over languages."""
    languages: Mapping[str, Scores] = field(default_factory=dict)
    regime: str = "transfer"
    seed: int | None = None
    failed: str = ""
    """Why there are no numbers, if the attempt failed."""
    baseline: Mapping[str, Scores] = field(default_factory=dict)
    """What a guess without a model scores in each language, where that is known."""
    chosen: tuple[float, int] | None = None
    """The learning rate and the epochs that were the best of several on dev."""


@dataclass(frozen=True, slots=True)
class Training:
    """How long a system was trained with one seed, and how its held-out loss fell."""

    system: System
    seed: int | None
    steps: int
    examples: int
    """How many examples it saw, each as often as it was seen."""
    tokens: int | None
    """How many tokens; None if examples are single lines."""
    losses: tuple[tuple[int, Value], ...]
    """Pairs (step, held-out loss), the mean over languages."""


@dataclass(frozen=True, slots=True)
class Claim:
    """That one system does better than another, or at most `margin` points worse."""

    title: str
    better: tuple[str, float | None]
    """The name of a system, and its sparsity."""
    worse: tuple[str, float | None]
    regime: str = "transfer"
    tasks: tuple[str, ...] | None = None
    margin: float = 0.0
    paper: bool | None = None
    """Whether the paper says so."""


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
    """The 95 % interval of `faster`."""


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
    """None if all languages share it."""
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
    """Pairs (step, loss)."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that was tried and did not come to an end."""

    what: str
    why: str


@dataclass(frozen=True)
class Results:
    """All that was measured, and the answers that everything that shows it agrees on."""

    title: str = "Results"
    scores: tuple[Score, ...] = ()
    sizes: tuple[SystemSize, ...] = ()
    kept: tuple[KeptComponents, ...] = ()
    distances: tuple[Distances, ...] = ()
    curves: tuple[Curve, ...] = ()
    failures: tuple[Failure, ...] = ()
    trainings: tuple[Training, ...] = ()
    claims: tuple[Claim, ...] = ()
    """What the results are asked to show."""
    notes: tuple[str, ...] = ()
    """Sentences about all of them, such as what was left out."""
    tasks: Mapping[str, str] = field(default_factory=dict)
    """Titles of tasks that are not among the nine: `{"retrieval": "Translations found"}`."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """How the results were made: `command`, `model`, `commit`, `machine`, `versions`."""

    @cached_property
    def systems(self) -> tuple[System, ...]:
        """All systems, once each, in the order in which they are first named."""
        named = (self.scores, self.sizes, self.kept, self.distances, self.curves)
        return tuple(dict.fromkeys(each.system for part in named for each in part))

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The codes of all languages that have any result, sorted."""
        codes = {code for score in self.scores for code in score.languages}
        codes |= {each.language for each in (*self.kept, *self.curves) if each.language}
        return tuple(sorted(codes | {code for each in self.distances for code in each.languages}))

    def baseline(self, system: System, original: str = "") -> System | None:
        """Return the system that `system` is compared with; None if it is a baseline itself.

        This is the only rule there is: a system's own uncut size (0 % cut) comes first, then the
        system that is named dense, then the first system that is not cut. Whoever knows what
        `system` was cut from may give its name as `original`: it counts like the name dense, and
        `system` is then never taken for uncut.
        """
        uncut = [each for each in self.systems if not each.sparsity]
        names = (DENSE, original, original.rpartition("/")[2]) if original else (DENSE,)
        own = [each for each in uncut if each.name == system.name and each.sparsity == 0]
        dense = [each for name in names for each in uncut if each.name == name]
        first = [each for each in uncut if not original or each != system]
        found = next(iter((*own, *dense, *first)), None)
        return None if found == system else found

    def runs(self, system: System, task: str, regime: str) -> dict[int | None, Score]:
        """Return a system's scores at a task by seed; of several with one seed, the last."""
        return self._runs.get((system, task, regime), {})

    def over_seeds(
        self, system: System, task: str, regime: str, language: str | None = None
    ) -> dict[str, float]:
        """Return the mean over seeds of the scores that tables show, of all languages or of one.

        A seed counts if all these scores are numbers. The dict is empty if no seed does.
        """
        runs = self.runs(system, task, regime).values()
        scores = (each.mean if language is None else each.languages.get(language) for each in runs)
        return mean_over_seeds(table_scores(each) for each in scores if each)

    def mean(self, system: System, task: str, regime: str) -> Value:
        """Return a system's main score at a task: the mean over languages and seeds."""
        return main_score(self.over_seeds(system, task, regime))

    def by_language(self, system: System, task: str, regime: str) -> dict[str, Value]:
        """Return a system's main score in every language of a task: the mean over seeds."""
        runs = self.runs(system, task, regime).values()
        codes = dict.fromkeys(code for each in runs for code in each.languages)
        return {code: main_score(self.over_seeds(system, task, regime, code)) for code in codes}

    def nearest(self, sparsity: float, among: Iterable[System] | None = None) -> list[System]:
        """Return one size of each system: the one whose sparsity is nearest to the given one."""
        found: dict[str, System] = {}
        for each in self.systems if among is None else among:
            best = found.setdefault(each.name, each)
            found[each.name] = min(
                best, each, key=lambda one: (distance(one, sparsity), one.sparsity or 0)
            )
        return list(found.values())

    def size(self, system: System) -> SystemSize | None:
        """Return a system's size and speed: of several measurements, the first with a speed."""
        own = [each for each in self.sizes if each.system == system]
        return next((each for each in own if each.faster is not None), next(iter(own), None))

    def tried(self, system: System) -> tuple[tuple[str, str], ...]:
        """Return the tasks, with their regimes, that a system was tried on."""
        return tuple((task, regime) for own, task, regime in self._runs if own == system)

    @cached_property
    def _runs(self) -> dict[tuple[System, str, str], dict[int | None, Score]]:
        found: dict[tuple[System, str, str], dict[int | None, Score]] = {}
        for score in self.scores:
            found.setdefault((score.system, score.task, score.regime), {})[score.seed] = score
        return found

    def with_more(self, other: "Results") -> "Results":
        """Return both results together, under the title of the first."""
        return Results(
            title=self.title,
            scores=self.scores + other.scores,
            sizes=self.sizes + other.sizes,
            kept=self.kept + other.kept,
            distances=self.distances + other.distances,
            curves=self.curves + other.curves,
            failures=self.failures + other.failures,
            trainings=self.trainings + other.trainings,
            claims=self.claims + other.claims,
            notes=self.notes + other.notes,
            tasks={**other.tasks, **self.tasks},
            about={**other.about, **self.about},
        )


def distance(system: System, sparsity: float) -> float:
    """Return how far a system's sparsity is from the given one; 0 if it has none."""
    return 0.0 if system.sparsity is None else abs(system.sparsity - sparsity)


def main_score(scores: Scores) -> Value:
    """Return the score that counts: F1 if there is one, else the first."""
    return scores["f1"] if "f1" in scores else next(iter(scores.values()), None)


def table_scores(scores: Scores) -> dict[str, Value]:
    """Return the scores that tables show: the main one, or F1 and exact match of answers."""
    if "exact" in scores:
        return {name: scores.get(name) for name in ("f1", "exact")}
    name = "f1" if "f1" in scores else next(iter(scores), None)
    return {} if name is None else {name: scores[name]}
