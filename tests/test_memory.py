"""Freed memory goes back where the C library can do that; elsewhere nothing happens."""

import ctypes

import pytest

from polyprune.memory import give_back_memory


def test_it_trims_where_it_can(monkeypatch):
    seen = []

    class Library:
        def malloc_trim(self, left: int) -> None:
            seen.append(left)

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    give_back_memory()
    assert seen == [0]


@pytest.mark.parametrize("error", [OSError, TypeError, AttributeError])
def test_elsewhere_nothing_happens(monkeypatch, error):
    asked = []

    def missing(name):
        asked.append(name)
        raise error

    monkeypatch.setattr(ctypes, "CDLL", missing)
    give_back_memory()
    assert asked == [None]
