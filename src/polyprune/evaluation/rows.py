"""Which subnetwork a language has, and whose it borrows if it has none."""

from collections.abc import Sequence

from ..corpora.languages import language, same_family
from ..errors import UnknownName
from ..model.gates_file import SHARED


def row_of(code: str, rows: Sequence[str], fallback: str = "en") -> str:
    """The row of gates for a language: its own, or else that of its kin, or of the fallback.

    XTREME has languages without text in CC-100 (`yo`), and gates may have been made for a few
    languages only.
    """
    if tuple(rows) == (SHARED,):
        return SHARED
    try:
        known = language(code)
    except UnknownName:
        return fallback if fallback in rows else rows[0]
    if known.code in rows:
        return known.code
    kin = [row for row in rows if same_family(language(row), known)]
    return kin[0] if kin else fallback if fallback in rows else rows[0]


def is_borrowed(code: str, row: str) -> bool:
    """Whether a row is another language's."""
    if row == SHARED:
        return False
    try:
        return language(code).code != row
    except UnknownName:
        return True
