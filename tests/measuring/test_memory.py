"""Memory of a model, in this process or in one of its own."""

import os
from dataclasses import dataclass

import pytest
import torch
from torch import nn

from polyprune.measuring.memory import FORGET, MemoryGauge, OutOfMemory, in_child, peak_memory
from polyprune.measuring.workload import TokenBatch

MEGABYTE = 2**20
BATCH = TokenBatch(torch.ones(1, 4, dtype=torch.long))

pytestmark = pytest.mark.skipif(not FORGET.exists(), reason="Linux alone forgets a peak")


class Wasteful(nn.Module):
    """64 MB of weights, 128 MB more while it runs."""

    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.ones(16 * MEGABYTE))

    def forward(self, input_ids):
        return torch.ones(32 * MEGABYTE).sum() * input_ids


@dataclass(frozen=True)
class Load:
    def prepare(self) -> None:
        torch.ones(1)

    def __call__(self):
        torch.ones(64 * MEGABYTE)  # loading takes more for a moment, which does not count
        return Wasteful()


def test_the_peak_is_that_of_running_and_not_of_loading():
    gauge = MemoryGauge(Load(), torch.get_num_threads(), "float32")
    peak = gauge.peak(gauge.call(BATCH))
    assert 60 * MEGABYTE < gauge.weights < 80 * MEGABYTE
    assert 185 * MEGABYTE < peak < 215 * MEGABYTE


@pytest.mark.slow
def test_a_child_finds_the_same():
    found = peak_memory(Load(), BATCH, threads=1)
    assert 60 * MEGABYTE < found.weights < 80 * MEGABYTE
    assert 185 * MEGABYTE < found.peak < 215 * MEGABYTE


@pytest.mark.slow
def test_a_child_that_is_ended_is_told():
    with pytest.raises(OutOfMemory, match="ended by the system"):
        in_child(os.abort)
