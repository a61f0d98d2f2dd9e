"""The labels that a task has, and what people's files call them: by name, or by number."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from ...errors import DataError

SHOWN = 12
"""The labels that a message lists."""

_NUMBERED = re.compile(r"LABEL_\d+")


@dataclass(frozen=True, slots=True)
class LabelNames:
    """The labels of a model, a task file or training data."""

    names: tuple[str, ...] = ()
    """None if every label is right."""
    whose: str = "the model"
    given: tuple[str, ...] = ()
    """What a task file calls the labels of a model that has numbers for names."""
    what: str = "label"

    def find(self, label: str) -> str | None:
        """Return the label that is meant: its own name, the task file's, or its number."""
        if not self.names or label in self.names:
            return label
        if label in self.given:
            return self.names[self.given.index(label)]
        # Stars from 1 to 5 are names: 0 would be taken for the first of them.
        named = not any(name.isdecimal() for name in (*self.names, *self.given))
        if named and label.isdecimal() and int(label) < len(self.names):
            return self.names[int(label)]
        return None

    def unknown(self, said: Iterable[tuple[str, str]]) -> DataError:
        """Return the error for labels that are unknown, each with the place where it stands."""
        wrong: dict[str, str] = {}
        for label, where in said:
            if self.find(label) is None:
                wrong.setdefault(label, where)
        first, where = next(iter(wrong.items()))
        others = [label for label in wrong if label != first]
        more = f", nor {_listed(others)}" if others else ""
        known = self.given or self.names
        near = get_close_matches(first.casefold(), {name.casefold(): name for name in known}, n=1)
        hint = next(
            (f" Did you mean {n!r}?" for n in known if near and n.casefold() == near[0]), ""
        )
        return DataError(
            f"{where} has the {self.what} {first!r}, which {self.whose} does not have{more}.{hint} "
            f"It has: {_listed(known)}.{self._advice(where)}"
        )

    def _advice(self, where: str) -> str:
        if where.startswith("Line 1 ") and self.what == "label":
            return " If the first line names columns, call them text, pair and label."
        if all(map(_NUMBERED.fullmatch, self.names)) and not self.given:
            return " Name them in the order of their numbers: labels = [...] in a task.toml."
        return ""


def is_numbered(names: Sequence[str]) -> bool:
    """Whether a model has nothing but transformers' own names for labels: LABEL_0, LABEL_1."""
    return bool(names) and all(map(_NUMBERED.fullmatch, names))


def sorted_labels(found: Iterable[str]) -> tuple[str, ...]:
    """Return labels in the order of the alphabet, or of numbers if all of them are."""
    several = set(found)
    if all(label.isdecimal() for label in several):
        return tuple(sorted(several, key=int))
    return tuple(sorted(several))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
