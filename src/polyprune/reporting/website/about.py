"""The parts of the page on failures, and on how to run everything again."""

from collections.abc import Mapping
from typing import Any

from ..results import Results
from .escape import escape_html

FIRST = ("model", "date", "commit", "machine", "versions")
"""The facts that are listed first."""


def failures_html(results: Results) -> str:
    """Return what failed, each with its reason."""
    if not results.failures:
        return ""
    inside = "".join(
        f"<li><b>{escape_html(each.what)}</b> <span>{escape_html(each.why)}</span></li>"
        for each in results.failures
    )
    count = len(results.failures)
    what = "One thing was" if count == 1 else f"{count} things were"
    return (
        '<section id="failures" aria-labelledby="failures-title"><h2 id="failures-title">'
        f'What failed</h2><p class="quiet">{what} tried and did not come to an end. Its numbers '
        f'are missing above, not zero.</p><ul class="failures">{inside}</ul></section>'
    )


def rerun_html(about: Mapping[str, Any]) -> str:
    """Return the command, the versions and the machine."""
    command = about.get("command")
    code = f'<pre tabindex="0"><code>{escape_html(command)}</code></pre>' if command else ""
    names = [name for name in FIRST if name in about]
    names += [name for name in about if name not in (*FIRST, "command")]
    return (
        '<section id="again" aria-labelledby="again-title"><h2 id="again-title">Run it again</h2>'
        f"{code}{definition_list({name: about[name] for name in names})}"
        '<p class="buttons"><button type="button" id="all-results">Download all results (JSON)'
        "</button></p></section>"
    )


def definition_list(about: Mapping[Any, Any]) -> str:
    """Return names and values as a definition list; nested values are lists too."""
    if not about:
        return ""
    inside = "".join(
        f"<div><dt>{escape_html(name)}</dt><dd>{_value(value)}</dd></div>"
        for name, value in about.items()
    )
    return f"<dl>{inside}</dl>"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return definition_list(value) or "none"
    if isinstance(value, list | tuple | set | frozenset):
        return f"<ul>{''.join(f'<li>{_value(each)}</li>' for each in value)}</ul>"
    return escape_html("–" if value is None else value)
