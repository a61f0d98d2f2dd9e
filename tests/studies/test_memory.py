"""Memory that a step frees is there for the next."""

import resource

import pytest

from polyprune.measuring.memory import in_child
from support.memory_use import KEPT_MEGABYTES, faults_when_kept


def test_large_tensors_are_not_asked_for_anew():
    faults = in_child(faults_when_kept)  # other tests measure what this process frees
    if faults is None:
        pytest.skip("The C library is not glibc.")
    assert faults < KEPT_MEGABYTES * 2**20 / resource.getpagesize() / 10
