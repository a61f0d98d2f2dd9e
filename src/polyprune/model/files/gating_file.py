"""What the file of gates beside an elastic model says of itself, without its tensors."""

import json
from dataclasses import dataclass
from pathlib import Path

from ...errors import CheckpointError
from ..network.folder import GATING
from .tensor_file import metadata_of


@dataclass(frozen=True, slots=True)
class GatingHeader:
    """The kind of gates that lie beside a model, and what each row is for."""

    kind: str
    """`dynamic` for every size; `learned` or `fixed` for one size in each row."""
    rows: tuple[str, ...]

    @property
    def holds_every_size(self) -> bool:
        """Whether a model of any size can be taken out."""
        return self.kind == "dynamic"


def gating_header(folder: Path) -> GatingHeader | None:
    """The header of the gating in a model folder; None without one."""
    path = folder / GATING
    if not path.is_file():
        return None
    metadata = metadata_of(path)
    try:
        return GatingHeader(
            metadata["kind"], tuple(str(row) for row in json.loads(metadata["rows"]))
        )
    except (KeyError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path} has no right gating ({error}). Make it again.") from error
