"""`polyprune finetune`: a model for a task, dense or pruned, on one language or on all."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..progress import is_main_process
from ..quantities import parse_numbers, parse_sparsity, split_list
from .following import obeying_signals
from .terminal import AsJson, Force, show_json, show_table

Task = Annotated[str, typer.Option(help="See polyprune ls tasks.")]
Data = Annotated[
    str, typer.Option(help="A folder as XTREME's download script leaves it, or a data set's name.")
]


def finetune(
    model: Annotated[str, typer.Argument(help="A folder, a Hugging Face id, or e5-small.")],
    task: Task,
    data: Data,
    out: Annotated[Path, typer.Option(help="The folder to work in; the model is in its model/.")],
    regime: Annotated[
        str, typer.Option(help="transfer: English alone. translate-train-all: all languages.")
    ] = "transfer",
    languages: Annotated[
        str | None, typer.Option(help="Train on these: en,sw; those of the regime unless given.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Examples of each language to train on.")
    ] = None,
    sparsity: Annotated[
        str | None, typer.Option(help="Of an elastic model: this size alone, such as 0.5.")
    ] = None,
    learning_rate: Annotated[
        str | None, typer.Option(help="One, or several to choose from on dev: 1e-5,2e-5.")
    ] = None,
    epochs: Annotated[str | None, typer.Option(help="One number, or several: 5,10.")] = None,
    grid: Annotated[
        bool, typer.Option("--grid", help="Choose learning rate and epochs as the paper did.")
    ] = False,
    seeds: Annotated[str, typer.Option(help="One, or several: 1,2,3.")] = "1",
    batch: Annotated[int, typer.Option(min=1, help="Examples in a step.")] = 32,
    freeze_words: Annotated[
        bool, typer.Option("--freeze-words", help="Leave the word table as it is: faster.")
    ] = False,
    fallback: Annotated[
        str | None, typer.Option(help="Whose gates languages without gates or kin use: en.")
    ] = None,
    precision: Annotated[str, typer.Option(help="Of the steps: no, fp16 or bf16.")] = "no",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Fine-tune a model for a task of XTREME, and keep what is best on dev.

    Pruned models are fine-tuned like dense ones; those with gates for every language under their
    gates, and elastic ones in all sizes at once. Stopped, it goes on with the same command.

    Example: polyprune finetune half --task xnli --data xtreme --epochs 1 --out half-xnli
    """
    from dataclasses import replace

    from ..evaluation.finetune_config import FineTuneConfig, SearchSpace
    from ..evaluation.hyperparameter_search import HyperparameterSearch
    from ..evaluation.run_search import run_search
    from ..evaluation.tasks import find_task

    chosen = split_list(languages)
    setup = FineTuneConfig(
        model=model,
        task=find_task(task),
        data=data,
        regime=regime,
        languages=tuple(chosen) if chosen else None,
        limit=limit,
        sparsity=parse_sparsity(sparsity),
        words=not freeze_words,
        fallback=fallback,
        precision=precision,
    )
    wanted = SearchSpace.of(setup, grid)
    wanted = replace(
        wanted,
        learning_rates=parse_numbers(learning_rate, float) or wanted.learning_rates,
        epochs=parse_numbers(epochs, int) or wanted.epochs,
        seeds=parse_numbers(seeds, int) or wanted.seeds,
        batch=batch,
    )
    tuning = HyperparameterSearch(setup, wanted, out, force=force)
    with obeying_signals() as progress:
        run_search(tuning, progress)
    if not is_main_process():
        return
    if None in [tuning.score(seed) for seed in tuning.grid.seeds]:
        typer.echo("There is no dev data with labels: the last model is kept.", err=True)
    answer = {"models": [str(path) for path in tuning.models], "results": tuning.results}
    if as_json:
        show_json(answer)
    else:
        show_results(tuning)


def dev_score(result: dict[str, Any]) -> str:
    """Of one setting."""
    if result["score"] is not None:
        return f"{result['score']:.1f}"
    return "diverged" if result.get("diverged") else "–"


def show_results(tuning: Any) -> None:
    """What was tried, the best first, and where the models are."""
    from statistics import mean, stdev

    results = sorted(tuning.results, key=lambda each: -(each["score"] or 0))
    show_table(
        ["learning rate", "epochs", "seed", "dev", "at step"],
        [
            [
                f"{each['setting']['learning_rate']:g}",
                each["setting"]["epochs"],
                each["setting"]["seed"],
                dev_score(each),
                f"{each['step']:,} of {each['steps']:,}",
            ]
            for each in results
        ],
        title=f"{tuning.setup.task.title}, {tuning.setup.regime}",
    )
    if len(tuning.models) > 1:
        scores = [tuning.score(seed) for seed in tuning.grid.seeds]
        if None not in scores:
            typer.echo(f"dev {mean(scores):.1f} ± {stdev(scores):.1f} over {len(scores)} seeds")
    typer.echo(f"Written to {', '.join(map(str, tuning.models))}.")
