"""The models that `polyprune measure` was given, and what is known of them without running them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..loading.conversion import readout_of
from ..loading.hub import own_config, read_shape
from ..model.footprint import footprint_of, weight_bytes
from ..model.network.modeling_polyprune import PolypruneConfig
from ..model.network.readouts import Readout

CARD = "export.json"
"""What makes a folder an export."""


@dataclass(frozen=True, slots=True)
class Given:
    """A model that was named."""

    name: str
    path: str
    config: PolypruneConfig
    readout: Readout
    export: bool


def find_all(models: Sequence[str]) -> list[Given]:
    """The models, each with a name of its own, though one be given twice."""
    given = []
    for path in models:
        before = sum(each.path == path for each in given)
        name = path if not before else f"{path} ({before + 1})"
        given.append(Given(name, path, *_look(path)))
    return given


def _look(path: str) -> tuple[PolypruneConfig, Readout, bool]:
    """A model's config and readout, and whether it was exported."""
    folder = Path(path).expanduser()
    if not (folder / CARD).is_file():
        return *read_shape(path), False
    config = own_config(folder)
    return config, readout_of(config.architectures), True


def size_of(given: Given, tokens: int) -> dict[str, Any]:
    """What is known of a model without running it."""
    size = footprint_of(given.config, given.readout, tokens)
    shape = given.config.shape
    return {
        "model": given.name,
        "readout": given.readout,
        "parameters": size.parameters,
        **asdict(size),
        "bytes": _file_bytes(given.path) if given.export else weight_bytes(given.config, size),
        "layers": shape.layers,
        "heads": shape.heads,
        "units": shape.units,
        "rank": shape.rank,
    }


def _file_bytes(path: str) -> int:
    """Of an exported folder's own files: in int8 they are not what parameters say."""
    kinds = (".onnx", ".xml", ".bin", ".data")
    files = [each for each in Path(path).expanduser().rglob("*") if each.suffix in kinds]
    return sum(each.stat().st_size for each in files)
