"""`sprout`, the small encoder in fifteen languages that comes with the package."""

from importlib.resources import files
from pathlib import Path

from ..errors import CheckpointError


def sprout() -> Path:
    """The folder of the bundled model, which is read when it is loaded and not before."""
    folder = Path(str(files("polyprune").joinpath("bundled", "sprout")))
    if not (folder / "model.safetensors").is_file():
        raise CheckpointError(
            "The bundled model is missing from this installation. Install polyprune again."
        )
    return folder
