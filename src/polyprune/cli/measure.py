"""`polyprune measure`: parameters, bytes and multiply–adds."""

from dataclasses import asdict
from typing import Annotated

import typer

from .terminal import AsJson, readable, show_json, show_table


def measure(
    models: Annotated[list[str], typer.Argument(help="Folders, Hugging Face ids, or e5-small.")],
    tokens: Annotated[
        int, typer.Option(min=1, help="Length of the sequence that multiply–adds are counted for.")
    ] = 128,
    as_json: AsJson = False,
) -> None:
    """Parameters, bytes and multiply–adds of one or more models, side by side.

    Example: polyprune measure e5-small --json
    """
    from ..model.footprint import footprint_of, weight_bytes
    from ..model.hub import read_shape

    answers = []
    for model in models:
        config, readout = read_shape(model)
        size = footprint_of(config, readout, tokens)
        answers.append(
            {
                "model": model,
                "readout": readout,
                "parameters": size.parameters,
                **asdict(size),
                "bytes": weight_bytes(config, size),
                "layers": config.shape.layers,
                "heads": config.shape.heads,
                "units": config.shape.units,
                "rank": config.shape.rank,
            }
        )
    if as_json:
        show_json(answers[0] if len(answers) == 1 else {"models": answers})
        return
    show_table(
        ["model", "parameters", "embedding", "encoder", "readout", "weights", "multiply\n–adds"],
        [
            [
                answer["model"],
                *(
                    readable(answer[name])
                    for name in (
                        "parameters",
                        "embedding_parameters",
                        "encoder_parameters",
                        "readout_parameters",
                    )
                ),
                readable(answer["bytes"], "B"),
                readable(answer["multiply_adds"]),
            ]
            for answer in answers
        ],
        title=f"one sequence of {tokens} tokens",
    )
