"""Read results from the folders of training runs and elastic models, without running them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import ConfigError
from ...model.files.row_names import SHARED
from ...training.run_paths import RunPaths
from ...training.run_results import held_out_curve
from ..results import Results, System
from .lines import parse_curves, parse_results

SIZES = tuple(percent / 100 for percent in range(5, 100, 5))
"""The sparsities at which an elastic folder is read."""


def run_results(folder: Path) -> Results:
    """Read the held-out losses of a training run."""
    system = System(folder.name, folder.name)
    curves = tuple(parse_curves(system, held_out_curve(folder)))
    record = json.loads(RunPaths(folder).record.read_text(encoding="utf-8"))
    about = {"run": record} if isinstance(record, dict) else {}
    return Results(folder.name, curves=curves, about=about)


def elastic_results(folder: Path) -> Results:
    """Read what an elastic folder keeps for every language in every size, and how large it is."""
    named = {"system": folder.name, "title": folder.name, "model": folder.name}
    return parse_results([{**named, **line} for line in size_lines(folder)], folder.name)


def size_lines(folder: Path, sizes: Sequence[float] = (0.0, *SIZES)) -> list[dict[str, Any]]:
    """Return a line per sparsity, as `sizes.jsonl` has them; one line if the model has one size."""
    from ...loading.hub import read_shape
    from ...model.network.folder import GATING
    from ...pruning.gates.elastic import load_elastic

    config, readout = read_shape(folder)
    elastic = load_elastic(folder / GATING, config.shape)
    lines = []
    for sparsity in sizes if elastic.holds_every_size else (None,):
        try:
            lines.append(_line(elastic, sparsity, config, readout))
        except ConfigError:  # nothing would be left of the words
            break
    return lines


def _line(elastic: Any, sparsity: float | None, config: Any, readout: Any) -> dict[str, Any]:
    from ...model.network.components import shape_kept
    from ...pruning.architecture import rows_record

    # As large as one folder for all its languages would be.
    shape = shape_kept(elastic.gates(sparsity), config.shape)
    setting = "shared" if elastic.rows == (SHARED,) else "non-shared"
    return {
        "sparsity": sparsity,
        "setting": setting,
        **_size(config.reshaped(shape), readout),
        **_whole(config.shape),
        **rows_record(elastic, sparsity),
    }


def _size(config: Any, readout: Any) -> dict[str, Any]:
    from ...model.footprint import footprint_of, weight_bytes

    size = footprint_of(config, readout)
    return {
        "parameters": size.parameters,
        "encoder_parameters": size.encoder_parameters,
        "multiply_adds": size.multiply_adds,
        "bytes": weight_bytes(config, size),
    }


def _whole(shape: Any) -> dict[str, Any]:
    widths = {"heads": list(shape.heads), "units": list(shape.units), "rank": shape.rank}
    return {"whole": widths | {"head_width": shape.head_width}}
