"""Memory that a step frees is there for the next."""

import resource

import pytest
import torch

from polyprune.studies.cell_work import keep_memory

MEGABYTES = 64


def faults() -> int:
    """Pages that this process has had to ask for."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def test_large_tensors_are_not_asked_for_anew():
    if not keep_memory():
        pytest.skip("The C library is not glibc.")
    torch.ones(2 * MEGABYTES * 2**18)
    before = faults()
    torch.ones(MEGABYTES * 2**18)
    assert faults() - before < MEGABYTES * 2**20 / resource.getpagesize() / 10
