"""Load and check a model: a folder, a name on the Hugging Face hub, `sprout`, `e5-small`."""

from pathlib import Path

import torch
from safetensors import SafetensorError

from ..errors import CheckpointError, UnknownName
from ..model.files.weights import read_weights, weight_shapes
from ..model.network.configuration_polyprune import PolypruneConfig
from ..model.network.folder import GATING, checksum_mismatches
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.network.modeling_polyprune import MODELS
from ..model.network.readouts import READOUTS, Readout
from ..model.network.source import ModelSource
from ..pruning.gates.elastic import load_elastic
from .configs import is_own, own_config, their_config
from .conversion import from_weights, readout_of, remember_size
from .finding import find

READOUT_ALIASES = {
    "none": "hidden-states",
    "mlm": "masked-lm",
    "sequence-classification": "sentence-classification",
    "question-answering": "span",
}


def load(
    path_or_id: str | Path,
    readout: str | Readout | None = None,
    *,
    labels: int | None = None,
    dtype: torch.dtype | None = None,
    verify: bool = True,
) -> PolyprunePreTrainedModel:
    """Any supported model as a gated one, in evaluation mode, with its readout.

    An elastic folder comes back dense, with every size in it: `model.at(sparsity=0.5)`.

    Args:
        path_or_id: A folder, a Hugging Face id, or `e5-small`.
        readout: What to read off the hidden states; what the folder was trained for unless given.
            A readout that the folder does not have starts from random weights.
        labels: How many labels a fresh readout has.
        dtype: The precision of the weights; the folder's own unless given.
        verify: Whether to compare the weights of a polyprune folder with its certificate.
    """
    wanted = None if readout is None else known_readout(readout)
    folder = find(path_or_id)
    if is_own(folder):
        model = _load_own(folder, wanted, labels, verify)
    else:
        theirs = their_config(folder)
        if labels is not None:
            theirs.num_labels = labels
        model = from_weights(theirs, read_weights(folder), folder, wanted)
        if theirs.dtype == torch.float32:  # maybe stored in half, to take less room
            dtype = dtype or torch.float32
    if dtype is not None:
        model.to(dtype=dtype)  # pyright: ignore[reportCallIssue]
        model.config.dtype = dtype
    model.source = ModelSource.at(folder)
    gating = folder / GATING
    if gating.is_file():
        model.elastic = load_elastic(gating, model.shape)
    return model


def known_readout(name: str | Readout) -> Readout:
    """The readout of this name, or of what transformers calls its task."""
    name = READOUT_ALIASES.get(str(name), str(name))
    if name in READOUTS:
        return READOUTS[name]
    raise UnknownName("readout", name, READOUTS, f"There are: {', '.join(READOUTS)}.")


def read_shape(path_or_id: str | Path) -> tuple[PolypruneConfig, Readout]:
    """The config and the readout of a model, from the headers of its files."""
    folder = find(path_or_id)
    if not is_own(folder):
        model = from_weights(their_config(folder), weight_shapes(folder), folder)
        return model.config, model.readout_kind
    config = own_config(folder)
    config.dtype = next(iter(weight_shapes(folder).values())).dtype
    return config, readout_of(config.architectures)


def _load_own(
    folder: Path, readout: Readout | None, labels: int | None, verify: bool
) -> PolyprunePreTrainedModel:
    if verify:
        check_checksums(folder, "*.safetensors")  # the rest may be edited, a card or a label's name
    config = own_config(folder)
    readout = readout or readout_of(config.architectures)
    if labels is not None:
        config.num_labels = labels
    remember_size(config, readout)
    try:
        return MODELS[readout.name].from_pretrained(folder.resolve(), config=config)
    except (SafetensorError, OSError, RuntimeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise CheckpointError(
            f"The weights in {folder} do not load ({reason}). Copy or make the folder again."
        ) from error


def check_checksums(folder: Path, pattern: str = "*") -> None:
    """Raise if a file of the folder is not what its certificate says."""
    broken = checksum_mismatches(folder, pattern)
    if broken:
        raise CheckpointError(
            f"{', '.join(broken)} in {folder} does not match certificate.json: changed or damaged "
            "since it was saved. Copy or make the folder again, or load with verify=False."
        )
