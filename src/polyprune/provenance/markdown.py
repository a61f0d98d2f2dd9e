"""Markdown into which names from anywhere can be put: no markup, no broken table."""

import re
import shlex
from collections.abc import Iterable, Sequence
from html import escape

MARKUP = re.compile(r"([\\`*_{}\[\]#|~$!])")


def line(text: str) -> str:
    """Text on one line, and without what no file can hold (half of a character)."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join("".join(c if c.isprintable() else " " for c in whole).split())


def plain(text: str) -> str:
    """Text that means nothing but itself."""
    return MARKUP.sub(r"\\\1", escape(line(text), quote=False))


def code(text: str) -> str:
    """Text as it would be typed, within a sentence or a table."""
    inside = line(text).replace("|", "¦") or "?"
    fence = _fence(inside, "`")
    space = " " if "`" in inside else ""
    return f"{fence}{space}{inside}{space}{fence}"


def fenced(text: str, kind: str = "") -> str:
    """Lines as they would be typed."""
    fence = _fence(text, "```")
    return f"{fence}{kind}\n{text.rstrip()}\n{fence}"


def command(*words: str) -> str:
    """A command on one line, as a shell takes it."""
    return shlex.join(line(word) for word in words)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells that are Markdown already; numbers, all but the first cell, to the right."""
    rule = [":--", *["--:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def _fence(text: str, least: str) -> str:
    """More backticks than the text has anywhere in a row."""
    longest = max((len(found) for found in re.findall("`+", text)), default=0)
    return least if longest < len(least) else "`" * (longest + 1)
