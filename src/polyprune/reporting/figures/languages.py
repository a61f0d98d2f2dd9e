"""Figures of distances between languages' subnetworks, and of held-out loss over training."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...averages import Value, mean, number
from ..display import NO_FAMILY, language_family, system_title
from ..results import HALF, Curve, Distances, Results, System
from ..similarity import order_by_group
from .figure import Axis, Figure, Matrix, Plot, Point, Series


def distances(results: Results) -> list[Figure]:
    """Draw how much the subnetworks of languages differ, one figure per system."""
    found = {each.system: each for each in results.distances if _differ(each)}
    chosen = [found[system] for system in results.nearest(HALF, found)]
    figures = []
    for each in chosen:
        name = "distances" if not figures else f"distances-{_in_file_names(each.system.name)}"
        figures.append(
            Figure(
                name,
                f"How much the subnetworks of languages differ: {system_title(each.system)}",
                "Hamming distance between the subnetworks of languages: the share of gates that "
                f"are open in one and closed in the other ({system_title(each.system)}). Families "
                "stand together, the largest first, and within them who is like whom.",
                (_by_family(each),),
            )
        )
    return figures


def held_out_loss(results: Results) -> Figure | None:
    """Draw held-out loss over training; if there is one system, also by language."""
    curves: dict[System, list[Curve]] = {}
    for curve in results.curves:
        curves.setdefault(curve.system, []).append(curve)
    series = [_mean_curve(system, own) for system, own in curves.items()]
    if len(curves) == 1:
        (own,) = curves.values()
        series += [_one_language(curve) for curve in own if curve.language]
    panel = Plot("", Axis("Training step"), Axis("Held-out loss"), tuple(series))
    return Figure(
        "held-out-loss",
        "Held-out loss over training",
        "Loss on text that is held out, over training: the mean over languages"
        + (", and thinly each language." if any(each.faint for each in series) else "."),
        (panel,),
    )


def _differ(each: Distances) -> bool:
    """Tell whether any two languages differ: shared subnetworks do not."""
    return any(number(value) for row in each.matrix for value in row)


def _by_family(each: Distances) -> Matrix:
    families = [language_family(code) for code in each.languages]
    matrix = [[number(value) for value in row] for row in each.matrix]
    order = order_by_group(matrix, families, last=NO_FAMILY)
    return Matrix(
        "",
        tuple(each.languages[i] for i in order),
        tuple(families[i] for i in order),
        tuple(tuple(matrix[i][j] for j in order) for i in order),
        "Share of gates that differ",
    )


def _mean_curve(system: System, own: Sequence[Curve]) -> Series:
    """Return the given mean curve, or else the mean over all languages."""
    given = next((curve for curve in own if curve.language is None), None)
    if given:
        points = {step: number(loss) for step, loss in given.points}
    else:
        losses: dict[int, list[Value]] = {}
        for curve in own:
            for step, loss in curve.points:
                losses.setdefault(step, []).append(number(loss))
        # Of fewer languages than there are it would be the mean of something else.
        points = {step: _of_all(values, len(own)) for step, values in losses.items()}
    return Series(system_title(system), _points(points), colour=system.name if len(own) > 1 else "")


def _of_all(values: Sequence[Value], count: int) -> Value:
    return mean(values) if len(values) == count and None not in values else None


def _one_language(curve: Curve) -> Series:
    points = _points({step: number(loss) for step, loss in curve.points})
    last = max((i for i, point in enumerate(points) if point.y is not None), default=None)
    if last is not None:
        named = replace(points[last], label=curve.language or "")
        points = (*points[:last], named, *points[last + 1 :])
    return Series(curve.language or "", points, faint=True)


def _points(losses: Mapping[int, Value]) -> tuple[Point, ...]:
    return tuple(Point(float(step), loss) for step, loss in sorted(losses.items()))


def _in_file_names(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "other"
