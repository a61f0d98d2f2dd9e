"""A request: the options of a verb as one frozen value, each declared and described once.

The keywords of the Python function, its help and the options of the command are made from it.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from typing import Any, TypeVar, get_args, get_type_hints

from ..errors import ConfigError, UnknownName

Asked = TypeVar("Asked", bound="Request")

GENERAL = "Options"
"""The first panel of a command's help."""


@dataclass(frozen=True, slots=True)
class Option:
    """What is to be said of an option besides its name, type and default."""

    help: str
    panel: str = GENERAL
    """Where the help of the command line lists it."""
    parse: Callable[[Any], Any] | None = None
    """Makes the value of what was given, such as 0.5 of "50%"; raises where it cannot."""
    least: int | None = None
    """The smallest number allowed."""
    formerly: str = ""
    """The name that it had before, still understood, with a warning."""
    flag: str = ""
    """Its name on the command line, if that is not the field's own: `--set`."""
    in_terminal: bool = True
    """Whether the command line has it too."""
    needed_in_terminal: bool = False
    """Whether the command line insists on it: there is no other place for the answer."""


@dataclass(frozen=True, slots=True)
class OptionField:
    """An option of a request: its name, its type and its default with what is said of it."""

    name: str
    type: Any
    default: Any
    """`MISSING` where it has to be given."""
    option: Option

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is MISSING


@dataclass(frozen=True, kw_only=True)
class Request:
    """The options of a verb. Whoever makes one that cannot be meant is told why."""

    def __post_init__(self) -> None:
        for field in self.option_fields():
            given = getattr(self, field.name)
            if field.option.parse is not None:
                object.__setattr__(self, field.name, field.option.parse(given))
            least = field.option.least
            if least is not None and given is not None and given < least:
                raise ConfigError(f"`{field.name}` is {least} or more, not {given}.")
        for wrong, why in self.refusals():
            if wrong:
                raise ConfigError(why)

    def refusals(self) -> Iterator[tuple[bool, str]]:
        """What cannot be meant, and why; options in backquotes, as Python writes them."""
        yield from ()

    @classmethod
    def option_fields(cls) -> list[OptionField]:
        """All options, in the order in which they are declared."""
        hints = get_type_hints(cls, include_extras=True)
        return [_option_field(field, hints[field.name]) for field in fields(cls)]

    @classmethod
    def of(cls: type[Asked], given: Asked | None, options: Mapping[str, Any]) -> Asked:
        """The request that was given, changed by these options, or one made of them alone."""
        known = {field.name: field for field in cls.option_fields()}
        former = {field.option.formerly: name for name, field in known.items()}
        values: dict[str, Any] = {}
        for name, value in options.items():
            current = former.get(name, name)
            if current not in known:
                see = f"There are: {', '.join(known)}."
                raise UnknownName("option", name, known, see)
            if current != name:
                warnings.warn(f"`{name}` is now `{current}`.", FutureWarning, stacklevel=4)
            values[current] = value
        if given is not None:
            return replace(given, **values) if values else given
        missing = [name for name, field in known.items() if field.required and name not in values]
        if missing:
            raise ConfigError(f"Give {', '.join(f'`{name}`' for name in missing)}.")
        return cls(**values)


def _option_field(field: Field[Any], hint: Any) -> OptionField:
    """A field of a request, whose type is annotated with an `Option`."""
    plain, *notes = get_args(hint)
    (option,) = (note for note in notes if isinstance(note, Option))
    return OptionField(field.name, plain, field.default, option)
