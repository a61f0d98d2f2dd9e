"""A command of a verb: its options are the fields of the verb's request, its answer the result."""

import re
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from itertools import starmap
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from ..api.request import GENERAL, OptionField, Request
from .terminal import AsJson, as_typed, show_json, show_table

if TYPE_CHECKING:
    from ..api.result import Result

ModelName = Annotated[str, typer.Argument(help="A folder, a Hugging Face id, or e5-small.")]

COMMAND = "command"
"""The field of a request that says how a model was made."""


def command(
    request_type: type[Request],
    then: Callable[..., None] | None = None,
    render: "Callable[[Any], None] | None" = None,
) -> Callable[[Callable[..., "Result | None"]], Callable[..., None]]:
    """Make a command of a function that takes what the verb is about, and its request.

    With `--json` the command prints the result's `as_dict()`, else its summary, or what `render`
    makes of it; `then` may say what to do next.
    """
    options = [field for field in request_type.option_fields() if field.option.in_terminal]
    renamed = {field.option.formerly: field for field in options if field.option.formerly}
    json = Parameter("as_json", Parameter.KEYWORD_ONLY, annotation=AsJson, default=False)

    def decorate(run: Callable[..., "Result | None"]) -> Callable[..., None]:
        subjects = [each for each in signature(run).parameters.values() if each.name != "request"]

        @wraps(run)
        def callback(**given: Any) -> None:
            as_json = given.pop("as_json")
            about = {each.name: given.pop(each.name) for each in subjects}
            result = run(**about, request=_request(request_type, given, renamed))
            if result is None:
                return
            if as_json:
                show_json(result.as_dict())
            else:
                (render or show)(result)
                if then is not None:
                    then(**about, result=result)
            for complaint in result.complaints():
                typer.echo(for_terminal(complaint), err=True)
            if result.exit_status:
                raise typer.Exit(result.exit_status)

        parameters = [
            *subjects,
            *map(_parameter, options),
            *starmap(_former, renamed.items()),
            json,
        ]
        callback.__signature__ = Signature(_in_order(parameters))  # pyright: ignore[reportAttributeAccessIssue]
        callback.__annotations__ = {}
        return callback

    return decorate


def _request(
    request_type: type[Request], given: dict[str, Any], renamed: Mapping[str, OptionField]
) -> Request:
    """The request that was typed; options under a former name are taken, with a warning."""
    for name, field in renamed.items():
        if (value := given.pop(name)) is not None:
            now = as_typed_option(field.name)
            typer.echo(f"{as_typed_option(name)} is now {now}.", err=True)
            given[field.name] = value
    if any(field.name == COMMAND for field in request_type.option_fields()):
        given[COMMAND] = as_typed()
    return request_type(**given)


def show(result: "Result") -> None:
    """Print tables and sentences for people; tables of reports as wide as the terminal."""
    from ..reporting.tables.formats import cell_text
    from ..reporting.tables.table import Table
    from .render.result_table import show_result_table

    for part in result.summary():
        if isinstance(part, Table) and part.name:
            show_result_table(part)
        elif isinstance(part, Table):
            rows = [[cell_text(cell) for cell in row.cells] for row in part.rows]
            show_table(part.columns, rows, title=part.title or None)
        else:
            typer.echo(for_terminal(part))


def as_typed_option(name: str) -> str:
    """`min_heads` as a user types it."""
    return f"--{name.replace('_', '-')}"


def for_terminal(message: str) -> str:
    """A message of the library, its options as they are typed: `min_heads=2` is --min-heads 2."""

    def typed(found: re.Match[str]) -> str:
        value = (found[2] or "").strip("\"'")
        return f"{as_typed_option(found[1])} {value}".rstrip()

    return re.sub(r"`([a-z_]+)(?:=([^`]*))?`", typed, message)


def _parameter(field: OptionField) -> Parameter:
    """The typer option of a field."""
    option = field.option
    info = typer.Option(
        option.flag or as_typed_option(field.name),
        help=option.help,
        rich_help_panel=None if option.panel == GENERAL else option.panel,
        min=option.least,
    )
    needed = field.required or option.needed_in_terminal
    return Parameter(
        field.name,
        Parameter.KEYWORD_ONLY,
        annotation=Annotated[_typed(field.type, needed), info],
        default=Parameter.empty if needed else field.default,
    )


def _former(name: str, field: OptionField) -> Parameter:
    """A hidden option for a name that is no longer used."""
    info = typer.Option(as_typed_option(name), hidden=True, min=field.option.least)
    kind = _typed(field.type, needed=False)
    return Parameter(
        name, Parameter.KEYWORD_ONLY, annotation=Annotated[kind | None, info], default=None
    )


def _typed(kind: Any, needed: bool) -> Any:
    """What is read from the command line for a type of Python: numbers and flags, else words."""
    kinds = {each for each in get_args(kind) or (kind,) if each is not NoneType}
    for simple in (bool, int, float):
        if kinds == {simple}:
            break
    else:
        simple = list[str] if list[str] in kinds else str
    return simple if needed or NoneType not in get_args(kind) else simple | None


def _in_order(parameters: list[Parameter]) -> list[Parameter]:
    """Arguments first, then options that have to be given."""
    keyword = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in parameters]
    return sorted(keyword, key=lambda each: each.default is not Parameter.empty)
