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
"""The parts of the script, in the order in which they build on each other."""


@cache
def style() -> str:
    """Return all rules, with the colours of both schemes."""
    return "\n" + colour_css() + "".join(_read(name) for name in STYLES)


@cache
def script() -> str:
    """Return all parts as one function, so that they add no global names."""
    return '\n(() => {\n"use strict";\n' + "".join(_read(name) for name in SCRIPTS) + "})();\n"


def policy() -> str:
    """Return the content policy: nothing is loaded, and only our script runs, by its hash."""
    ours = b64encode(sha256(script().encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{ours}'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _read(name: str) -> str:
    return files("polyprune.reporting.website").joinpath(name).read_text(encoding="utf-8")
