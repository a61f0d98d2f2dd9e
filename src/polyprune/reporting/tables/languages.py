"""Tables of one task, language by language: the paper's Table 5, and what each language lost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...averages import Value, mean, number, spread
from ..display import language_name, system_title, task_title
from ..results import Results, System, main_score
from .cells import common_sparsity, complete_seeds, mark_best, score_cell
from .layout import (
    bold_note,
    paper_cells,
    regime_heading,
    row_order,
    scored_regimes,
    spread_note,
    system_cells,
)
from .paper_values import PaperValues
from .table import Table, TableCell, TableRow

PAPER_ORDER = (
    "en", "fr", "es", "de", "el", "bg", "ru", "tr", "ar", "vi", "th", "zh", "hi", "sw", "ur",
)  # fmt: skip
"""The languages of XNLI in the order of the paper."""

SIDEWAYS = 16
"""With more languages than this, each is a row."""

BOTH = 4
"""With more systems than this, only losses are shown: `languages-` has the scores."""

AVERAGE = "average"

BySeed = Mapping[int | None, float]
"""The main score of a system in one language, by seed."""


@dataclass(frozen=True, slots=True)
class TaskByLanguage:
    """A task in all regimes that have scores of single languages."""

    results: Results
    name: str
    languages: tuple[str, ...]
    regimes: Mapping[str, tuple[System, ...]]
    """The systems of each regime."""

    @property
    def title(self) -> str:
        """The title of the task."""
        return task_title(self.results, self.name)

    @property
    def systems(self) -> tuple[System, ...]:
        """The systems of all regimes."""
        return row_order(each for own in self.regimes.values() for each in own)

    @property
    def caption(self) -> str:
        """Which of two scores is shown."""
        scores = (score for score in self.results.scores if score.task == self.name)
        answers = any("exact" in score.mean for score in scores if score.languages)
        return "F1, of F1 and EM." if answers else ""

    def heading(self, regime: str) -> str:
        """Return the heading above the rows of a regime."""
        return regime_heading(regime, [self.name])

    def by_seed(self, system: System, regime: str, code: str) -> BySeed:
        """Return a system's score in a language with each seed that has one."""
        runs = self.results.runs(system, self.name, regime)
        seeds = complete_seeds({seed: each.languages.get(code, {}) for seed, each in runs.items()})
        found = {seed: main_score(scores) for seed, scores in seeds.items()}
        return {seed: value for seed, value in found.items() if value is not None}


def task_by_language(results: Results, task: str) -> TaskByLanguage | None:
    """Return what is known of a task language by language, or None if nothing is."""
    own = [score for score in results.scores if score.task == task and score.languages]
    regimes = {
        regime: row_order(score.system for score in own if score.regime == regime)
        for regime in scored_regimes(results)
    }
    codes = {code for score in own for code in score.languages}
    known = {regime: systems for regime, systems in regimes.items() if systems}
    return TaskByLanguage(results, task, language_order(codes), known) if own else None


def language_order(codes: Iterable[str]) -> tuple[str, ...]:
    """Return codes in the paper's order if all are the paper's, else sorted."""
    codes = set(codes)
    if codes <= set(PAPER_ORDER):
        return tuple(code for code in PAPER_ORDER if code in codes)
    return tuple(sorted(codes))


def languages_table(task: TaskByLanguage, paper: PaperValues) -> Table:
    """One row per system and one column per language (Table 5), or turned round if many."""
    name = f"languages-{task.name}"
    size = common_sparsity(task.systems)
    columns = (*task.languages, AVERAGE)
    grids: dict[str, dict[System, list[TableCell]]] = {}
    quoted = set()
    for regime, systems in task.regimes.items():
        plain = [_scores(task, paper, regime, system) for system in systems]
        grids[regime] = dict(zip(systems, mark_best(systems, plain, size), strict=True))
        for system, line in grids[regime].items():
            quoted |= paper_cells(paper, system, columns, line)
    lines = [line for grid in grids.values() for line in grid.values()]
    upright = len(task.languages) > SIDEWAYS
    return Table(
        name,
        f"{task.title} by language",
        ("code", "language", *map(system_title, task.systems))
        if upright
        else ("system", "cut %", *columns),
        tuple(_upright(task, grids, columns) if upright else _sideways(task, grids)),
        task.caption,
        (*bold_note([size], lines), *spread_note(lines)),
        naming=2,
        paper_notes=paper.notes(name, quoted),
    )


Grids = Mapping[str, Mapping[System, Sequence[TableCell]]]


def _sideways(task: TaskByLanguage, grids: Grids) -> Iterable[TableRow]:
    for regime, grid in grids.items():
        for system, line in grid.items():
            yield TableRow((*system_cells(system), *line), task.heading(regime))


def _upright(task: TaskByLanguage, grids: Grids, columns: Sequence[str]) -> Iterable[TableRow]:
    nothing = [TableCell((None,))] * len(columns)
    for regime, grid in grids.items():
        lines = [grid.get(system, nothing) for system in task.systems]
        for i, code in enumerate(columns):
            if any(line[i].values != (None,) for line in lines):
                cells = (line[i] for line in lines)
                yield TableRow((*_language(code), *cells), task.heading(regime))


def _language(code: str) -> tuple[TableCell, TableCell]:
    name = "" if code == AVERAGE else language_name(code)
    return TableCell(text=code), TableCell(text=name if name != code else "")


def _scores(
    task: TaskByLanguage, paper: PaperValues, regime: str, system: System
) -> list[TableCell]:
    """One cell per language, without its spread: fifteen spreads would hide the scores."""
    line = []
    scores = task.results.by_language(system, task.name, regime)
    for code in task.languages:
        printed = number(main_score(paper.language(system, task.name, regime, code)))
        line.append(TableCell((scores.get(code),), paper=() if printed is None else (printed,)))
    runs = task.results.runs(system, task.name, regime)
    own = {seed: {"score": main_score(each.mean)} for seed, each in runs.items() if each.languages}
    printed = number(main_score(paper.mean(system, task.name, regime)))
    return [*line, replace(score_cell(own), paper=() if printed is None else (printed,))]


def losses_table(task: TaskByLanguage) -> Table | None:
    """Points that each language lost to the baseline, worst first; None without a baseline."""
    found = {regime: _compared(task, regime) for regime in task.regimes}
    regimes = {regime: pairs for regime, pairs in found.items() if pairs}
    every = {system: dense for pairs in regimes.values() for system, dense in pairs.items()}
    if not every:
        return None
    pairs = {system: every[system] for system in row_order(every)}
    scores = len(pairs) <= BOTH
    columns = []
    for dense, systems in _by_baseline(pairs).items():
        columns.append(dense.title if dense.sparsity is None else system_title(dense))
        for title in map(system_title, systems):
            columns += [title, f"{title}: lost"] if scores else [title]
    rows = [row for regime in regimes for row in _lost_rows(task, regime, pairs, scores)]
    beside = "scores" if scores else "the uncut model's score"
    what = f"Points lost to the uncut model, beside {beside}; worst first."
    return Table(
        f"losses-{task.name}",
        f"What each language lost: {task.title}",
        ("code", "language", *columns),
        tuple(rows),
        f"{what} {task.caption}".strip(),
        spread_note([row.cells for row in rows]),
        naming=2,
    )


def _compared(task: TaskByLanguage, regime: str) -> dict[System, System]:
    """Return the systems of a regime whose baseline was tried in it too, with that baseline."""
    systems = task.regimes[regime]
    pairs = {system: task.results.baseline(system) for system in systems}
    return {system: dense for system, dense in pairs.items() if dense in systems and dense}


def _by_baseline(pairs: Mapping[System, System]) -> dict[System, list[System]]:
    """Return the systems that are compared with each baseline."""
    found: dict[System, list[System]] = {}
    for system, dense in pairs.items():
        found.setdefault(dense, []).append(system)
    return found


def _lost_rows(
    task: TaskByLanguage, regime: str, pairs: Mapping[System, System], scores: bool
) -> list[TableRow]:
    found: list[tuple[Value, TableRow]] = []
    for code in task.languages:
        cells, losses = [], []
        for dense, systems in _by_baseline(pairs).items():
            before = task.by_seed(dense, regime, code)
            cells.append(TableCell((mean(before.values()),)))
            for system in systems:
                after = task.by_seed(system, regime, code)
                lost = _lost(before, after)
                losses.append(lost.values[0])
                cells += [TableCell((mean(after.values()),)), lost] if scores else [lost]
        if any(cell.values[0] is not None for cell in cells):
            row = TableRow((*_language(code), *cells), task.heading(regime))
            found.append((mean(losses), row))
    # Sorting keeps the order of languages among equals, and puts what is unknown last.
    return [row for _, row in sorted(found, key=lambda each: _worst(each[0]))]


def _worst(loss: Value) -> tuple[bool, float]:
    return (True, 0.0) if loss is None else (False, -loss)


def _lost(before: BySeed, after: BySeed) -> TableCell:
    """Return the difference of two means; its spread only if both have the same seeds."""
    was, now = mean(before.values()), mean(after.values())
    if was is None or now is None:
        return TableCell((None,))
    paired = before.keys() == after.keys()
    lost = [before[seed] - after[seed] for seed in before] if paired else []
    return TableCell((was - now,), spread=spread(lost))
