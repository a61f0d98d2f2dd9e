"""Parse lines of JSON, as studies and demos write them, into results.

The keys of a line say what it is: a `task` is a score, a `curve` a training, `parameters` a size.
Whatever is missing or of another type is left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ...averages import Scores, Value, mean, number
from ...model.files.row_names import SHARED
from ..results import (
    Claim,
    Curve,
    Distances,
    Failure,
    KeptComponents,
    LayerWidths,
    Results,
    Score,
    System,
    SystemSize,
    Training,
)

Line = Mapping[str, Any]

TASKS = {"retrieval": "Translations found", "masked words": "Masked words guessed"}
"""The titles of what demos measure beside the nine tasks."""

FACTS = ("model", "command", "commit", "versions", "machine")


def parse_results(lines: Sequence[Line], title: str) -> Results:
    """Parse the lines of results into `Results`."""
    sizes = [line for line in lines if "parameters" in line]
    scores = [_score(line) for line in lines if "task" in line]
    # The model that all start from comes first; others were cut from it.
    whole = sizes[0] if sizes else {}
    return Results(
        title=title,
        scores=tuple(scores),
        sizes=tuple(parse_size(line) for line in sizes),
        kept=tuple(each for line in sizes for each in parse_kept(line, whole)),
        distances=tuple(each for line in sizes for each in _distances(line)),
        curves=tuple(_curves(line for line in lines if "curve" in line)),
        failures=tuple(_failure(score) for score in scores if score.failed),
        trainings=tuple(_training(line) for line in lines if "curve" in line and "steps" in line),
        claims=tuple(_claim(line) for line in lines if "claim" in line),
        notes=tuple(str(line["note"]) for line in lines if "note" in line),
        tasks={
            task: TASKS[task] for task in dict.fromkeys(s.task for s in scores) if task in TASKS
        },
        about=_about(lines),
    )


def parse_system(line: Line) -> System:
    """Return the system of a line."""
    name = str(line.get("system", "?"))
    title, setting = str(line.get("title") or name), str(line.get("setting") or "")
    return System(name, title, number(line.get("sparsity")), setting)


def parse_scores(found: Any) -> Scores:
    """Return numbers by name; an empty mapping for anything else."""
    return {str(k): number(v) for k, v in found.items()} if isinstance(found, Mapping) else {}


def parse_languages(found: Any) -> dict[str, Scores]:
    """Return scores by language; an empty mapping for anything else."""
    return {str(k): parse_scores(v) for k, v in found.items()} if isinstance(found, Mapping) else {}


def parse_size(line: Line) -> SystemSize:
    """Return the size and speed of a line; the speed may be nested, as in `polyprune measure`."""
    speed = line["speed"] if isinstance(line.get("speed"), Mapping) else line
    return SystemSize(
        parse_system(line),
        parameters=number(line.get("parameters")),
        layer_parameters=number(line.get("encoder_parameters")),
        bytes=number(line.get("bytes")),
        multiply_adds=number(line.get("multiply_adds")),
        sentences_per_second=number(speed.get("sentences_per_second")),
        gpu_sentences_per_second=number(line.get("gpu_sentences_per_second")),
        faster=number(speed.get("ratio")),
        low=number(speed.get("low")),
        high=number(speed.get("high")),
    )


def parse_kept(line: Line, first: Line) -> Iterator[KeptComponents]:
    """Yield what each row of gates keeps; what was there before is in the line or the first one."""
    whole = line["whole"] if isinstance(line.get("whole"), Mapping) else first
    rows = line.get("kept")
    if not isinstance(rows, Mapping):  # one shape alone
        rows = {line.get("language") or SHARED: line}
    before = _widths(whole)
    for row, widths in rows.items():
        kept = _widths(widths) if isinstance(widths, Mapping) else None
        if before and kept and len(kept.heads) == len(before.heads):
            language = None if row == SHARED else str(row)
            width = int(number(whole.get("head_width")) or 64)
            yield KeptComponents(parse_system(line), language, kept, before, width)


def _widths(found: Line) -> LayerWidths | None:
    heads, units, rank = (found.get(name) for name in ("heads", "units", "rank"))
    if not isinstance(heads, Sequence) or not isinstance(units, Sequence):
        return None
    counts = [number(each) for each in (*heads, *units, rank)]
    if len(heads) != len(units) or None in counts:
        return None
    whole = [int(each or 0) for each in counts]
    return LayerWidths(tuple(whole[: len(heads)]), tuple(whole[len(heads) : -1]), whole[-1])


def _score(line: Line) -> Score:
    seed = line.get("seed")
    return Score(
        parse_system(line),
        str(line["task"]),
        parse_scores(line.get("mean")),
        parse_languages(line.get("languages")),
        str(line.get("regime") or "transfer"),
        seed if isinstance(seed, int) else None,
        str(line.get("failed") or ""),
        parse_languages(line.get("baseline")),
        _chosen(line.get("tuning")),
    )


def _chosen(found: Any) -> tuple[float, int] | None:
    """Return the chosen learning rate and epochs, if there was a choice."""
    if not isinstance(found, Mapping) or not isinstance(found.get("tried"), Sequence):
        return None
    rate, epochs = number(found.get("learning_rate")), number(found.get("epochs"))
    if len(found["tried"]) < 2 or rate is None or epochs is None:
        return None
    return rate, int(epochs)


def _training(line: Line) -> Training:
    seed, tokens = line.get("seed"), number(line.get("tokens"))
    curves = list(parse_curves(parse_system(line), line["curve"]))
    return Training(
        parse_system(line),
        seed if isinstance(seed, int) else None,
        int(number(line.get("steps")) or 0),
        int(number(line.get("examples")) or 0),
        None if tokens is None else int(tokens),
        curves[0].points if curves else (),
    )


def _claim(line: Line) -> Claim:
    better, worse = (
        (str(side.get("system", "?")), number(side.get("sparsity")))
        for side in (line.get("better") or {}, line.get("worse") or {})
    )
    tasks, paper = line.get("tasks"), line.get("paper")
    return Claim(
        str(line["claim"]),
        better,
        worse,
        str(line.get("regime") or "transfer"),
        tuple(map(str, tasks)) if isinstance(tasks, Sequence) else None,
        number(line.get("margin")) or 0.0,
        paper if isinstance(paper, bool) else None,
    )


def _failure(score: Score) -> Failure:
    seed = "" if score.seed is None else f", seed {score.seed}"
    cut = "" if score.system.sparsity is None else f" {score.system.sparsity:.0%}"
    return Failure(f"{score.system.title}{cut}, {score.task}, {score.regime}{seed}", score.failed)


def _distances(line: Line) -> Iterator[Distances]:
    found = line.get("distances")
    if not isinstance(found, Mapping):
        return
    codes, matrix = found.get("languages"), found.get("matrix")
    if not isinstance(codes, Sequence) or not isinstance(matrix, Sequence):
        return
    rows = tuple(tuple(v for each in row if (v := number(each)) is not None) for row in matrix)
    if len(rows) == len(codes) and all(len(row) == len(codes) for row in rows):
        yield Distances(parse_system(line), tuple(map(str, codes)), rows)


def _curves(lines: Iterable[Line]) -> Iterator[Curve]:
    """Yield the curves of each system's first seed: the mean over languages, and each one."""

    def key(line: Line) -> tuple[str, float]:
        return str(line.get("system")), number(line.get("sparsity")) or 0.0

    ordered = sorted(lines, key=lambda line: (*key(line), number(line.get("seed")) or 0))
    for _, same in groupby(ordered, key):
        line = next(same)
        yield from parse_curves(parse_system(line), line["curve"])


def parse_curves(system: System, entries: Any) -> Iterator[Curve]:
    """Yield curves of held-out losses from the entries of a training log."""
    steps: list[tuple[int, dict[str, Value]]] = []
    for entry in entries if isinstance(entries, Sequence) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("held_out"), Mapping):
            losses = {str(code): number(loss) for code, loss in entry["held_out"].items()}
            steps.append((int(number(entry.get("step")) or 0), losses))
    if not steps:
        return
    yield Curve(system, None, tuple((step, mean(own.values())) for step, own in steps))
    for code in dict.fromkeys(code for _, own in steps for code in own):
        yield Curve(system, code, tuple((step, own.get(code)) for step, own in steps))


def _about(lines: Sequence[Line]) -> dict[str, Any]:
    """Return the facts of a run: the first value of each."""
    found: dict[str, Any] = {}
    for line in lines:
        # A dense model's line has no model of its own; what all start from is a fact of the run.
        for name in FACTS:
            if line.get(name) and name not in found:
                found[name] = line[name]
    return found
