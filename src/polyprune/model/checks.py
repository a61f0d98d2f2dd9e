"""Is this model folder, or this gates file, right? Everything that is wrong with it, at once."""

from pathlib import Path

from ..errors import PolypruneError
from .build import empty
from .convert import AUTO_CLASS, read_config, weight_shapes
from .folder import broken_seals
from .gates_file import read_gates
from .hub import read_shape
from .modeling_polyprune import MODELS, PolypruneConfig


def problems(path: Path) -> list[str]:
    """What is wrong with a model folder or a gates file; nothing if it is right."""
    if path.is_dir():
        return _folder_problems(path)
    try:
        read_gates(path)
    except PolypruneError as error:
        return [str(error)]
    return []


def _folder_problems(folder: Path) -> list[str]:
    found = [
        f"{name} in {folder} does not match certificate.json: changed or damaged since."
        for name in broken_seals(folder)
    ]
    try:
        config, readout = read_shape(folder)
        shapes = weight_shapes(folder)
    except PolypruneError as error:
        return [*found, str(error)]
    if read_config(folder)["model_type"] != PolypruneConfig.model_type:
        return found  # transformers' own names; loading checks them
    expected = {
        name: tuple(tensor.shape)
        for name, tensor in empty(MODELS[AUTO_CLASS[readout]], config).state_dict().items()
    }
    for name in sorted(expected.keys() | shapes.keys()):
        if expected.get(name) != shapes.get(name):
            found.append(
                f"{name}: the weights have {shapes.get(name, 'nothing')}, config.json expects "
                f"{expected.get(name, 'nothing')}."
            )
    return found
