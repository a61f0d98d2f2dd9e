"""Escape text for a page: it is shown as it is, and never read as markup."""

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from ...averages import number

# Control characters, halves of characters, and those that turn the direction of all that follows.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)


def visible_text(anything: Any) -> str:
    """Return text with a mark in place of every character that cannot be seen."""
    return _UNSEEN.sub("\ufffd", str(anything))


def escape_html(anything: Any) -> str:
    """Escape text for HTML, also within quotes."""
    return escape(visible_text(anything), quote=True)


def json_value(value: Any) -> Any:
    """Return a value for JSON: text cleaned, numbers rounded, None for what is not a number."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return round_for_page(value)
    if isinstance(value, Mapping):
        return {visible_text(key): json_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(each) for each in value]
    return visible_text(value)


def round_for_page(value: int | float | None, digits: int = 6) -> int | float | None:
    """Round a number to a few digits; whole numbers stay whole."""
    known = number(value)
    if known is None:
        return None
    if known == int(known) and abs(known) < 2**53:
        return int(known)
    return float(f"{known:.{digits}g}")


def script_json(value: Any) -> str:
    """Return JSON for a script element: nothing in it ends or begins an element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
