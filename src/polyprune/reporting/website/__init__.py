"""Results as one self-contained page to explore, sort and download."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..figures.figure import Figure
from ..results import Results
from ..tables.table import Table
from .about import failures_html, rerun_html
from .assets import policy, script, style
from .data import page_data
from .escape import escape_html, script_json, visible_text
from .explorer_html import explorer_html, map_html
from .summary import key_figures, summary
from .table_html import tables_html

__all__ = ["page"]


def page(
    results: Results,
    tables: Sequence[Table] = (),
    figures: Sequence[Figure] = (),
    *,
    now: Mapping[str, Any] | None = None,
) -> str:
    """Return a whole HTML file; `now` adds to, or replaces, what `results.about` says."""
    results = replace(results, about={**results.about, **(now or {})})
    parts = {
        "explore": explorer_html(results),
        "tables": _section("tables", "Tables", tables_html(tables)),
        "figures": _section("figures", "Figures", _figures(figures)),
        "map": map_html(results),
        "failures": failures_html(results),
        "again": rerun_html(results.about),
    }
    return (
        f"{_head(results.title)}<body>\n{_top(results, parts)}\n<main id='content'>\n"
        f"{_intro(results)}\n" + "\n".join(filter(None, parts.values())) + "\n</main>\n"
        '<div id="tip" role="tooltip" hidden></div>\n'
        f'<script type="application/json" id="data">{script_json(page_data(results, figures))}'
        f"</script>\n<script>{script()}</script>\n</body>\n</html>\n"
    )


def _head(title: str) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape_html(policy())}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape_html(title)}</title>\n<style>{style()}</style>\n</head>\n"
    )


TITLES = {
    "explore": "Explore",
    "tables": "Tables",
    "figures": "Figures",
    "map": "Map",
    "failures": "Failures",
    "again": "Run it again",
}


def _top(results: Results, parts: Mapping[str, str]) -> str:
    links = "".join(
        f'<li><a href="#{name}">{TITLES[name]}</a></li>' for name, part in parts.items() if part
    )
    return (
        '<a class="skip" href="#content">Skip to the results</a>\n<header class="top">'
        f'<nav aria-label="Parts of this page"><ul>{links}</ul></nav>'
        '<button type="button" id="theme" class="small" hidden>Dark</button></header>'
    )


def _intro(results: Results) -> str:
    tiles = "".join(
        f"<li><b>{escape_html(value)}</b><span>{escape_html(what)}</span></li>"
        for value, what in key_figures(results)
    )
    return (
        f'<div class="intro"><h1>{escape_html(visible_text(results.title) or "Results")}</h1>'
        f'<p class="summary">{escape_html(summary(results))}</p></div>'
        + (f'<ul class="facts" aria-label="In short">{tiles}</ul>' if tiles else "")
        + "<noscript><p>Charts on this page are drawn by a script, which is switched off here. "
        "The tables need none.</p></noscript>"
    )


def _figures(figures: Sequence[Figure]) -> str:
    """Return the places that the script draws in, with titles and captions."""
    return "".join(
        f'<figure class="figure" data-figure="{i}"><h3>{escape_html(figure.title)}</h3>'
        f'<div class="panels"></div><figcaption>{escape_html(figure.caption)}</figcaption></figure>'
        for i, figure in enumerate(figures)
    )


def _section(name: str, title: str, inside: str) -> str:
    if not inside:
        return ""
    return (
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>'
        f"{inside}</section>"
    )
