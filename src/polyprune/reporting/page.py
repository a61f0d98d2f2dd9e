"""The results of a demo as one page that needs nothing else: measurements in, HTML out."""

from collections.abc import Mapping, Sequence
from typing import Any

from .charts import Series, bar, by_loss, curve, dots
from .found import NOTHING, SPACE, Found, millions, name_of, number, percent, shown, text
from .style import CSS

QUALITIES = {
    "retrieval": "Translations found",
    "masked words": "Masked words guessed",
}
"""What is measured of every model and language, in percent."""


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """A whole HTML file about these measurements, as they lie in results.jsonl."""
    found = Found(rows)
    title = heading(found)
    parts = [
        f"<h1>{text(title)}</h1>",
        f'<p class="summary">{text(summary(found))}</p>',
        facts(found),
        *(languages_section(found, what) for what in QUALITIES if found.of(what)),
        quality_section(found),
        layers_section(found),
        speed_section(found),
        tasks_section(found),
        again_section(found),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{text(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def half(found: Found) -> float | None:
    """The size that was recovered."""
    return next(iter(found.sizes("retrieval", model="recovered")), None)


def heading(found: Found) -> str:
    """What the page is about."""
    name, size = found.run.get("model", "A model"), half(found)
    return f"{name}, smaller" if size is None else f"{name}, cut by {percent(size)}"


def summary(found: Found) -> str:
    """What was cut, what it cost and how much faster it is, in plain words."""
    size, name = half(found), str(found.run.get("model", "The model"))
    if size is None:
        return f"There are no measurements of {name} before and after it was cut."
    cut = {"model": "pruned", "size": size}
    before, after = found.value("parameters", model="dense"), found.value("parameters", **cut)
    speed = next(iter(found.of("speed", **cut)), {})
    interval = f"{shown(number(speed.get('low')), '.2f')}–{shown(number(speed.get('high')), '.2f')}"
    dense, pruned = found.mean("retrieval", model="dense"), found.mean("retrieval", **cut)
    back = found.mean("retrieval", model="recovered")
    count = len(found.values("retrieval", model="dense"))
    layers = [found.value("parameters in layers", **each) for each in ({"model": "dense"}, cut)]
    told = (
        f"The attention heads, feed-forward units and ranks of the word table that matter least to "
        f"{name} were cut out, {percent(size)} by weight. Its layers had {millions(layers[0])} "
        f"million parameters and have {millions(layers[1])} million; with the words, which mostly "
        f"stay, {millions(before)} million became {millions(after)} million. It is "
        f"{shown(number(speed.get('value')), '.2f')} times as fast (95{SPACE}% interval "
        f"{interval}). Given a sentence in one of {count} other languages, it found the English "
        f"translation in {of_hundred(dense)} of all cases before, in {of_hundred(pruned)} after "
        f"the cut, and in {of_hundred(back)} after a short recovery."
    )
    return told + _worst(found, cut)


def _worst(found: Found, cut: Mapping[str, Any]) -> str:
    """The language that the cut cost most, and what it has come back to."""
    dense, pruned = found.values("retrieval", model="dense"), found.values("retrieval", **cut)
    back = found.values("retrieval", model="recovered")
    codes = by_loss([Series("dense", "", dense), Series("pruned", "", pruned)])
    if not codes or dense.get(codes[0]) is None or pruned.get(codes[0]) is None:
        return ""
    code = codes[0]
    return (
        f" {name_of(code)} lost most: from {of_hundred(dense[code])} to "
        f"{of_hundred(pruned[code])}, and after recovery it is at {of_hundred(back.get(code))}."
    )


def of_hundred(value: float | None) -> str:
    """A percentage within a sentence."""
    return shown(value, ".1f", f"{SPACE}%")


def facts(found: Found) -> str:
    """The numbers that people look for first."""
    size = half(found)
    cut = {"model": "pruned", "size": size}
    before = found.value("parameters in layers", model="dense")
    after = found.value("parameters in layers", **cut)
    items = (
        (f"{millions(before)} → {millions(after)} M", "parameters in the layers"),
        (shown(found.value("speed", **cut), ".2f", "×"), "as fast as the uncut model"),
        (of_hundred(found.mean("retrieval", **cut)), "of translations found after the cut"),
        (of_hundred(found.mean("retrieval", model="recovered")), "after recovery"),
    )
    inside = "".join(
        f"<li><b>{text(value)}</b><span>{text(what)}</span></li>" for value, what in items
    )
    return f'<ul class="facts" aria-label="In short">{inside}</ul>'


def languages_section(found: Found, what: str) -> str:
    """A chart of every language: uncut, cut, recovered."""
    size = half(found)
    cut = "cut" if size is None else f"cut by {percent(size)}"
    series = [
        Series("dense", "uncut", found.values(what, model="dense")),
        Series("pruned", cut, found.values(what, model="pruned", size=size)),
        Series("recovered", "recovered", found.values(what, model="recovered")),
    ]
    caption = f"{QUALITIES[what]}, in percent: uncut → {cut} → recovered. What lost most is on top."
    return section(f"{QUALITIES[what]}, language by language", "", dots(caption, series))


def quality_section(found: Found) -> str:
    """How quality falls with size."""
    charts = []
    for what, title in QUALITIES.items():
        sizes = sorted({*found.sizes(what, model="dense"), *found.sizes(what, model="pruned")})
        points = []
        for size in sizes:
            model = "dense" if size == 0 else "pruned"
            parameters = found.value("parameters", model=model, size=size)
            under = NOTHING if parameters is None else f"{millions(parameters)} M"
            points.append((size, found.mean(what, model=model, size=size), under))
        back = [
            (size, found.mean(what, model="recovered"))
            for size in found.sizes(what, model="recovered")
        ]
        if points:
            charts.append(curve(title, points, back[0] if back else None))
    told = (
        "In percent, mean over languages. Below: how much was cut, and the parameters that are "
        "left. The filled mark is the recovered model."
    )
    return (
        section("Quality against size", told, f'<div class="pair">{"".join(charts)}</div>')
        if charts
        else ""
    )


def layers_section(found: Found) -> str:
    """What is kept, layer by layer."""
    heads, units, rank = found.of("heads"), found.of("units"), found.of("rank")
    if not heads and not units:
        return ""
    by_layer = [{int(row.get("layer", 0)): row for row in rows} for rows in (heads, units)]
    layers = sorted({layer for rows in by_layer for layer in rows})
    body = "".join(
        f'<tr><th scope="row">{layer + 1}</th>'
        + "".join(f"<td>{_share(rows.get(layer, {}))}</td>" for rows in by_layer)
        + "</tr>"
        for layer in layers
    )
    table = (
        '<table class="layers"><thead><tr><th scope="col">Layer</th>'
        '<th scope="col">Heads</th><th scope="col">Units</th></tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )
    words = "".join(
        f'<table class="layers"><tbody><tr><th scope="row">Rank of the word table</th>'
        f"<td>{_share(row)}</td></tr></tbody></table>"
        for row in rank
    )
    size = half(found)
    title = "What is kept" if size is None else f"What is kept when {percent(size)} is cut"
    return section(title, "Attention heads and feed-forward units, layer by layer.", table + words)


def _share(row: Mapping[str, Any]) -> str:
    return bar(number(row.get("value")), number(row.get("whole")))


def speed_section(found: Found) -> str:
    """Size and speed as a table."""
    rows = []
    for row in found.of("parameters"):
        which = {"model": row.get("model"), "size": row.get("size")}
        speed = next(iter(found.of("speed", **which)), {})
        low, high = number(speed.get("low")), number(speed.get("high"))
        rows.append(
            (
                _named(which),
                millions(found.value("parameters in layers", **which)),
                millions(number(row.get("value"))),
                shown(_mega(found.value("bytes", **which)), ".0f"),
                shown(found.value("sentences per second", **which)),
                f"{shown(number(speed.get('value')), '.2f', '×')} "
                f"({shown(low, '.2f')}–{shown(high, '.2f')})",
            )
        )
    columns = ("Cut", "In layers", "In all", "MB", "Sentences a second", "Faster (95 %)")
    told = (
        "Parameters in millions. All models take turns within every round, and each round begins "
        "with another; the interval is bootstrapped over rounds. The recovered model is as large "
        "and as fast as what it was before."
    )
    return section("Size and speed", told, table_of(columns, rows)) if rows else ""


def _mega(value: float | None) -> float | None:
    return None if value is None else value / 1e6


def _named(which: Mapping[str, Any]) -> str:
    size = number(which["size"])
    return "uncut" if which["model"] == "dense" else percent(size)


def tasks_section(found: Found) -> str:
    """What the elastic model can do in every size."""
    titles = list(dict.fromkeys(row["what"] for row in found.rows if row.get("model") == "elastic"))
    if not titles:
        return ""
    sizes = sorted({size for title in titles for size in found.sizes(title, model="elastic")})
    columns = ("Task", *("uncut" if size == 0 else percent(size) for size in sizes))
    means = [
        (title, *(shown(found.mean(title, model="elastic", size=size)) for size in sizes))
        for title in titles
    ]
    told = (
        "One small checkpoint was trained so that any size can be taken out of it, fine-tuned in "
        "all sizes at once on English examples, and asked in every language: uncut, "
        "and with so much cut out. In percent, mean over languages."
    )
    more = "".join(_by_language(found, title, sizes, columns) for title in titles)
    return section("Tasks of an elastic model", told, table_of(columns, means) + more)


def _by_language(found: Found, title: str, sizes: Sequence[float], columns: Sequence[str]) -> str:
    by_size = [found.values(title, model="elastic", size=size) for size in sizes]
    codes = sorted({code for own in by_size for code in own}, key=name_of)
    rows = [(name_of(code), *(shown(own.get(code)) for own in by_size)) for code in codes]
    table = table_of(("Language", *columns[1:]), rows)
    return f"<details><summary>{text(title)}, language by language</summary>{table}</details>"


def again_section(found: Found) -> str:
    """How to get these numbers again, and what they were made by and on."""
    run = found.run
    lines = [*_entries(run.get("versions")), *_entries(run.get("machine"))]
    seconds = [number(row.get("value")) for row in found.of("seconds")]
    if seconds and None not in seconds:
        lines.append(("minutes in all", f"{sum(each or 0.0 for each in seconds) / 60:.1f}"))
    inside = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in lines)
    command = text(run.get("command", "polyprune demo"))
    told = "Every number of this page is a line in results.jsonl, beside it."
    return section("Run it again", told, f"<pre><code>{command}</code></pre><dl>{inside}</dl>")


def _entries(about: Any) -> list[tuple[str, Any]]:
    return list(about.items()) if isinstance(about, Mapping) else []


def table_of(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column names its rows; it scrolls by itself where it is too wide."""
    head = "".join(f'<th scope="col">{text(column)}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row">{text(row[0])}</th>'
        + "".join(f"<td>{text(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Table">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def section(title: str, told: str, inside: str) -> str:
    """A part of the page under its own heading."""
    quiet = f'<p class="quiet">{text(told)}</p>' if told else ""
    return f"<section><h2>{text(title)}</h2>{quiet}{inside}</section>"
