"""A model whose memory is known, in a module that a new process can import."""

from dataclasses import dataclass

import torch
from torch import nn

MEGABYTE = 2**20


class Wasteful(nn.Module):
    """64 MB of weights, 128 MB more while it runs."""

    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.ones(16 * MEGABYTE))

    def forward(self, input_ids):
        return torch.ones(32 * MEGABYTE).sum() * input_ids


@dataclass(frozen=True)
class LoadWasteful:
    """Makes one, and takes more for a moment, which does not count."""

    def prepare(self) -> None:
        torch.ones(1)

    def __call__(self):
        torch.ones(64 * MEGABYTE)
        return Wasteful()
