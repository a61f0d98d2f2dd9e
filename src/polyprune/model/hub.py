"""Find, check and load a model: a folder, a name on the Hugging Face hub, or `e5-small`."""

from pathlib import Path

import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
from safetensors import SafetensorError
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from ..errors import CheckpointError, UnknownName
from .convert import (
    AUTO_CLASS,
    from_folder,
    our_config,
    plain_name,
    pruned_heads,
    read_config,
    readout_of,
    their_config,
    weight_shapes,
)
from .e5 import e5_small
from .families import FAMILIES
from .folder import SIDE_FILES, broken_seals
from .modeling_polyprune import MODELS, PolypruneConfig, PolyprunePreTrainedModel
from .readouts import READOUTS, Readout

NAMED = {"e5-small": e5_small}
"""Models that need no hub: a name, and what makes their folder in the user's cache."""

TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "sentencepiece.bpe.model",
    "vocab.txt",
)


def load(
    path_or_id: str | Path,
    readout: str | None = None,
    *,
    labels: int | None = None,
    dtype: torch.dtype | None = None,
    verify: bool = True,
) -> PolyprunePreTrainedModel:
    """Any supported model as a gated one, in evaluation mode, with its readout.

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
    if read_config(folder).get("model_type") == PolypruneConfig.model_type:
        model = _load_own(folder, wanted, labels, verify)
    else:
        model = from_folder(folder, wanted, labels)
    return model if dtype is None else model.to(dtype=dtype)  # pyright: ignore[reportCallIssue]


def known_readout(name: str) -> Readout:
    """The readout of this name."""
    for readout in READOUTS:
        if readout == name:
            return readout
    raise UnknownName("readout", name, READOUTS, f"There are: {', '.join(READOUTS)}.")


def read_shape(path_or_id: str | Path) -> tuple[PolypruneConfig, Readout]:
    """The config and the readout of a model, without its weights."""
    folder = find(path_or_id)
    written = read_config(folder)
    if written.get("model_type") == PolypruneConfig.model_type:
        return _own_config(folder), readout_of(written.get("architectures"))
    theirs = their_config(folder)
    names = [plain_name(name, FAMILIES[theirs.model_type]) for name in weight_shapes(folder)]
    readout = readout_of(theirs.architectures, names)
    config = our_config(theirs, readout, pooler="pooler.dense.weight" in names)
    pruned = pruned_heads(theirs)
    config.heads = [n - len(pruned.get(i, ())) for i, n in enumerate(config.heads)]
    return config, readout


def load_tokenizer(path_or_id: str | Path | None) -> PreTrainedTokenizerBase | None:
    """The tokenizer that lies beside a model, or None where there is none."""
    folder = Path(path_or_id or "?")
    if not any((folder / name).is_file() for name in TOKENIZER_FILES):
        return None
    return AutoTokenizer.from_pretrained(folder)


def find(path_or_id: str | Path) -> Path:
    """The folder of a model; fetched from the hub, or made in the cache, where necessary."""
    name = str(path_or_id)
    if name in NAMED and not Path(name).is_dir():
        return NAMED[name]()
    if Path(name).is_dir():
        return Path(name)
    if isinstance(path_or_id, Path) or name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise CheckpointError(f"There is no folder {name}. Give a folder that holds config.json.")
    try:
        wanted = ["*.json", "*.safetensors", "*.txt", "*.model", "*/config.json", *SIDE_FILES]
        return Path(snapshot_download(name, allow_patterns=wanted))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise UnknownName(
            "model",
            name,
            NAMED,
            f"It is not a folder here, and the Hugging Face hub did not give it ({reason}). Give a "
            f"folder, a Hugging Face id, or {', '.join(NAMED)}.",
        ) from error


def _own_config(folder: Path) -> PolypruneConfig:
    try:
        return PolypruneConfig.from_pretrained(folder)
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{folder}/config.json is not right: {error}") from error


def _load_own(
    folder: Path, readout: Readout | None, labels: int | None, verify: bool
) -> PolyprunePreTrainedModel:
    if verify:
        check_seals(folder, "*.safetensors")  # the rest may be edited, a card or a label's name
    config = _own_config(folder)
    readout = readout or readout_of(config.architectures)
    if labels is not None:
        config.num_labels = labels
    try:
        return MODELS[AUTO_CLASS[readout]].from_pretrained(folder, config=config)
    except (SafetensorError, OSError, RuntimeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise CheckpointError(
            f"The weights in {folder} do not load ({reason}). Copy or make the folder again."
        ) from error


def check_seals(folder: Path, pattern: str = "*") -> None:
    """Raise if a file of the folder is not what its certificate says."""
    broken = broken_seals(folder, pattern)
    if broken:
        raise CheckpointError(
            f"{', '.join(broken)} in {folder} does not match certificate.json: changed or damaged "
            "since it was saved. Copy or make the folder again, or load with verify=False."
        )
