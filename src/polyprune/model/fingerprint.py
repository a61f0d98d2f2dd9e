"""Which model is this? A hash of an encoder's weights, whatever folder they came from."""

import hashlib

import torch

from .modeling_polyprune import PolyprunePreTrainedModel


def fingerprint(model: PolyprunePreTrainedModel) -> str:
    """The SHA-256 of all weights of the encoder, with their names, precisions and shapes.

    The readout does not count: scores are as good for the same encoder with another one.
    """
    digest = hashlib.sha256()
    for name, tensor in sorted(model.encoder.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy())
    return digest.hexdigest()
