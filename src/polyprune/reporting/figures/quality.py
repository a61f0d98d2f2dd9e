"""Figures of what pruning costs and what it is worth: quality, size and speed."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import StatisticsError, correlation

from ...averages import Value
from ...corpora.languages import language
from ...errors import UnknownName
from ..display import SPACE, percent, task_title
from ..results import HALF, Results, System, SystemSize
from .comparison import (
    PREFERRED_REGIMES,
    Quality,
    average_quality,
    by_name,
    references,
    relative_loss,
    scored_tasks,
    sparsity_axis,
    task_quality,
)
from .figure import Axis, Figure, Plot, Point, Series

TOGETHER = 2
"""Up to so many systems share a frame in which every language is a mark."""

Losses = Mapping[System, Mapping[str, Value]]
"""Relative losses in percent, by system and language."""


def loss_by_corpus_size(results: Results) -> Figure | None:
    """Draw what each language loses against how much text there was of it."""
    for task in scored_tasks(results):
        found = [(regime, _losses(results, task, regime)) for regime in PREFERRED_REGIMES]
        regime, losses = max(found, key=lambda each: len(each[1]))
        if losses:
            return losses_figure(losses, task_title(results, task), regime)
    return None


def losses_figure(losses: Losses, task: str, regime: str) -> Figure:
    """Draw losses of languages, as computed from results or printed in the paper."""
    series = {system: _marks(system, own) for system, own in losses.items()}
    x = Axis("CC-100 text (log₂ of bytes)")
    y = Axis(f"Relative loss at {task} (%)")
    if len(series) <= TOGETHER:
        panels = [Plot("", x, y, tuple(_with_r(each) for each in series.values()))]
    else:
        panels = [Plot(each.title, x, y, (each,), _r_of(each)) for each in series.values()]
    return Figure(
        "loss-by-corpus-size",
        "What each language loses, against how much text there was of it",
        f"Relative loss of each language of {task} ({regime}) at the sparsity nearest to "
        f"50{SPACE}%, against the size of its text in CC-100; r is Pearson's.",
        tuple(panels),
    )


def pearson(points: Iterable[Point]) -> Value:
    """Return Pearson's r of the points that are numbers; None if there are fewer than three."""
    known = [(p.x, p.y) for p in points if p.y is not None]
    if len(known) < 3:
        return None
    try:
        return correlation(*zip(*known, strict=True))
    except StatisticsError:  # all are the same along one side
        return None


def by_sparsity(results: Results) -> Figure | None:
    """Draw quality, parameters and throughput against sparsity."""
    systems = [each for each in results.systems if each.sparsity and results.baseline(each)]
    systems += references(results, systems)
    quality = _one_task_or_average(results, systems)
    measured: list[tuple[str, Axis, Mapping[System, Value]]] = []
    if quality:
        measured.append(("Quality", Axis(quality.title), quality.values))
    for title, label, value_of in QUANTITIES:
        sizes = {system: results.size(system) for system in systems}
        values = {system: value_of(size) for system, size in sizes.items() if size}
        measured.append((title, Axis(label, low=0.0), values))
    panels = [_against_sparsity(title, y, values, systems) for title, y, values in measured]
    there = tuple(panel for panel in panels if any(s.style != "level" for s in panel.series))
    regime = f" Quality is with {quality.regime}." if quality and _has_both(results) else ""
    return Figure(
        "by-sparsity",
        "Quality, parameters and speed against sparsity",
        f"Quality, parameters and sentences per second against sparsity.{regime}",
        there,
    )


QUANTITIES: tuple[tuple[str, str, Callable[[SystemSize], Value]], ...] = (
    ("Parameters", "Parameters (M)", lambda size: size.parameters and size.parameters / 1e6),
    ("Speed, CPU", "Sentences per second", lambda size: size.sentences_per_second),
    ("Speed, GPU", "Sentences per second", lambda size: size.gpu_sentences_per_second),
)
"""The panels of sizes and speeds: title, label and value."""


def quality_by_speed(results: Results) -> Figure | None:
    """Draw quality against speed: what one pays, and what one gets for it."""
    timed = [size.system for size in results.sizes if size.faster is not None]
    cut = [system for system in timed if results.baseline(system)]
    baselines = references(results, cut)
    quality = average_quality(results, [*cut, *baselines])
    if not quality or not any(system in quality.values for system in cut):
        return None
    lines, others = _own_and_others(cut, baselines)
    series = [_by_speed(results, sizes, quality) for sizes in by_name(lines).values()]
    for dense in others:
        if dense in quality.values:
            at_one = Point(1.0, quality.values[dense])
            series.append(Series(dense.title, (at_one,), "marks", colour=dense.name))
    x = Axis("Times as fast as the dense model")
    panel = Plot("", x, Axis(quality.title), tuple(each for each in series if each.points))
    regime = f" Quality is with {quality.regime}." if _has_both(results) else ""
    return Figure(
        "quality-by-speed",
        "Quality against measured speed",
        "Quality against measured speed, with its 95 % interval where one was measured; a line is "
        f"one method in its sizes, each marked with how much was cut.{regime}",
        (panel,),
    )


def _losses(results: Results, task: str, regime: str) -> dict[System, dict[str, Value]]:
    scores = {each: results.by_language(each, task, regime) for each in results.systems}
    pairs = {each: dense for each in scores if scores[each] and (dense := results.baseline(each))}
    found = {}
    for system in results.nearest(HALF, pairs):
        dense = scores[pairs[system]]
        losses = {code: relative_loss(dense.get(code), v) for code, v in scores[system].items()}
        if any(value is not None for value in losses.values()):
            found[system] = losses
    return found


def _marks(system: System, losses: Mapping[str, Value]) -> Series:
    """Return one mark per language; languages without text in CC-100 have no place."""
    points = []
    for code, value in losses.items():
        try:
            points.append(Point(math.log2(language(code).bytes), value, label=code))
        except UnknownName:
            continue
    return Series(system.title, tuple(points), "marks", colour=system.name)


def _with_r(series: Series) -> Series:
    """Return the series with its correlation in the legend."""
    title = ", ".join(word for word in (series.title, _r_of(series)) if word)
    return Series(title, series.points, series.style, series.colour)


def _r_of(series: Series) -> str:
    r = pearson(series.points)
    return "" if r is None else f"r = {r:.3f}".replace("-", "−")


def _one_task_or_average(results: Results, systems: Sequence[System]) -> Quality | None:
    first = next(iter(scored_tasks(results)), "")
    if first == "xnli":
        return task_quality(results, first, systems)
    return average_quality(results, systems) or task_quality(results, first, systems)


def _own_and_others(
    cut: Sequence[System], baselines: Sequence[System]
) -> tuple[list[System], list[System]]:
    """Return cut systems with their own uncut sizes, and the baselines that have other names."""
    names = {each.name for each in cut}
    own = [each for each in baselines if each.name in names]
    return [*cut, *own], [each for each in baselines if each not in own]


def _against_sparsity(
    title: str, y: Axis, values: Mapping[System, Value], systems: Sequence[System]
) -> Plot:
    """Return a line per system, from its own uncut size on, and a level per other baseline."""
    cut = [each for each in systems if each.sparsity]
    lines, others = _own_and_others(cut, [each for each in systems if each not in cut])
    series = []
    for sizes in by_name(lines).values():
        points = [Point(100 * (s.sparsity or 0.0), values.get(s)) for s in sizes]
        if any(point.y is not None for point in points):
            series.append(Series(sizes[0].title, tuple(points), colour=sizes[0].name))
    for dense in others:
        if values.get(dense) is not None:
            level = Point(0.0, values[dense])
            series.append(Series(dense.title, (level,), "level", colour=dense.name))
    return Plot(title, sparsity_axis("Sparsity (%)", series), y, tuple(series))


def _by_speed(results: Results, sizes: Sequence[System], quality: Quality) -> Series:
    points = []
    for system in sizes:
        size = results.size(system)
        if size and size.faster is not None:
            cut = "" if system.sparsity is None else percent(system.sparsity)
            value = quality.values.get(system)
            points.append(Point(size.faster, value, label=cut, left=size.low, right=size.high))
    known = tuple(point for point in points if point.y is not None)
    return Series(sizes[0].title, known, colour=sizes[0].name)


def _has_both(results: Results) -> bool:
    return len({score.regime for score in results.scores}) > 1
