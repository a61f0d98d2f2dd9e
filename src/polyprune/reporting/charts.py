"""Charts as HTML and SVG: nothing to load, and every one of them can be read aloud."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .found import NOTHING, family_of, name_of, percent, shown, text
from .style import FAMILIES

Value = float | None
TOPS = (5, 10, 20, 50, 100)
"""Where a scale of percent may end."""


@dataclass(frozen=True, slots=True)
class Series:
    """What was measured of one model, language by language."""

    kind: str
    """`dense`, `pruned` or `recovered`, which says how it is drawn."""
    title: str
    values: Mapping[str, Value]


def dots(what: str, series: Sequence[Series]) -> str:
    """A line a language with a mark a model, those that lost most on top, coloured by family."""
    codes = by_loss(series)
    families = sorted({family_of(code) for code in codes})
    top = scale_end([value for each in series for value in each.values.values()])
    rows = "".join(_row(code, series, families, top) for code in codes)
    marks = "".join(
        f'<li><span class="mark {each.kind}"></span>{text(each.title)}</li>' for each in series
    )
    swatches = "".join(
        f'<li><span class="swatch" style="color:{colour(family, families)}"></span>'
        f"{text(family)}</li>"
        for family in families
    )
    ticks = "".join(
        f'<span style="left:{share}%">{shown(top * share / 100, "g")}</span>'
        for share in (0, 50, 100)
    )
    return (
        f'<figure><ul class="legend" aria-label="Marks">{marks}</ul>'
        f'<ul class="legend" aria-label="Families">{swatches}</ul>'
        f'<ul class="dots">{rows}<li aria-hidden="true"><span></span>'
        f'<span class="axis">{ticks}</span><span class="numbers"></span></li></ul>'
        f"<figcaption>{text(what)}</figcaption></figure>"
    )


def by_loss(series: Sequence[Series]) -> list[str]:
    """Languages, those first that lost most from the first to the second; then unknown ones."""
    first, second = series[0].values, series[min(1, len(series) - 1)].values

    def lost(code: str) -> tuple[bool, float, str]:
        before, after = first.get(code), second.get(code)
        if before is None or after is None:
            return True, 0.0, name_of(code)
        return False, after - before, name_of(code)

    return sorted({code for each in series for code in each.values}, key=lost)


def scale_end(values: Sequence[Value]) -> int:
    """The round number that all percentages fit below."""
    highest = max((value for value in values if value is not None), default=0.0)
    return next((top for top in TOPS if highest <= top), TOPS[-1])


def colour(family: str, families: Sequence[str]) -> str:
    """Of a family, in both schemes."""
    return f"var(--family-{families.index(family) % FAMILIES})"


def _row(code: str, series: Sequence[Series], families: Sequence[str], top: int) -> str:
    family, known = family_of(code), [(each, each.values.get(code)) for each in series]
    marks = "".join(
        f'<span class="mark {each.kind}" style="left:{100 * value / top:.2f}%"></span>'
        for each, value in known
        if value is not None
    )
    ends = [value for _, value in known if value is not None]
    between = ""
    if len(ends) > 1:
        low, high = 100 * min(ends) / top, 100 * max(ends) / top
        between = f'<span class="span" style="left:{low:.2f}%;width:{high - low:.2f}%"></span>'
    numbers = " → ".join(shown(value) for _, value in known)
    aloud = ", ".join(
        f"{each.title} {NOTHING if value is None else shown(value)}" for each, value in known
    )
    label = text(f"{name_of(code)}: {aloud}")
    return (
        f'<li><span class="name">{text(name_of(code))}<small>{text(family)}</small></span>'
        f'<span class="track" role="img" aria-label="{label}" '
        f'style="color:{colour(family, families)}">{between}{marks}</span>'
        f'<span class="numbers">{text(numbers)}</span></li>'
    )


def curve(
    title: str, points: Sequence[tuple[float, Value, str]], recovered: tuple[float, Value] | None
) -> str:
    """Quality against size: (sparsity, percent, what stands below) each, and where it came back."""
    known = [(x, y, below) for x, y, below in points if y is not None]
    top = scale_end([y for _, y, _ in known] + ([recovered[1]] if recovered else []))
    width, right, bottom, left = 320, 300, 170, 34
    last = max((x for x, _, _ in points), default=0.0) or 1.0

    def across(x: float) -> float:
        return left + 14 + (right - left - 28) * x / last

    def down(y: float) -> float:
        return bottom - (bottom - 22) * y / top

    lines = "".join(
        f'<line class="grid" x1="{left}" x2="{right}" y1="{down(y):.1f}" y2="{down(y):.1f}"/>'
        f'<text x="{left - 6}" y="{down(y) + 4:.1f}" text-anchor="end">{y:g}</text>'
        for y in (0.0, top / 2, float(top))
    )
    path = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y, _ in known)
    # To the left below its point, where the curve, which mostly falls, does not come.
    marks = "".join(
        f'<circle class="dot" cx="{across(x):.1f}" cy="{down(y):.1f}" r="4.5"/>'
        f'<text class="value" x="{across(x) + (12 if x == 0 else -5):.1f}" '
        f'y="{min(down(y) + 18, bottom - 4):.1f}" text-anchor="end">{y:.1f}</text>'
        for x, y, _ in known
    )
    below = "".join(
        f'<text x="{across(x):.1f}" y="{bottom + 18}" text-anchor="middle">{percent(x)}</text>'
        f'<text x="{across(x):.1f}" y="{bottom + 33}" text-anchor="middle">{text(under)}</text>'
        for x, _, under in points
    )
    back = ""
    if recovered is not None and (y := recovered[1]) is not None:
        x = recovered[0]
        before = next((own for size, own, _ in known if size == x), y)
        back = (
            f'<line class="gain" x1="{across(x):.1f}" x2="{across(x):.1f}" '
            f'y1="{down(before):.1f}" y2="{down(y):.1f}"/>'
            f'<circle class="full" cx="{across(x):.1f}" cy="{down(y):.1f}" r="5.5"/>'
            f'<text class="value" x="{across(x) + 9:.1f}" y="{down(y) + 4:.1f}">{y:.1f}</text>'
        )
    told = ", ".join(f"{shown(y)} at {percent(x)}" for x, y, _ in points)
    if recovered is not None:
        told += f"; recovered {shown(recovered[1])} at {percent(recovered[0])}"
    return (
        f'<figure><h3>{text(title)}</h3><svg viewBox="0 0 {width} {bottom + 42}" role="img" '
        f'aria-label="{text(title)}, in percent: {text(told)}">{lines}'
        f'<polyline class="curve" points="{path}"/>{marks}{back}{below}</svg></figure>'
    )


def bar(kept: Value, whole: Value) -> str:
    """A share as a bar with its numbers."""
    if kept is None or not whole:
        return NOTHING
    share = 100 * kept / whole
    return (
        f'<div class="share"><span class="bar" aria-hidden="true">'
        f'<i style="width:{share:.2f}%"></i></span>'
        f'<span class="count">{kept:,.0f} of {whole:,.0f}</span></div>'
    )
