"""Is this folder, or this file of gates or scores, right? All that is wrong with it, at once."""

from pathlib import Path

from ..errors import CheckpointError, PolypruneError
from ..model.files.gates_file import FORMAT as GATES
from ..model.files.gates_file import read_gates
from ..model.files.tensor_file import format_of
from ..model.files.weights import weight_shapes
from ..model.network.folder import CERTIFICATE, GATING, checksum_mismatches
from ..model.network.modeling_polyprune import MODELS
from ..pruning.criteria.scores_file import FORMAT as SCORES
from ..pruning.criteria.scores_file import load_scores
from ..pruning.gates.elastic import load_elastic
from .configs import is_own, own_config, their_config
from .conversion import from_weights, readout_of

READERS = {GATES: read_gates, SCORES: load_scores}
"""What reads, and so checks, a file of each format."""


def problems(path: Path) -> list[str]:
    """What is wrong with a model folder, or a file of gates or scores; nothing if it is right."""
    if not path.is_dir():
        return _told(_read, path)
    return [*_seals(path), *_told(_compare, path)]


def _read(path: Path) -> None:
    found = format_of(path)
    if found not in READERS:
        raise CheckpointError(
            f"{path} is neither a model folder nor a file of gates or scores (its format says "
            f"{found!r})."
        )
    READERS[found](path)


def changed_since(folder: Path) -> list[str]:
    """The side files that are not as they were saved, such as a tokenizer that has grown."""
    vital = _broken_vital(folder)
    return [name for name in checksum_mismatches(folder) if name not in vital]


def _told(check, path: Path) -> list[str]:
    """What `check` says about `path`: a list of problems, or the one it stumbles over."""
    try:
        found = check(path)
    except PolypruneError as error:
        return [str(error)]
    return found if isinstance(found, list) else []


def _seals(folder: Path) -> list[str]:
    return [
        f"{name} in {folder} does not match certificate.json: changed or damaged since."
        for name in _broken_vital(folder)
    ]


def _broken_vital(folder: Path) -> list[str]:
    """What must be as it was saved; a card, a tokenizer or a label's name may be edited."""
    patterns = ("*.safetensors", "config.json", CERTIFICATE)
    return [name for pattern in patterns for name in checksum_mismatches(folder, pattern)]


def _compare(folder: Path) -> list[str]:
    """Where the weights are not what the config expects."""
    shapes = weight_shapes(folder)
    if not is_own(folder):
        from_weights(their_config(folder), shapes, folder)
        return []
    config = own_config(folder)
    if (folder / GATING).is_file():
        load_elastic(folder / GATING, config.shape)
    expected = MODELS[readout_of(config.architectures).name].empty(config).state_dict()
    return [
        f"{name}: the weights have {_shape(shapes, name)}, config.json expects "
        f"{_shape(expected, name)}."
        for name in sorted(expected.keys() | shapes.keys())
        if _shape(expected, name) != _shape(shapes, name)
    ]


def _shape(tensors: dict, name: str) -> str:
    return str(tuple(tensors[name].shape)) if name in tensors else "nothing"
