"""Which row of gates a language uses, and from which language it borrows one."""

from collections.abc import Sequence

from ..corpora.languages import Language, language, same_family
from ..errors import UnknownName
from ..model.files.row_names import SHARED


def gate_row(code: str, rows: Sequence[str], fallback: str = "en") -> str:
    """Return the row of gates for a language: its own, its family's, or the fallback's.

    XTREME has languages without text in CC-100 (`yo`), and gates may have been made for a few
    languages only.
    """
    return related_row(code, rows) or own_row(fallback, rows) or rows[0]


def related_row(code: str, rows: Sequence[str]) -> str | None:
    """Return the shared row, the language's own, or its family's; None if it needs a fallback."""
    if tuple(rows) == (SHARED,):
        return SHARED
    if own := own_row(code, rows):
        return own
    known = _known(code)
    kin = [row for row in rows if known and (other := _known(row)) and same_family(other, known)]
    return kin[0] if kin else None


def is_borrowed(code: str, row: str) -> bool:
    """Return whether a row belongs to another language."""
    return row != SHARED and own_row(code, [row]) is None


def own_row(code: str, rows: Sequence[str]) -> str | None:
    """Return the row of a language, however its code is spelled; None if it has none."""
    if code in rows:
        return code
    known = _known(code)
    return known.code if known and known.code in rows else None


def _known(code: str) -> Language | None:
    """Return CC-100's record of a language, or None."""
    try:
        return language(code)
    except UnknownName:
        return None
