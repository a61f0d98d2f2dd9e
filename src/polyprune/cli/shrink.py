"""`polyprune shrink`: cut a model to what its gates keep."""

from pathlib import Path
from typing import Annotated

import typer

from ..quantities import parse_sparsity, split_list
from .render.sizes import show_asked, show_differences, show_sizes
from .scoring_options import load_quietly
from .terminal import AsJson, Force, as_typed, show_json


def shrink(
    model: Annotated[str, typer.Argument(help="A folder, a Hugging Face id, or e5-small.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    gates: Annotated[Path | None, typer.Option(help="A gates file: which components stay.")] = None,
    sparsity: Annotated[
        str | None, typer.Option(help="The size to take out of an elastic folder: 0.5 or 50%.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Whose row of the gates file or elastic folder.")
    ] = None,
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
        str | None,
        typer.Option(help="Of an elastic folder, for these; and compare models in these: sw,ur."),
    ] = None,
    combine: Annotated[
        str, typer.Option(help="How several languages of an elastic folder agree: mean or union.")
    ] = "mean",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Cut a model to what its gates keep, and write a folder that from_pretrained() loads.

    Example: polyprune shrink e5-small --layers 0,2,4,6,8,10 --out six-layers
    """
    from ..errors import ConfigError
    from ..model.history import PruningStep
    from ..provenance.writing import Stock, Target, write_shrunk
    from ..pruning.selection.audit import audit
    from ..storage import refuse_to_overwrite

    if pad and not stock:
        raise ConfigError("--pad is for --stock: other folders need no padding.")
    refuse_to_overwrite(out, force=force)  # before anything is loaded, not only when it is written
    original = load_quietly(model)
    size = parse_sparsity(sparsity)
    if gates is None and original.elastic is not None:
        if layers is not None:
            raise ConfigError("--layers does not go with an elastic folder: take out a size first.")
        names = split_list(languages) if language is None else [language]
        large, chosen = original, original.elastic.gates(size, names, combine)
    elif size is not None and gates is not None:
        raise ConfigError("--gates say what stays: leave --sparsity out, or --gates.")
    elif size is not None:
        raise ConfigError(f"{model} is not elastic: make smaller ones of it with polyprune prune.")
    elif gates is None and layers is None and not stock:
        raise ConfigError("Nothing to cut: give --gates, --layers or --stock.")
    elif language and gates is None:
        raise ConfigError(f"--language {language} picks a row of a gates file: give --gates too.")
    else:
        large = _split(_keep_layers(original, layers), gates)
        chosen = _gates(large, gates, language)
    differences = write_shrunk(
        large,
        chosen,
        Target(out, force=force),
        languages=split_list(languages),
        stock=Stock(pad) if stock else None,
        how=PruningStep(languages=_meant(original, gates, language, languages), command=as_typed()),
    )
    asked = None if size is None else audit(original, chosen, sparsity=size)
    _show(original, out, differences, asked, as_json)


def _meant(original, gates: Path | None, language: str | None, languages: str | None) -> tuple:
    """The languages whose gates are cut by; none where all share them."""
    from ..corpora.languages import find_languages
    from ..model.files.gates_file import SHARED

    if gates is None and original.elastic is not None:
        rows = original.elastic.rows
        if rows == (SHARED,):
            return ()
        names = split_list(languages) if language is None else [language]
        return rows if names is None else tuple(find_languages(names, rows, "this checkpoint"))
    return () if language is None else (language,)


def _keep_layers(model, layers: str | None):
    from ..errors import ConfigError
    from ..model.surgery.drop_layers import drop_layers

    if layers is None:
        return model
    try:
        wanted = [int(i) for i in split_list(layers) or []]
    except ValueError as error:
        raise ConfigError(f"--layers takes numbers, such as 0,2,4, not {layers}.") from error
    try:
        return drop_layers(model, wanted)
    except ValueError as error:
        raise ConfigError(f"--layers {layers}: {error}") from error


def _split(model, gates: Path | None):
    """The model whose ranks these gates are for."""
    from ..model.files.gates_file import table_of
    from ..pruning.shrinking import with_ranks

    return model if gates is None else with_ranks(model, table_of(gates))


def _gates(large, path: Path | None, language: str | None):
    from ..errors import ConfigError
    from ..model.files.gates_file import load_gates
    from ..model.network.components import open_gates

    if path is None:
        return open_gates(large.shape)
    gates = load_gates(path, large.shape, language)
    if len(gates.rank) > 1:
        raise ConfigError(
            f"{path} has {len(gates.rank)} rows of gates. Choose one with --language."
        )
    return gates


def _show(original, out: Path, differences: dict[str, float], asked, as_json: bool) -> None:
    from ..loading.hub import read_shape
    from ..model.footprint import footprint_of, weight_bytes

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
    if asked is not None:
        names = ("requested_sparsity", "gate_sparsity", "encoder_sparsity")
        answer |= {name: getattr(asked, name) for name in names}
    if as_json:
        show_json(answer)
        return
    show_sizes(
        [
            ("parameters", before.parameters, after.parameters, ""),
            ("weights", bytes_before, bytes_after, "B"),
            ("multiply–adds", before.multiply_adds, after.multiply_adds, ""),
        ]
    )
    if asked is not None:
        show_asked(asked)
    show_differences(differences, out)
    if config.num_hidden_layers < original.shape.layers:
        typer.echo("Dropped layers change what a model computes: this compares the kept ones.")
