"""Gates as a file of their own: which components stay, for which model, in which languages."""

import json
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import save_file
from torch import Tensor

from ...errors import CheckpointError, UnknownName
from ...storage import atomic_file
from ..network.components import Gates, PerComponent, check_gates
from ..network.shape import EncoderShape
from .row_names import SHARED
from .tensor_file import read_tensors

FORMAT = "polyprune-gates-1"
MAKE = "Write one with polyprune prune --gates, or polyprune.save_gates()."


def save_gates(
    path: str | Path,
    gates: Gates,
    rows: Sequence[str] = (SHARED,),
    *,
    table: str = "as it is",
    force: bool = False,
) -> None:
    """Write gates to a safetensors file; `rows` names the language of each row.

    `table` says how the model's word table was split before, `spectral` or `identity`, if the ranks
    that are gated are not its own columns.
    """
    if len(rows) != len(gates.rank):
        raise ValueError(
            f"{len(rows)} names ({', '.join(rows)}) for {len(gates.rank)} rows of gates."
        )
    tensors = {name: gate.detach().clone().contiguous() for name, gate in gates.named().items()}
    with atomic_file(Path(path), force=force) as temporary:
        save_file(
            tensors, temporary, {"format": FORMAT, "rows": json.dumps(list(rows)), "table": table}
        )


def load_gates(path: str | Path, shape: EncoderShape, row: str | None = None) -> Gates:
    """The gates in a file, checked against the shape of the model they are for.

    `row` picks one language's; without it all rows come back.
    """
    gates, rows = read_gates(Path(path))
    try:
        check_gates(gates, shape, examples=len(rows))
    except ValueError as error:
        raise CheckpointError(f"{path} was made for another model. {error}") from error
    if row is None:
        return gates
    if row not in rows:
        raise UnknownName("row of gates", row, rows, f"{path} has: {', '.join(rows)}.")
    return gates.map(lambda gate: gate[rows.index(row), None])


def table_of(path: Path) -> str:
    """How the word table has to be split before the gates of a file fit its ranks."""
    return read_tensors(path, FORMAT, "gates", MAKE)[1].get("table", "as it is")


def read_gates(path: Path) -> tuple[Gates, list[str]]:
    """The gates of a file and the names of their rows, whatever model they are for."""
    tensors, metadata = read_tensors(path, FORMAT, "gates", MAKE)
    try:
        rows = json.loads(metadata.get("rows", "[]"))
        heads, units = (
            tuple(tensors[name] for name in sorted(tensors, key=_layer) if name.startswith(kind))
            for kind in ("heads.", "units.")
        )
    except ValueError as error:
        raise CheckpointError(f"{path} has no right gates ({error}). Make it again.") from error
    wrong = [name for name, gate in tensors.items() if not _is_right(gate, len(rows))]
    if "rank" not in tensors or wrong:
        raise CheckpointError(
            f"{path} has no right gates for {wrong[0] if wrong else 'rank'}: a finite number for "
            f"each component in each of {len(rows)} rows. Make it again."
        )
    return PerComponent(heads, units, tensors["rank"]), rows


def _layer(name: str) -> int:
    return int(name.partition(".")[2] or -1)


def _is_right(gate: Tensor, rows: int) -> bool:
    return gate.ndim == 2 and len(gate) == rows and bool(gate.isfinite().all())
