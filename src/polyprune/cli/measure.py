"""`polyprune measure`: parameters, bytes and multiply–adds; how fast, and in how much memory."""

from typing import Annotated

import typer

from .terminal import AsJson, Device, show_json

FEWEST_ROUNDS = 8
"""Fewer rounds than these have no interval of 95 %, whatever they are."""


def measure(
    models: Annotated[
        list[str],
        typer.Argument(help="Folders, exported folders, Hugging Face ids, sprout or e5-small."),
    ],
    speed: Annotated[
        bool, typer.Option("--speed", help="Run them too, in turns, beside the first.")
    ] = False,
    batch: Annotated[int, typer.Option(min=1, help="Sentences in a batch.")] = 1,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens in a sentence.")] = 128,
    corpus: Annotated[
        str | None,
        typer.Option(
            help="Sentences of real length: sample, or a folder with one file per language."
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(help="With --speed: also each at its best batch size within, such as 2GB."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads to compute with; torch's choice if not set.")
    ] = None,
    rounds: Annotated[
        int, typer.Option(min=FEWEST_ROUNDS, help="How often each is timed, after a warm-up.")
    ] = 30,
    device: Device = "auto",
    precision: Annotated[
        str, typer.Option(help="On CUDA and with --gpu: float32, bfloat16 or float16.")
    ] = "float32",
    gpu: Annotated[
        str | None,
        typer.Option(help="Estimate, on paper, what a GPU could do: T4, V100, A100, L4, H100."),
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Show numbers of a machine that is too noisy, too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Parameters, bytes and multiply–adds of one or more models, side by side.

    With --speed, how fast they are: all in one run, in turns, with the ratio to the first and its
    interval, latency, and peak memory.

    Example: polyprune measure e5-small --json
    """
    from ..errors import ConfigError
    from .measure_run import Options, answer_of
    from .render.measured import show_measured

    if memory is not None and not speed:
        raise ConfigError("--memory is for finding the best batch size: it goes with --speed.")
    options = Options(
        speed=speed,
        batch=batch,
        tokens=tokens,
        corpus=corpus,
        memory=memory,
        threads=threads,
        rounds=rounds,
        device=device,
        precision=precision,
        gpu=gpu,
        anyway=anyway,
    )
    answer = answer_of(models, options)
    if not as_json:
        show_measured(answer)
    elif list(answer) == ["models"] and len(models) == 1:
        show_json(answer["models"][0])
    else:
        show_json(answer)
