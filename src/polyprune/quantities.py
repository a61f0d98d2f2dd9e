"""Numbers as people write and read them: `50%`, `60M`, `2GB`, `10ms`, `2x`, `1e-5,2e-5`.

Functions that parse take a number, or text that stands for one, and pass None on.
"""

import re
from collections.abc import Iterable
from typing import TypeVar

from .errors import ConfigError

Number = TypeVar("Number", int, float)


def split_list(words: str | Iterable[str] | None) -> list[str] | None:
    """`sw,ur`, or a list, as a list."""
    if words is None or not isinstance(words, str):
        return None if words is None else list(words)
    return [word.strip() for word in words.split(",") if word.strip()]


def parse_numbers(
    value: str | Number | Iterable[Number] | None, kind: type[Number]
) -> tuple[Number, ...]:
    """`1e-5,2e-5`, one number or several, as numbers of a kind; none if there is nothing."""
    if isinstance(value, int | float):
        value = [value]
    words = split_list(value) if isinstance(value, str) else value
    try:
        return tuple(kind(word) for word in words or ())
    except ValueError as error:
        such = "whole numbers such as 1,2" if kind is int else "numbers such as 1e-5,2e-5"
        raise ConfigError(f"{value!r} is no number: give one, or several {such}.") from error


def parse_sparsity(value: str | float | None) -> float | None:
    """A sparsity as 0.5 or as 50 %, never something that might be either."""
    if value is None:
        return None
    text = str(value).strip()
    digits, percent = text.removesuffix("%"), text.endswith("%")
    try:
        share = float(digits) / (100 if percent else 1)
    except ValueError as error:
        raise ConfigError(f"A sparsity is a number such as 0.5 or 50%, not {text!r}.") from error
    if 0 <= share < 1:
        return share
    hint = f" Did you mean {digits}%?" if not percent and 1 <= share < 100 else ""
    raise ConfigError(f"A sparsity is from 0 to less than 1, or less than 100%, not {text}.{hint}")


def parse_count(value: str | int | None) -> int | None:
    """A number of parameters as 60000000, 60_000_000 or 60M."""
    if value is None:
        return None
    letters = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9}
    digits = r"(\d+|\d{1,3}([,_]\d{3})+)(\.\d+)?"
    match = re.fullmatch(rf"({digits}|\d+(\.\d+)?e\d+)\s*([kmbg]?)", str(value).strip().lower())
    count = float(re.sub("[,_]", "", match[1])) * letters[match[6]] if match else 0.0
    if not 1 <= count < 1e15:
        raise ConfigError(f"A number of parameters is such as 60M or 60,000,000, not {value!r}.")
    return round(count)


def parse_bytes(value: str | int | None, what: str = "A size") -> int | None:
    """`2GB`, `500 MB` or `1.5GiB` as a number of bytes."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", str(value).strip().lower())
    if match is None or not float(match[1]):
        raise ConfigError(f"{what} is such as 2GB or 500MB, not {value!r}.")
    power = " kmgt".index(match[2] or " ")
    return round(float(match[1]) * (1024 if match[3] else 1000) ** power)


def parse_seconds(value: str | float | None) -> float | None:
    """`10ms`, `0.5 s`, `800us` or a number of seconds as seconds."""
    if value is None:
        return None
    text = value.strip().lower() if isinstance(value, str) else f"{value:f}s"
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|ms|us|µs)", text)
    if match is None or not float(match[1]):
        raise ConfigError(f"A latency is a time such as 10ms or 0.5s, not {value!r}.")
    if not isinstance(value, str):
        return float(value)
    return float(match[1]) * {"s": 1.0, "ms": 1e-3}.get(match[2], 1e-6)


def parse_speed_up(value: str | float | None) -> float | None:
    """`2`, `2x` or `2.5×` as a number of times."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*[x×]?", str(value).strip().lower())
    if match is None or not 1 <= float(match[1]) < 1e4:
        raise ConfigError(f"A speed-up is a number from 1, such as 2 or 2.5x, not {value!r}.")
    return float(match[1])


def readable(count: int, unit: str = "") -> str:
    """1_234_567 as 1.23 M: three digits are what a person reads."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g} {letter}{unit}"
    return f"{count:.3g} {unit}".strip()


def clock_time(seconds: float) -> str:
    """Seconds as 1:02:03, or 2:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def parse_batch(given: str | tuple[int, int]) -> tuple[int, int]:
    """`1x128` as sentences and tokens."""
    text = given if isinstance(given, str) else "x".join(map(str, given))
    found = re.fullmatch(r"(\d{1,5})\s*[x×]\s*(\d{1,5})", text.strip().lower())
    if found is None or not int(found[1]) or not int(found[2]):
        raise ConfigError(f"A batch is sentences x tokens, such as 1x128 or 32x64, not {text!r}.")
    return int(found[1]), int(found[2])
