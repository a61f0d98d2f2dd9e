"""Small safetensors files that say in their metadata what they are."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from ...errors import CheckpointError


def read_tensors(
    path: Path, file_format: str, what: str, make: str
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and the metadata of a file that must be of this format."""
    if not path.is_file():
        raise CheckpointError(f"There is no {what} file {path}. {make}")
    with _opened(path) as file:
        metadata = file.metadata() or {}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if metadata.get("format") != file_format:
        raise CheckpointError(
            f"{path} is a safetensors file, but not one of {what} (its format says "
            f"{metadata.get('format', 'nothing')!r}, expected {file_format!r})."
        )
    return tensors, metadata


def format_of(path: Path) -> str:
    """What a file says that it is; empty if it does not say."""
    return metadata_of(path).get("format", "")


def metadata_of(path: Path) -> dict[str, str]:
    """What a file says of itself, without its tensors."""
    if not path.is_file():
        raise CheckpointError(f"There is no file {path}.")
    with _opened(path) as file:
        return file.metadata() or {}


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with safe_open(path, "pt") as file:
            yield file
    except (SafetensorError, OSError) as error:
        raise CheckpointError(
            f"{path} is damaged or no safetensors file ({error}). Make it again."
        ) from error
