"""The style and the script of the page, and the rule that nothing else may run or load."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from .colours import colour_css

STYLES = ("page.css", "explorer.css", "charts.css")

SCRIPTS = (
    "elements.js", "words.js", "data.js", "files.js", "tips.js", "theme.js", "scales.js",
    "marks.js", "plot.js", "matrix.js", "figures.js", "map.js", "tables.js", "kept.js",
    "losses.js", "tiles.js", "chooser.js", "explorer.js", "start.js",
)  # fmt: skip
"""In the order in which they build on each other; together they are one script."""


@cache
def style() -> str:
    """All rules, with the colours of both schemes."""
    return "\n" + colour_css() + "".join(_read(name) for name in STYLES)


@cache
def script() -> str:
    """All parts as one function, so that the page has no names of its own but one."""
    return '\n(() => {\n"use strict";\n' + "".join(_read(name) for name in SCRIPTS) + "})();\n"


def policy() -> str:
    """Nothing is loaded from anywhere, and no script runs but ours, told by its hash."""
    ours = b64encode(sha256(script().encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{ours}'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _read(name: str) -> str:
    return files("polyprune.reporting.website").joinpath(name).read_text(encoding="utf-8")
