"""`polyprune shrink`: cut a model to what its gates keep."""

from pathlib import Path
from typing import Annotated

import typer

from .terminal import AsJson, Force, readable, show_json, show_table, split


def shrink(
    model: Annotated[str, typer.Argument(help="A folder, a Hugging Face id, or e5-small.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    gates: Annotated[Path | None, typer.Option(help="A gates file: which components stay.")] = None,
    language: Annotated[str | None, typer.Option(help="Whose row of the gates file.")] = None,
    layers: Annotated[
        str | None, typer.Option(help="Keep only these layers, from 0: 0,2,4.")
    ] = None,
    stock: Annotated[
        bool,
        typer.Option("--stock", help="Write a folder that plain transformers loads by itself."),
    ] = False,
    pad: Annotated[
        bool, typer.Option("--pad", help="With --stock: fill up what transformers wants equal.")
    ] = False,
    languages: Annotated[
        str | None, typer.Option(help="Languages to compare gated and shrunk model in: sw,ur.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Cut a model to what its gates keep, and write a folder that from_pretrained() loads.

    Example: polyprune shrink e5-small --layers 0,2,4,6,8,10 --out half
    """
    from transformers.utils.logging import disable_progress_bar

    from ..errors import ConfigError
    from ..model.hub import load
    from ..pruning.cut import Stock, cut
    from ..storage import refuse_to_overwrite

    if gates is None and layers is None and not stock:
        raise ConfigError("Nothing to cut: give --gates, --layers or --stock.")
    if pad and not stock:
        raise ConfigError("--pad is for --stock: other folders need no padding.")
    if language and gates is None:
        raise ConfigError(f"--language {language} picks a row of a gates file: give --gates too.")
    refuse_to_overwrite(out, force=force)  # before anything is loaded, not only when it is written
    disable_progress_bar()  # transformers' own, a flash for every file
    original = load(model)
    large = _keep_layers(original, layers)
    differences = cut(
        large,
        _gates(large, gates, language),
        out,
        languages=split(languages),
        stock=Stock(pad) if stock else None,
        force=force,
    )
    _show(original, out, differences, as_json)


def _keep_layers(model, layers: str | None):
    from ..errors import ConfigError
    from ..model.shrink import drop_layers

    if layers is None:
        return model
    try:
        wanted = [int(i) for i in split(layers) or []]
    except ValueError as error:
        raise ConfigError(f"--layers takes numbers, such as 0,2,4, not {layers}.") from error
    try:
        return drop_layers(model, wanted)
    except ValueError as error:
        raise ConfigError(f"--layers {layers}: {error}") from error


def _gates(large, path: Path | None, language: str | None):
    from ..errors import ConfigError
    from ..model.components import open_gates
    from ..model.gates_file import load_gates

    if path is None:
        return open_gates(large.shape)
    gates = load_gates(path, large.shape, language)
    if len(gates.rank) > 1:
        raise ConfigError(
            f"{path} has {len(gates.rank)} rows of gates. Choose one with --language."
        )
    return gates


def _show(original, out: Path, differences: dict[str, float], as_json: bool) -> None:
    from ..measuring.footprint import footprint_of, weight_bytes
    from ..model.hub import read_shape

    before = footprint_of(original.config, original.readout_kind)
    config, readout = read_shape(out)
    after = footprint_of(config, readout)
    bytes_before, bytes_after = weight_bytes(original.config, before), weight_bytes(config, after)
    answer = {
        "out": str(out),
        "parameters": after.parameters,
        "parameters_before": before.parameters,
        "bytes": bytes_after,
        "multiply_adds": after.multiply_adds,
        "multiply_adds_before": before.multiply_adds,
        "largest_difference": max(differences.values()),
        "differences": differences,
    }
    if as_json:
        show_json(answer)
        return
    show_table(
        ["", "before", "after", "kept"],
        [
            [what, readable(old, unit), readable(new, unit), f"{new / old:.1%}"]
            for what, old, new, unit in (
                ("parameters", before.parameters, after.parameters, ""),
                ("weights", bytes_before, bytes_after, "B"),
                ("multiply–adds", before.multiply_adds, after.multiply_adds, ""),
            )
        ],
    )
    worst = max(differences, key=differences.__getitem__)
    typer.echo(
        f"Largest difference to the gated model in {len(differences)} probes: "
        f"{differences[worst]:.1e} ({worst}). Written to {out}."
    )
    if config.num_hidden_layers < original.shape.layers:
        typer.echo("Dropped layers change what a model computes: this compares the kept ones.")
