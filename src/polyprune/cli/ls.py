"""`polyprune ls`: what there is."""

import typer

from ..quantities import readable
from .terminal import AsJson, show_json, show_table

app = typer.Typer(
    help="What there is: families of models, languages, methods, tasks.",
    no_args_is_help=True,
    epilog="polyprune ls languages --json",
)


@app.command()
def families(as_json: AsJson = False) -> None:
    """The encoder families that polyprune can load, gate and cut."""
    from ..model.families import FAMILIES

    rows = [
        {
            "family": family.model_type,
            "example": family.example,
            "readouts": sorted(family.readouts),
        }
        for family in FAMILIES.values()
    ]
    if as_json:
        show_json({"families": rows})
    else:
        show_table(["family", "for example"], [[row["family"], row["example"]] for row in rows])


@app.command()
def languages(as_json: AsJson = False) -> None:
    """The 100 languages of the paper's Appendix C."""
    from ..corpora.languages import languages as table

    if as_json:
        fields = ("code", "name", "script", "family", "bytes")
        rows = [{name: getattr(row, name) for name in fields} for row in table().values()]
        show_json({"languages": rows})
    else:
        show_table(
            ["code", "language", "script", "family", "in CC-100"],
            [
                [row.code, row.name, row.script, row.family or "–", readable(row.bytes, "B")]
                for row in table().values()
            ],
        )


@app.command()
def methods(as_json: AsJson = False) -> None:
    """The methods that prune, and the rules that rank gradients, the default first."""
    from ..pruning.criteria.criterion import METHODS, RULES

    methods = {name: method.about for name, method in METHODS.items()}
    rules = {name: rule.about for name, rule in RULES.items()}
    if as_json:
        show_json({"methods": methods, "rules": rules})
    else:
        show_table(["--method", "ranks components by"], methods.items())
        show_table(["--rule", "of gradients"], rules.items())


@app.command()
def tasks(as_json: AsJson = False) -> None:
    """The nine tasks of XTREME, with the languages they are scored in."""
    from ..evaluation.tasks import TASKS

    if as_json:
        rows = [
            {
                "task": task.name,
                "title": task.title,
                "group": task.group,
                "readout": task.kind.readout.name,
                "languages": task.languages,
                "labels": task.labels,
                "trained": task.defaults is not None,
                "version": task.version,
            }
            for task in TASKS.values()
        ]
        show_json({"tasks": rows})
    else:
        show_table(
            ["task", "also", "kind", "languages"],
            [
                [task.name, task.title, task.group, " ".join(task.languages)]
                for task in TASKS.values()
            ],
        )
