"""Find a model: a folder, a name on the Hugging Face hub, `sprout`, `e5-small`."""

from importlib.resources import files
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from ..errors import CheckpointError, UnknownName
from ..model.network.folder import CARD, SIDE_FILES
from .e5 import e5_small


def sprout() -> Path:
    """The folder of the bundled model, which is read when it is loaded and not before."""
    folder = Path(str(files("polyprune").joinpath("bundled", "sprout")))
    if not (folder / "model.safetensors").is_file():
        raise CheckpointError(
            "The bundled model is missing from this installation. Install polyprune again."
        )
    return folder


NAMED = {"sprout": sprout, "e5-small": e5_small}
"""Models that need no hub: a name, and what finds or makes their folder."""


def find(path_or_id: str | Path) -> Path:
    """The folder of a model; fetched from the hub, or made in the cache, where necessary."""
    name, folder = str(path_or_id), Path(path_or_id).expanduser()
    # A folder that happens to be called like a model, but holds none, does not hide it.
    if name in NAMED and not (folder / "config.json").is_file():
        return NAMED[name]()
    if folder.is_dir():
        inside = folder / "model"  # where train and finetune leave what they made
        made = not (folder / "config.json").is_file() and (inside / "config.json").is_file()
        return inside if made else folder
    if isinstance(path_or_id, Path) or name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise CheckpointError(f"There is no folder {name}. Give a folder that holds config.json.")
    try:
        # The folders are sentence-transformers' modules; no weights but safetensors at the top.
        wanted = ["*.json", "*.safetensors", "*.txt", "*.model", "[0-9]_*/*", CARD, *SIDE_FILES]
        return Path(snapshot_download(name, allow_patterns=wanted))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise UnknownName(
            "model",
            name,
            NAMED,
            f"It is not a folder here, and the Hugging Face hub did not give it ({reason}). Give a "
            f"folder, a Hugging Face id, {' or '.join(NAMED)}.",
        ) from error
