"""Tensors in files: one safetensors file or shards, read whole or only their shapes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor

from ...errors import CheckpointError

DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "F64": torch.float64}


def read_weights(folder: Path) -> dict[str, Tensor]:
    """All tensors of a folder."""
    weights: dict[str, Tensor] = {}
    for file in _files(folder):
        with _damage_named(file):
            weights |= load_file(file)
    return weights


def weight_shapes(folder: Path) -> dict[str, Tensor]:
    """All tensors of a folder on the meta device: their shapes and precision, unread."""
    shapes = {}
    for path in _files(folder):
        with _damage_named(path), safe_open(path, "pt") as file:
            for name in file.keys():  # noqa: SIM118
                part = file.get_slice(name)
                dtype = DTYPES.get(part.get_dtype(), torch.int64)
                shapes[name] = torch.empty(part.get_shape(), dtype=dtype, device="meta")
    return shapes


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (SafetensorError, OSError) as error:
        raise CheckpointError(
            f"{path} is damaged or truncated ({error}). Copy or download it again."
        ) from error


def _files(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    names = ["model.safetensors"]
    if index.is_file():
        try:
            names = sorted(
                set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
            )
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"{index} does not say which tensor is in which file. Copy or download it again."
            ) from error
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise CheckpointError(_why_missing(folder, missing))
    return [folder / name for name in names]


def _why_missing(folder: Path, missing: list[str]) -> str:
    convert = f'AutoModelForMaskedLM.from_pretrained("{folder}").save_pretrained("converted")'
    pickles = [path.name for path in (*folder.glob("*.bin"), *folder.glob("*.pt"))]
    if pickles:
        return (
            f"{folder} holds only a pickle ({pickles[0]}), which can run code when read; polyprune "
            f"reads safetensors. If you trust the file, convert it with transformers: {convert}."
        )
    return (
        f"{folder} lacks {', '.join(missing)}. Copy or download the folder again; if the original "
        f"has only a pickle (pytorch_model.bin) and you trust it, convert it: {convert}."
    )
