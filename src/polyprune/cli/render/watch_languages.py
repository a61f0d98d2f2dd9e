"""One bar per language, the worst first, in as many columns as fit."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from rich.text import Text

from ...averages import Value
from .bars import bar, columns, fitted, line, shown

CODE, NUMBER, CHANGE, LEAST_BAR = 7, 7, 7, 8
CELL = CODE + NUMBER + 2 + LEAST_BAR
"""The narrowest that a language can be shown in."""
WIDEST = 60


@dataclass(frozen=True, slots=True)
class Languages:
    """A number a language, and what it is held against."""

    values: Mapping[str, Value]
    base: Mapping[str, Value] = field(default_factory=dict)
    """The tick in every bar: of the dense model."""
    marked: Collection[str] = ()
    form: str = ".3f"
    less_is_better: bool = True

    def worst_first(self) -> list[str]:
        """By the change from the base, where that is known; what is no number is worst."""
        sign = 1 if self.less_is_better else -1

        def rank(code: str) -> tuple[bool, float]:
            value, change = self.values[code], self.change(code)
            if value is None:
                return True, 0.0
            return False, sign * (value if change is None else change)

        return sorted(self.values, key=rank, reverse=True)

    def change(self, code: str) -> Value:
        """As a share of the base."""
        value, base = self.values[code], self.base.get(code)
        return value / base - 1 if value is not None and base else None

    @property
    def most(self) -> float:
        """What a full bar is."""
        values = (*self.values.values(), *(self.base.get(code) for code in self.values))
        return max((value for value in values if value is not None), default=0.0)


def language_bars(languages: Languages, width: int, room: int | None) -> list[Text]:
    """As many languages as there are lines for, the worst ones, and how many more there are."""
    order = languages.worst_first()
    many, fits = _layout(len(order), width, room)
    wide = min(WIDEST, (width - 2 * (many - 1)) // many)
    cells = [_language(languages, code, wide) for code in order[:fits]]
    rest = len(order) - fits
    after = [line((f"and {rest} more that do better than these", "dim"))] if rest else []
    return [*columns(cells, many), *after]


def _layout(languages: int, width: int, room: int | None) -> tuple[int, int]:
    """Columns, and languages that fit into them."""
    most = max(1, (width + 2) // (CELL + 2))
    if room is None:
        return (1 if languages <= 16 else min(most, 2)), languages
    rows = max(1, room)
    many = max(1, min(most, -(-languages // rows)))
    return many, languages if languages <= many * rows else many * max(1, rows - 1)


def _language(languages: Languages, code: str, width: int) -> Text:
    value, base, top = languages.values[code], languages.base.get(code), languages.most
    marked = code in languages.marked
    style = "yellow" if marked else "cyan"
    told = fitted(shown(value, languages.form), NUMBER, right=True)
    if languages.base and width >= CELL + CHANGE + LEAST_BAR:  # what they are sorted by
        change = languages.change(code)
        told += fitted("" if change is None else f"{change:+.0%}", CHANGE, right=True)
    return line(
        (fitted(code, CODE), style if marked else ""),
        told,
        ("▼ " if marked else "  ", "yellow"),
        bar(_share(value, top), width - CODE - len(told) - 2, style, _share(base, top)),
    )


def _share(value: Value, top: float) -> Value:
    return None if value is None or not top else value / top
