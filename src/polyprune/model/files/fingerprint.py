"""Which model is this? A hash of an encoder's weights, whatever folder they came from."""

import hashlib
import os
from pathlib import Path

import torch

from ..network.gated_model import PolyprunePreTrainedModel


def fingerprint(model: PolyprunePreTrainedModel) -> str:
    """The SHA-256 of all weights of the encoder, with their names, precisions and shapes.

    The readout does not count: scores are as good for the same encoder with another one.
    """
    digest = hashlib.sha256()
    for name, tensor in sorted(model.encoder.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy())
    return digest.hexdigest()


def quick_hash(folder: Path) -> str:
    """A hash of the sizes and the ends of a folder's weight files: quick, and no training keeps it.

    For telling whether a folder was written anew, not whether two models are the same.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as file:
            digest.update(f"{path.name} {path.stat().st_size}\n".encode())
            digest.update(file.read(1 << 20))
            file.seek(max(0, path.stat().st_size - (1 << 16)), os.SEEK_SET)
            digest.update(file.read())
    return digest.hexdigest()[:16]
