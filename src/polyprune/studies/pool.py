"""A pool of worker processes, each running one cell after the other.

Nothing here imports torch: workers do, once, when they do their first cell.
"""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from ..errors import PolypruneError

Stop = Callable[[], bool]
Work = Callable[["Job", Stop], dict[str, Any]]
"""Runs a job and returns its result as JSON; raises `Interrupted` if it is stopped."""

OUTPUT = "output.txt"
"""The file with what a cell printed, and the traceback if it failed."""

GRACE = 60.0
"""Seconds that workers get to finish and save a step."""


class Interrupted(Exception):
    """A job stopped on request, after saving its progress."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker needs to run a cell."""

    address: str
    kind: str
    settings: dict[str, Any]
    folder: Path
    """The folder of the cell."""
    models: tuple[Path, ...]
    """The models of the cells that it needs, or the starting model if there are none."""
    start: Path
    """The study's starting model."""
    data: str
    labels: str | None = None
    """The folder of labels, for test files without labels."""
    payload: Any = None
    threads: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result or the error of a job."""

    address: str
    seconds: float
    result: dict[str, Any] | None = None
    error: str | None = None
    """The error in one sentence; neither error nor result if the job was interrupted."""
    processor: float | None = None
    """Processor seconds over all cores; None if the worker died."""


class Pool:
    """A pool of workers; one that dies fails only its job, and is replaced."""

    def __init__(self, work: Work, workers: int):
        self._work, self._most = work, workers
        self._workers: list[_Worker] = []

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.kill()

    @property
    def busy(self) -> int:
        """The number of workers with a job."""
        return sum(worker.job is not None for worker in self._workers)

    @property
    def has_room(self) -> bool:
        """Whether one more job can be started."""
        return self.busy < self._most

    def submit(self, job: Job) -> None:
        """Give a job to a worker that has none, or to a new one."""
        assert self.has_room
        idle = [each for each in self._workers if each.job is None and each.alive]
        free = idle[0] if idle else None
        if free is None:
            free = _Worker(self._work)
            self._workers.append(free)
        free.begin(job)

    def wait(self, seconds: float) -> list[Outcome]:
        """Return the outcomes of finished jobs; empty if there are none within `seconds`."""
        busy = [worker for worker in self._workers if worker.job is not None]
        ready = wait([thing for each in busy for thing in each.signs], seconds)
        ended = [each for each in busy if any(thing in ready for thing in each.signs)]
        outcomes = [each.outcome() for each in ended]
        self._workers = [each for each in self._workers if each.alive]
        return outcomes

    def stop(self, grace: float = GRACE) -> list[Outcome]:
        """Ask all workers to save and stop; return the outcomes of jobs that finished before that.

        Those that take too long are killed when the pool is left.
        """
        for worker in self._workers:
            worker.ask()
        outcomes, until = [], time.monotonic() + grace
        while self.busy and time.monotonic() < until:
            outcomes += self.wait(0.2)
        return [each for each in outcomes if each.processor is not None]


class _Worker:
    """One worker process, seen from the parent."""

    def __init__(self, work: Work):
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        arguments = (theirs, work, os.getpid())
        self._process = context.Process(target=serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        self.job: Job | None = None
        self._begun = 0.0

    @property
    def signs(self) -> list[Any]:
        """The connections and sentinels to wait for."""
        return [self._connection, self._process.sentinel]

    @property
    def alive(self) -> bool:
        """Whether it can take another job."""
        return self._process.is_alive()

    def begin(self, job: Job) -> None:
        """Send a job."""
        self.job, self._begun = job, time.monotonic()
        with suppress(OSError):  # if it has died, waiting will tell
            self._connection.send(job)

    def outcome(self) -> Outcome:
        """Return the outcome of the job."""
        assert self.job is not None
        job, self.job = self.job, None
        try:
            return self._connection.recv()
        except (EOFError, OSError):
            self._process.join()
            seconds = time.monotonic() - self._begun
            return Outcome(job.address, seconds, error=_death(self._process.exitcode or 0))

    def ask(self) -> None:
        """Ask it to stop."""
        self._process.terminate()

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.join()
        self._connection.close()


def _death(status: int) -> str:
    if status < 0:
        name = signal.Signals(-status).name
        return f"Its process was killed ({name}), perhaps because memory ran out."
    return f"Its process ended by itself, with status {status}."


def serve(connection: Connection, work: Work, parent: int) -> None:
    """The main loop of a worker: run one job after the other until the parent is gone."""
    asked: list[int] = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all: the parent decides
    signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

    def stop() -> bool:
        return bool(asked) or os.getppid() != parent

    while not stop():
        try:
            if not connection.poll(0.5):
                continue
            job = connection.recv()
        except (EOFError, OSError):
            return
        with _quiet(job.folder):
            outcome = attempt(job, work, stop)
        with suppress(OSError):
            connection.send(outcome)


def attempt(job: Job, work: Work, stop: Stop) -> Outcome:
    """Run a job, and return its outcome."""
    begun, before = time.perf_counter(), time.process_time()
    result = error = None
    try:
        result = work(job, stop)
    except Interrupted:
        pass
    except Exception as why:
        traceback.print_exc()
        error = sentence(why)
    used = round(time.process_time() - before, 3)
    return Outcome(job.address, time.perf_counter() - begun, result, error, used)


def sentence(error: Exception) -> str:
    """Return an error as one line, with its type if it is not a `PolypruneError`."""
    text = " ".join(str(error).split())
    return text if isinstance(error, PolypruneError) else f"{type(error).__name__}: {text}"


@contextmanager
def _quiet(folder: Path) -> Iterator[None]:
    """Redirect everything that is printed to a file of the cell."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / OUTPUT).open("a", encoding="utf-8") as file:
        before = [os.dup(number) for number in (1, 2)]
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            for number in (1, 2):
                os.dup2(file.fileno(), number)
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, old in zip((1, 2), before, strict=True):
                os.dup2(old, number)
                os.close(old)
