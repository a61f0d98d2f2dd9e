"""`polyprune ls`: what there is."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

from ..quantities import readable
from .terminal import AsJson, show_json, show_table

Own = Annotated[
    list[str] | None,
    typer.Argument(help="Look at your own too: module:name. Its module is imported."),
]

app = typer.Typer(
    help="What there is: families of models, languages, methods, tasks.",
    no_args_is_help=True,
    epilog="polyprune ls languages --json",
)


def _answer(as_json: bool, found: dict[str, Any], *tables: tuple[Sequence[str], Iterable]) -> None:
    """One JSON object, or tables of columns and rows."""
    if as_json:
        show_json(found)
    else:
        for columns, rows in tables:
            show_table(columns, rows)


@app.command()
def families(as_json: AsJson = False) -> None:
    """The encoder families that polyprune can load, gate and cut."""
    from ..model.families import FAMILIES

    known = FAMILIES.values()
    found = [
        {"family": each.model_type, "example": each.example, "readouts": sorted(each.readouts)}
        for each in known
    ]
    rows = [[each.model_type, each.example] for each in known]
    _answer(as_json, {"families": found}, (["family", "for example"], rows))


@app.command()
def languages(as_json: AsJson = False) -> None:
    """The 100 languages of the paper's Appendix C."""
    from ..corpora.languages import languages as known

    fields = ("code", "name", "script", "family", "bytes")
    found = [{name: getattr(each, name) for name in fields} for each in known().values()]
    rows = [
        [each.code, each.name, each.script, each.family or "–", readable(each.bytes, "B")]
        for each in known().values()
    ]
    columns = ["code", "language", "script", "family", "in CC-100"]
    _answer(as_json, {"languages": found}, (columns, rows))


@app.command()
def methods(own: Own = None, as_json: AsJson = False) -> None:
    """The methods that prune, and the rules that rank gradients, the default first."""
    from ..own_code import offered
    from ..pruning.criteria.criterion import GROUP, METHODS, RULES, own_criterion

    methods = {name: method.about for name, method in METHODS.items()}
    rules = {name: rule.about for name, rule in RULES.items()}
    yours = {name: f"of an installed package, {it.value}" for name, it in offered(GROUP).items()}
    yours |= {name: _first_line(own_criterion(name)) for name in own or ()}
    by_method = (["--method", "ranks components by"], methods.items())
    by_rule = (["--rule", "of gradients"], rules.items())
    tables = [by_method, by_rule] + ([(["your own", ""], yours.items())] if yours else [])
    _answer(as_json, {"methods": methods, "rules": rules, "own": yours}, *tables)


def _first_line(criterion: Any) -> str:
    """What a criterion says about itself, in one line."""
    told = getattr(criterion, "about", "") or type(criterion).__doc__ or ""
    return told.strip().partition("\n")[0]


@app.command()
def tasks(
    data: Annotated[
        str | None, typer.Option("--data", help="Your own tasks in this folder, and its folders.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The nine tasks of XTREME, and your own: those with a task.toml here, or all in --data."""
    from ..evaluation.own_tasks.choosing import own_tasks
    from ..evaluation.tasks import TASKS

    own = own_tasks(data)
    columns = ["task", "also", "kind", "languages"]
    rows = [
        [each.name, each.title, each.group, " ".join(each.languages)] for each in TASKS.values()
    ]
    rows += [
        [each["task"], each["data"], each["group"], " ".join(each["languages"])] for each in own
    ]
    found = [*(task.record() for task in TASKS.values()), *own]
    _answer(as_json, {"tasks": found}, (columns, rows))
