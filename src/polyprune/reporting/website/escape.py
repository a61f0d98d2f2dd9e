"""Words of others on a page: shown as they are, and never read as markup."""

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
    """As text in which every character is one that can be seen, or a mark in its place."""
    return _UNSEEN.sub("\ufffd", str(anything))


def escape_html(anything: Any) -> str:
    """As HTML has it, also within quotes."""
    return escape(visible_text(anything), quote=True)


def json_value(value: Any) -> Any:
    """What JSON can hold: words cleaned, numbers short, None for what is not a number."""
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
    """A number with as many digits as anybody reads; whole numbers stay whole."""
    known = number(value)
    if known is None:
        return None
    if known == int(known) and abs(known) < 2**53:
        return int(known)
    return float(f"{known:.{digits}g}")


def script_json(value: Any) -> str:
    """JSON that may stand within a script element: nothing in it ends or begins one."""
    told = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        told = told.replace(character, f"\\u{ord(character):04x}")
    return told
