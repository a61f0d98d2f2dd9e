"""Memory of a model, in a process of its own."""

import os

import pytest
import torch

from polyprune.measuring.memory import FORGET, OutOfMemory, in_child, peak_memory
from polyprune.measuring.workload import TokenBatch
from support.memory_use import MEGABYTE, LoadWasteful

BATCH = TokenBatch(torch.ones(1, 4, dtype=torch.long))

pytestmark = pytest.mark.skipif(not FORGET.exists(), reason="Linux alone forgets a peak")


def test_the_peak_is_that_of_running_and_not_of_loading():
    # In a process of its own: what a long-lived one frees or swaps meanwhile would be counted.
    found = peak_memory(LoadWasteful(), BATCH, threads=1)
    assert 60 * MEGABYTE < found.weights < 80 * MEGABYTE
    assert 185 * MEGABYTE < found.peak < 215 * MEGABYTE


@pytest.mark.slow
def test_a_child_that_is_ended_is_told():
    with pytest.raises(OutOfMemory, match="ended by the system"):
        in_child(os.abort)
