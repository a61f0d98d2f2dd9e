"""Prefetching: a thread prepares the next items in advance."""

from collections.abc import Iterator
from queue import Empty, Queue
from threading import Event, Thread
from typing import TypeVar

T = TypeVar("T")


class _End:
    """Marks the end of the items, with the error that caused it, if any."""

    def __init__(self, error: BaseException | None = None):
        self.error = error


def prefetch(iterator: Iterator[T], depth: int = 4) -> Iterator[T]:
    """Yield the same items; a thread prepares up to `depth` of them in advance.

    An error is raised in the place of the item that it prevented. Closing the generator ends the
    thread, once the item that it is making is done.
    """
    ready: Queue[T | _End] = Queue(depth)
    closed = Event()
    thread = Thread(target=_work, args=(iterator, ready, closed), name="prefetch", daemon=True)
    thread.start()
    try:
        while not isinstance(item := ready.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        closed.set()
        _drain(ready)  # the thread may be waiting for room
        thread.join()


def _work(iterator: Iterator[T], ready: "Queue[T | _End]", closed: Event) -> None:
    end = _End()
    try:
        for item in iterator:
            ready.put(item)
            if closed.is_set():
                break
    except BaseException as error:
        end = _End(error)
    finally:
        close = getattr(iterator, "close", None)
        if close is not None:
            close()  # in the thread that runs it
    if not closed.is_set():
        ready.put(end)


def _drain(ready: "Queue[T | _End]") -> None:
    while True:
        try:
            ready.get_nowait()
        except Empty:
            return
