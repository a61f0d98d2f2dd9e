"""Items are made ahead, errors come at their place, and no thread is left behind."""

import threading
from collections.abc import Iterator
from itertools import count

import pytest

from polyprune.corpora.prefetching import prefetch
from support.small_texts import take


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "prefetch"]


@pytest.fixture(autouse=True)
def no_thread_left():
    yield
    assert threads() == []


@pytest.mark.parametrize("depth", [1, 4, 100])
@pytest.mark.parametrize("length", [0, 1, 7])
def test_the_items_are_the_same(length: int, depth: int):
    assert list(prefetch(iter(range(length)), depth)) == list(range(length))


def test_no_more_is_made_ahead_than_asked():
    made = threading.Semaphore(0)

    def items() -> Iterator[int]:
        for i in count():
            made.release()
            yield i

    ready = prefetch(items(), 3)
    assert next(ready) == 0
    # One taken, three ready, and one that waits for room: then nothing more.
    for _ in range(5):
        assert made.acquire(timeout=5)
    assert not made.acquire(timeout=0.1)
    ready.close()


def failing() -> Iterator[int]:
    yield 1
    yield 2
    raise RuntimeError("the third")


def test_an_error_comes_in_the_place_of_its_item():
    ready = prefetch(failing())
    assert take(ready, 2) == [1, 2]
    with pytest.raises(RuntimeError, match="the third"):
        next(ready)
    assert list(ready) == []


@pytest.mark.parametrize("taken", [1, 5])
def test_closing_ends_the_thread_and_what_it_reads(taken: int):
    closed_in: list[str] = []

    def items() -> Iterator[int]:
        try:
            yield from count()
        finally:
            closed_in.append(threading.current_thread().name)

    ready = prefetch(items(), 2)
    assert take(ready, taken) == list(range(taken))
    assert len(threads()) == 1
    assert threads()[0].daemon
    ready.close()
    assert threads() == []
    assert closed_in == ["prefetch"]


def test_an_error_of_the_reader_ends_the_thread():
    def fail_at(number: int) -> None:
        for item in prefetch(count()):
            if item == number:
                raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        fail_at(3)


def test_nothing_is_made_before_the_first_is_asked_for():
    ready = prefetch(failing())
    assert threads() == []
    ready.close()
