"""A model whose memory is known, in a module that a new process can import."""

import resource
from dataclasses import dataclass

import torch
from torch import nn

from polyprune.studies.cell_work import keep_memory

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


KEPT_MEGABYTES = 64


def faults_when_kept() -> int | None:
    """Pages that a second large tensor has to ask for, where a first was freed before it."""
    if not keep_memory():
        return None
    torch.ones(2 * KEPT_MEGABYTES * 2**18)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(KEPT_MEGABYTES * 2**18)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
