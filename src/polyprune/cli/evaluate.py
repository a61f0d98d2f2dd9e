"""`polyprune evaluate`: scores in every language, of one model or of several side by side."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..quantities import parse_sparsity, split_list
from .finetune import Data, Task
from .terminal import AsJson, Device, show_json, show_table


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
        str | None,
        typer.Option(help="Whose gates a language without gates or kin uses: en unless given."),
    ] = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Score models on a task of XTREME, language by language, side by side.

    Retrieval takes any encoder, the other tasks a model fine-tuned for them. Of a folder with
    several seeds, mean and spread.

    Example: polyprune evaluate half-xnli --task xnli --data xtreme --split dev --json
    """
    from transformers.utils.logging import disable_progress_bar

    from ..errors import ConfigError
    from ..evaluation.eval_config import EvalConfig
    from ..evaluation.evaluator import evaluate_system
    from ..evaluation.loaded_model import check_fallback, check_model, expand_sizes, seed_folders
    from ..evaluation.tasks import find_task
    from ..progress import progress_of
    from ..training.run import versions

    disable_progress_bar()
    record, chosen = find_task(task), split_list(languages)
    sizes = [
        size for text in split_list(sparsity) or () if (size := parse_sparsity(text)) is not None
    ]
    eval_config = EvalConfig(
        data=data,
        split=split_name,
        languages=tuple(chosen) if chosen else None,
        limit=limit,
        labels=labels,
        predictions=predictions,
        compat=compat,
        layer=layer,
        fallback=fallback,
        device=device,
    )
    for model in models:
        check_model(model, record)
    wanted = expand_sizes(models, sizes)
    if predictions is not None and len(wanted) > 1:
        raise ConfigError("--predictions is for one model of one size.")
    eval_config.check(record)
    codes = eval_config.codes(record)
    check_fallback(models, codes, fallback)
    seeds = sum(len(seed_folders(model)) for model, _ in wanted)
    progress = progress_of(None)
    with progress.stage("Evaluating", seeds * len(codes)):
        systems = [
            evaluate_system(model, record, eval_config, size, progress) for model, size in wanted
        ]
    missing = [code for code in record.languages if code not in codes]
    if as_json:
        show_json(
            {
                "task": record.name,
                "version": record.version,
                **eval_config.record(),
                "missing": missing,
                "versions": versions(),
                "systems": [system.record() for system in systems],
            }
        )
        return
    show_scores(systems, f"{record.title}, {eval_config.split}")
    if missing and not chosen:
        typer.echo(f"No data for {', '.join(missing)}.")
    if predictions is not None:
        typer.echo(f"Predictions are in {predictions / record.name}.")


def show_scores(systems: Sequence[Any], title: str) -> None:
    """A row a language, a column a system, and what is to be said about them."""
    codes = list(systems[0].languages)
    rows = [[code, *(cell(system.languages[code].scores) for system in systems)] for code in codes]
    scored = sum(each.scores is not None for each in systems[0].languages.values())
    rows.append([f"mean ({scored})", *(cell(system.mean, system.spread) for system in systems)])
    names = columns(systems, shutil.get_terminal_size().columns)
    show_table(["language", *names], rows, title=title, sum_up=True)
    blank = [code for code in codes if systems[0].languages[code].scores is None]
    if blank:
        which = "Nothing can be scored" if blank == codes else f"No score for {', '.join(blank)}"
        typer.echo(f"{which}: the data does not tell what is right; see --labels.")
    for system in systems:
        lent = {
            code: each.gates for code, each in system.languages.items() if each.gates is not None
        }
        if lent:
            those = ", ".join(f"{code} ({row})" for code, row in lent.items())
            typer.echo(f"{system.model}: gates of other languages for {those}.")


def columns(systems: Sequence[Any], width: int) -> list[str]:
    """What columns are called: models as given, or their last parts where there is no room."""
    paths = [system.model for system in systems]
    names, count = paths, 0
    room = (width - len("mean (40)")) // len(paths) - 2
    if max(map(len, paths)) > room:
        names = []
        while len(set(names)) < len(set(paths)):  # as many parts as tell them apart
            count += 1
            names = ["/".join(Path(path).parts[-count:]) for path in paths]
    names = [name if len(name) <= room else name.replace("/", "/\n") for name in names]
    return [
        name if system.sparsity is None else f"{name}\n{system.sparsity:.0%} cut"
        for name, system in zip(names, systems, strict=True)
    ]


def cell(scores: dict[str, float] | None, spread: dict[str, float] | None = None) -> str:
    """The score that counts; of answers, F1 and exact match."""
    if scores is None:
        return "–"
    shown = [scores["f1"], scores["exact"]] if "exact" in scores else [next(iter(scores.values()))]
    text = " / ".join(f"{value:.1f}" for value in shown)
    return text if spread is None else f"{text} ± {next(iter(spread.values())):.1f}"
