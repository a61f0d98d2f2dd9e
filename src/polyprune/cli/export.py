"""`polyprune export`: a file for ONNX Runtime or OpenVINO, compared with the model first."""

from pathlib import Path
from typing import Annotated

import typer

from ..quantities import readable, split_list
from .scoring_options import load_quietly
from .terminal import AsJson, Force, show_json, show_table


def export(
    model: Annotated[str, typer.Argument(help="A folder, a Hugging Face id, or e5-small.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    to: Annotated[str, typer.Option(help="The runtime: onnx or openvino.")] = "onnx",
    precision: Annotated[
        str, typer.Option(help="fp32, fp16 (half the file) or int8 (a quarter, and faster).")
    ] = "fp32",
    corpus: Annotated[
        str,
        typer.Option(
            help="Text to compare on and take int8's ranges from: a folder, one file per language "
            "(sw.txt, ur.txt.xz), or sample."
        ),
    ] = "sample",
    languages: Annotated[
        str | None, typer.Option(help="Only these languages: sw,ur; all of the text unless given.")
    ] = None,
    pooled: Annotated[
        bool,
        typer.Option(
            "--pooled/--hidden",
            help="Of a sentence encoder: one vector a sentence, or the hidden states.",
        ),
    ] = False,
    threads: Annotated[
        int, typer.Option(min=0, help="Threads that the runtime may use; 0 is all.")
    ] = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a model as a file for ONNX Runtime or OpenVINO, once it does what the model does.

    The file is opened and compared with the model on real text, language by language. In single
    precision it has to be equal; otherwise the differences are told, and written beside it.

    Example: polyprune export sprout --to onnx --precision int8 --out sprout-onnx
    """
    from ..exporting.export_model import ExportConfig
    from ..exporting.export_model import export as write
    from ..exporting.export_text import export_texts
    from ..storage import refuse_to_overwrite

    plan = ExportConfig(to, precision, pooled, threads)
    refuse_to_overwrite(out, force=force)  # before anything is loaded, not only when it is written
    _need(to)
    loaded = load_quietly(model)
    made = write(
        loaded, out, plan, export_texts(loaded, corpus, split_list(languages)), force=force
    )
    if as_json:
        show_json(made.as_dict())
    else:
        _show(made)


def _need(runtime: str) -> None:
    from ..exporting.runtimes import runtime_named

    runtime_named(runtime).need(to_make=True)


def _show(made) -> None:
    from ..exporting.export_card import snippet

    show_table(
        ["language", "largest\ndifference", "cosine", "agreement"],
        [
            [code, f"{each.largest:.1e}", f"{each.cosine:.5f}", f"{each.agreement:.0%}"]
            for code, each in made.differences.items()
        ],
        title=f"{made.runtime} {made.precision} against the model",
    )
    before, after = readable(made.bytes_before, "B"), readable(made.bytes, "B")
    typer.echo(f"Weights {before}, file {after}. Written to {made.out}. Run it:\n")
    typer.echo(snippet(made))
