"""What is left of a model, for JSON: heads and units per layer and rank, for each row of gates.

    {"whole": {"heads": [12, 12], "units": [1536, 1536], "rank": 384, "head_width": 32},
     "kept": {"sw": {"heads": [3, 9], "units": [700, 12], "rank": 380}, …},
     "distances": {"languages": ["sw", …], "matrix": [[0, 0.21], …]}}

`kept` has one row, `shared`, where all languages have the same; then there are no distances.
"""

from typing import Any, cast

from torch import Tensor

from ..model.files.row_names import SHARED
from ..model.network.components import Gates
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.network.shape import EncoderShape
from .gates.elastic import Elastic
from .subnetworks import hamming


def architecture_record(
    model: PolyprunePreTrainedModel, whole: EncoderShape, sparsity: float | None = None
) -> dict[str, Any]:
    """What a model keeps of the shape that it had, in every row if it is elastic."""
    elastic = cast(Elastic | None, model.elastic)
    if elastic is None:
        return {"whole": _record(whole), "kept": {SHARED: _widths(model.shape)}}
    return {"whole": _record(whole), **rows_record(elastic, sparsity)}


def rows_record(elastic: Elastic, sparsity: float | None) -> dict[str, Any]:
    """What every row keeps in one size, and how much rows differ."""
    gates = elastic.every_row(sparsity)
    found: dict[str, Any] = {"kept": dict(zip(elastic.rows, _counts(gates), strict=True))}
    if len(elastic.rows) > 1:
        matrix = [[round(each, 4) for each in row] for row in hamming(gates).tolist()]
        found["distances"] = {"languages": list(elastic.rows), "matrix": matrix}
    return found


def _counts(gates: Gates) -> list[dict[str, Any]]:
    def count(gate: Tensor) -> list[int]:
        return (gate > 0).sum(1).tolist()

    heads = zip(*(count(gate) for gate in gates.heads), strict=True)
    units = zip(*(count(gate) for gate in gates.units), strict=True)
    return [
        {"heads": list(own_heads), "units": list(own_units), "rank": rank}
        for own_heads, own_units, rank in zip(heads, units, count(gates.rank), strict=True)
    ]


def _widths(shape: EncoderShape) -> dict[str, Any]:
    return {"heads": list(shape.heads), "units": list(shape.units), "rank": shape.rank}


def _record(shape: EncoderShape) -> dict[str, Any]:
    return _widths(shape) | {"head_width": shape.head_width}
