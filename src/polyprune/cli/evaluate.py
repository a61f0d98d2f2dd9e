"""`polyprune evaluate`: scores in every language, of one model or of several side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .finetune import Data, Task
from .terminal import AsJson, fraction, progress, show_json, show_table, split


def evaluate(
    models: Annotated[
        list[str], typer.Argument(help="Folders, those of polyprune finetune too, or e5-small.")
    ],
    task: Task,
    data: Data,
    split_name: Annotated[str, typer.Option("--split", help="test or dev.")] = "test",
    languages: Annotated[
        str | None, typer.Option(help="sw,ur; all that there is data for unless given.")
    ] = None,
    sparsity: Annotated[
        str | None, typer.Option(help="Of elastic models: one size or several, 0.3,0.5.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Examples of each language.")] = None,
    labels: Annotated[
        str | None, typer.Option(help="A folder of labels, for test files without.")
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Write prediction files in XTREME's layout to this folder.")
    ] = None,
    compat: Annotated[
        bool, typer.Option("--compat", help="Cut answers out as XTREME's scripts do.")
    ] = False,
    layer: Annotated[
        int | None, typer.Option(min=0, help="For retrieval: the layer that is pooled, from 1.")
    ] = None,
    fallback: Annotated[
        str, typer.Option(help="Whose gates a language without gates or kin uses.")
    ] = "en",
    as_json: AsJson = False,
) -> None:
    """Score models on a task of XTREME, language by language, side by side.

    Retrieval takes any encoder, the other tasks a model fine-tuned for them. Of a folder with
    several seeds, mean and spread.

    Example: polyprune evaluate half-xnli --task xnli --data xtreme --split dev --json
    """
    from ..errors import ConfigError
    from ..evaluation.evaluate import Asking, evaluate_system
    from ..evaluation.tasks import find_task

    record, chosen = find_task(task), split(languages)
    sizes = [fraction(size) for size in split(sparsity) or ()] or [None]
    if predictions is not None and len(models) * len(sizes) > 1:
        raise ConfigError("--predictions is for one model of one size.")
    asking = Asking(
        data=data,
        split=split_name,
        languages=None if chosen is None else tuple(chosen),
        limit=limit,
        labels=labels,
        predictions=predictions,
        compat=compat,
        layer=layer,
        fallback=fallback,
    )
    codes = record.find(data, asking.split, asking.languages)
    with progress("Evaluating", len(models) * len(sizes) * len(codes)) as watch:
        systems = [
            evaluate_system(model, record, asking, size, watch)
            for model in models
            for size in sizes
        ]
    missing = [code for code in record.languages if code not in codes]
    if as_json:
        show_json(
            {
                "task": record.name,
                "version": record.version,
                "split": asking.split,
                "limit": limit,
                "missing": missing,
                "systems": [system.record() for system in systems],
            }
        )
        return
    show_scores(systems, f"{record.title}, {asking.split}")
    if missing and chosen is None:
        typer.echo(f"No data for {', '.join(missing)}: the mean is over {len(codes)} languages.")
    if any(each.scores is None for each in systems[0].languages.values()):
        typer.echo("Where there is no score, the data does not tell what is right; see --labels.")
    if predictions is not None:
        typer.echo(f"Predictions are in {predictions / record.name}.")


def show_scores(systems: Sequence[Any], title: str) -> None:
    """A row a language, a column a system."""
    codes = list(systems[0].languages)
    rows = [[code, *(cell(system.languages[code].scores) for system in systems)] for code in codes]
    rows.append(["mean", *(cell(system.mean, system.spread) for system in systems)])
    show_table(["language", *(column(system) for system in systems)], rows, title=title)
    for system in systems:
        lent = {
            code: each.gates for code, each in system.languages.items() if each.gates is not None
        }
        if lent:
            those = ", ".join(f"{code} ({row})" for code, row in lent.items())
            typer.echo(f"{system.model}: gates of other languages for {those}.")


def column(system: Any) -> str:
    """What a column is called."""
    return system.model if system.sparsity is None else f"{system.model}\n{system.sparsity:.0%} cut"


def cell(scores: dict[str, float] | None, spread: dict[str, float] | None = None) -> str:
    """The score that counts; of answers, F1 and exact match."""
    if scores is None:
        return "–"
    shown = [scores["f1"], scores["exact"]] if "exact" in scores else [next(iter(scores.values()))]
    text = " / ".join(f"{value:.1f}" for value in shown)
    return text if spread is None else f"{text} ± {next(iter(spread.values())):.1f}"
