"""The best batch size, of models that are only said to be fast and large."""

import pytest

from polyprune.errors import ConfigError
from polyprune.measuring.batch_search import LARGEST, BatchTrial, best_batch


def a_model(speeds: dict[int, float], weights: int = 100, each: int = 10):
    """One that takes so many bytes a sentence, and is so fast at each size; then never faster."""
    tried = []

    def attempt(size: int) -> BatchTrial:
        tried.append(size)
        return BatchTrial(size, speeds.get(size, max(speeds.values())), weights + each * size)

    return attempt, tried


GROWING = {2**i: float(2**i) for i in range(13)}


def test_doubling_stops_when_it_brings_nothing_twice():
    attempt, tried = a_model({1: 10.0, 2: 15.0, 4: 18.0, 8: 18.1, 16: 18.2})
    found = best_batch(attempt, memory=10_000)
    assert tried == [1, 2, 4, 8, 16]
    assert found.best.batch == 4  # as fast as 16, within 2 %, and smaller
    assert found.stopped == "speed"


def test_one_doubling_without_gain_is_not_the_end():
    attempt, _ = a_model({1: 10.0, 2: 10.0, 4: 20.0, 8: 20.0, 16: 20.0})
    assert best_batch(attempt, memory=10_000).best.batch == 4


def test_memory_is_never_exceeded():
    attempt, tried = a_model(GROWING)
    found = best_batch(attempt, memory=300)
    assert tried == [1, 2, 4, 8, 16]  # 32 would take 420, as the two before tell
    assert found.best == BatchTrial(16, 16.0, 260)
    assert found.stopped == "memory"
    assert best_batch(a_model(GROWING)[0], memory=420).best.batch == 32


def test_a_size_that_there_is_no_memory_for_is_the_end():
    attempt, _ = a_model(GROWING)
    found = best_batch(lambda size: attempt(size) if size < 8 else None, memory=10**9)
    assert found.best.batch == 4
    assert found.stopped == "memory"


def test_there_is_a_largest():
    attempt, _ = a_model(GROWING)
    found = best_batch(attempt, memory=10**9)
    assert found.best.batch == LARGEST
    assert found.stopped == "largest"


@pytest.mark.parametrize(("fits", "told"), [(True, "takes 0 MB"), (False, "more than there is")])
def test_a_budget_for_nothing_is_refused(fits, told):
    attempt, _ = a_model(GROWING)
    with pytest.raises(ConfigError, match=f"One sentence at a time.*{told}"):
        best_batch(attempt if fits else lambda _: None, memory=50)
