"""Tables of one task, language by language: the paper's Table 5, and what each language lost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from ..display import language_name, system_title, task_title
from ..results import Results, Score, Scores, System, Value, main_score, mean, number
from .cells import DENSE, common_sparsity, mark_best, score_cell, scores_by_seed
from .paper_values import PaperValues
from .table import Table, TableCell, TableRow
from .tasks import (
    bold_note,
    paper_cells,
    regime_heading,
    row_order,
    scored_regimes,
    spread_note,
    system_cells,
)

PAPER_ORDER = (
    "en", "fr", "es", "de", "el", "bg", "ru", "tr", "ar", "vi", "th", "zh", "hi", "sw", "ur",
)  # fmt: skip
"""Of the languages of XNLI."""

SIDEWAYS = 16
"""With more languages than this, each is a row."""

BOTH = 4
"""With more systems than this, only what was lost is shown: `languages-` has the scores."""

AVERAGE = "average"


@dataclass(frozen=True, slots=True)
class TaskByLanguage:
    """A task in all regimes that have scores of single languages."""

    name: str
    title: str
    languages: tuple[str, ...]
    regimes: Mapping[str, Mapping[System, Mapping[int | None, Score]]]
    headings: Mapping[str, str]
    answers: bool

    @property
    def systems(self) -> tuple[System, ...]:
        """Those of all regimes."""
        return row_order(each for own in self.regimes.values() for each in own)

    @property
    def caption(self) -> str:
        """Which of two scores is shown."""
        return "F1, of F1 and EM." if self.answers else ""


def task_by_language(results: Results, task: str) -> TaskByLanguage | None:
    """All that is known of a task, language by language, or None if nothing is."""
    regimes: dict[str, dict[System, dict[int | None, Score]]] = {}
    for (regime, system, name), seeds in scores_by_seed(results.scores).items():
        own = {seed: score for seed, score in seeds.items() if score.languages}
        if name == task and own:
            regimes.setdefault(regime, {})[system] = own
    if not regimes:
        return None
    every = [s for own in regimes.values() for seeds in own.values() for s in seeds.values()]
    order = [regime for regime in scored_regimes(results) if regime in regimes]
    return TaskByLanguage(
        task,
        task_title(results, task),
        language_order({code for score in every for code in score.languages}),
        {regime: {s: regimes[regime][s] for s in row_order(regimes[regime])} for regime in order},
        {regime: regime_heading(regime, [task]) for regime in order},
        any("exact" in score.mean for score in every),
    )


def language_order(codes: Iterable[str]) -> tuple[str, ...]:
    """As the paper has them where all are the paper's, else by code."""
    codes = set(codes)
    if codes <= set(PAPER_ORDER):
        return tuple(code for code in PAPER_ORDER if code in codes)
    return tuple(sorted(codes))


def languages_table(task: TaskByLanguage, quotes: PaperValues) -> Table:
    """A row a system and a column a language (Table 5), or the other way round if many."""
    name = f"languages-{task.name}"
    size = common_sparsity(task.systems)
    columns = (*task.languages, AVERAGE)
    grids: dict[str, dict[System, list[TableCell]]] = {}
    touched = set()
    for regime, own in task.regimes.items():
        plain = [_scores(task, quotes, regime, system) for system in own]
        marked = mark_best(list(own), plain, size)
        grids[regime] = dict(zip(own, marked, strict=True))
        for system, line in grids[regime].items():
            touched |= paper_cells(quotes, system, columns, line)
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
        (*bold_note([size], lines), *spread_note(lines), *quotes.notes(name, touched)),
        naming=2,
    )


Grids = Mapping[str, Mapping[System, Sequence[TableCell]]]


def _sideways(task: TaskByLanguage, grids: Grids) -> Iterable[TableRow]:
    for regime, grid in grids.items():
        for system, line in grid.items():
            yield TableRow((*system_cells(system), *line), task.headings[regime])


def _upright(task: TaskByLanguage, grids: Grids, columns: Sequence[str]) -> Iterable[TableRow]:
    nothing = [TableCell((None,))] * len(columns)
    for regime, grid in grids.items():
        lines = [grid.get(system, nothing) for system in task.systems]
        for i, code in enumerate(columns):
            if any(line[i].values != (None,) for line in lines):
                cells = (line[i] for line in lines)
                yield TableRow((*_language(code), *cells), task.headings[regime])


def _language(code: str) -> tuple[TableCell, TableCell]:
    name = "" if code == AVERAGE else language_name(code)
    return TableCell(text=code), TableCell(text=name if name != code else "")


def _scores(
    task: TaskByLanguage, quotes: PaperValues, regime: str, system: System
) -> list[TableCell]:
    """A cell a language, without its deviation, of which fifteen would hide the scores."""
    own = task.regimes[regime][system]
    line = []
    for code in task.languages:
        quoted = _value(quotes.of_language(system, task.name, regime, code))
        value = mean(_by_seed(own, code).values())
        line.append(TableCell((value,), paper=() if quoted is None else (quoted,)))
    average = score_cell({seed: _main(score.mean) for seed, score in own.items()})
    quoted = _value(quotes.of(system, task.name, regime))
    return [*line, replace(average, paper=() if quoted is None else (quoted,))]


def losses_table(task: TaskByLanguage) -> Table | None:
    """What each language lost to the dense model, worst first; None without a dense model."""
    regimes = {
        regime: own
        for regime, own in task.regimes.items()
        if len(own) > 1 and any(system.name == DENSE for system in own)
    }
    others = row_order(s for own in regimes.values() for s in own if s.name != DENSE)
    if not others:
        return None
    scores = len(others) <= BOTH
    rows = [row for regime in regimes for row in _lost_rows(task, regime, others, scores)]
    dense = next(system for own in regimes.values() for system in own if system.name == DENSE)
    columns = []
    for system in others:
        columns += [system_title(system)] if scores else []
        columns += [f"{system_title(system)}: lost" if scores else system_title(system)]
    beside = "scores" if scores else "the dense model's score"
    what = f"Points lost to the dense model, beside {beside}; worst first."
    return Table(
        f"losses-{task.name}",
        f"What each language lost: {task.title}",
        ("code", "language", dense.title, *columns),
        tuple(rows),
        f"{what} {task.caption}".strip(),
        spread_note([row.cells for row in rows]),
        naming=2,
    )


def _lost_rows(
    task: TaskByLanguage, regime: str, others: Sequence[System], scores: bool
) -> list[TableRow]:
    own = task.regimes[regime]
    dense = next(seeds for system, seeds in own.items() if system.name == DENSE)
    found: list[tuple[Value, TableRow]] = []
    for code in task.languages:
        before = _by_seed(dense, code)
        cells, losses = [], []
        for system in others:
            after = _by_seed(own.get(system, {}), code)
            lost = _lost(before, after)
            losses.append(lost.values[0])
            cells += [TableCell((mean(after.values()),))] if scores else []
            cells.append(lost)
        if before or any(cell.values[0] is not None for cell in cells):
            first = TableCell((mean(before.values()),))
            row = TableRow((*_language(code), first, *cells), task.headings[regime])
            found.append((mean(losses), row))
    # Sorting keeps the order of languages among equals, and puts what is unknown last.
    return [row for _, row in sorted(found, key=lambda each: _worst(each[0]))]


def _worst(loss: Value) -> tuple[bool, float]:
    return (True, 0.0) if loss is None else (False, -loss)


def _lost(before: Mapping[int | None, float], after: Mapping[int | None, float]) -> TableCell:
    """Between the means that are shown; its deviation only if both have the same seeds."""
    if not before or not after:
        return TableCell((None,))
    loss = fmean(before.values()) - fmean(after.values())
    paired = before.keys() == after.keys() and len(before) > 1
    spread = stdev(before[seed] - after[seed] for seed in before) if paired else None
    return TableCell((loss,), spread=spread)


def _by_seed(seeds: Mapping[int | None, Score], code: str) -> dict[int | None, float]:
    """The score of a language with each seed that has one."""
    found = {seed: _value(score.languages.get(code, {})) for seed, score in seeds.items()}
    return {seed: value for seed, value in found.items() if value is not None}


def _value(scores: Scores) -> Value:
    return number(main_score(scores))


def _main(scores: Scores) -> Scores:
    return {"score": main_score(scores)} if scores else {}
