"""How far work has come, for whoever follows it: one protocol, a silent one, and bars.

Long functions take a `Progress` and are silent unless one is given. The functions of `polyprune`
show bars where somebody watches: in a terminal and in a notebook, but not in a log file, and in
only one of several processes.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

Item = TypeVar("Item")

SECONDS_BETWEEN_DRAWINGS = 0.1


@runtime_checkable
class Progress(Protocol):
    """Follows a piece of work, and may ask it to stop."""

    def stage(self, title: str, total: int | None = None) -> AbstractContextManager[None]:
        """A part of the work, of so many steps if that is known; stages may be nested."""
        ...

    def track(self, name: str, items: Iterable[Item]) -> Iterable[Item]:
        """Pass items on; each of them is one step of the innermost stage."""
        ...

    def update(self, done: int, note: str = "") -> None:
        """Say how many steps of the innermost stage are done, and what is to be said of it."""
        ...

    def message(self, text: str) -> None:
        """Show lines that stay."""
        ...

    def should_stop(self) -> bool:
        """Whether the work is to end at the next point from which it can go on later."""
        ...


class Stopped(Exception):
    """Work that was asked to stop, and can go on where it was."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Silent:
    """Shows nothing."""

    should_stop: Callable[[], bool] = _never

    def stage(self, title: str, total: int | None = None) -> AbstractContextManager[None]:
        """Nothing is shown of a stage."""
        return nullcontext()

    def track(self, name: str, items: Iterable[Item]) -> Iterable[Item]:
        """The items as they are."""
        return items

    def update(self, done: int, note: str = "") -> None:
        """Nothing is shown."""

    def message(self, text: str) -> None:
        """Nothing is shown."""


SILENT = Silent()


def progress_of(given: "Progress | bool | None") -> Progress:
    """The progress that is meant: bars where somebody watches for None and True, none for False.

    Anything else is a `Progress` already.
    """
    if not (given is None or isinstance(given, bool)):
        return given
    bars = Bars()
    return bars if given is not False and bars.watched else SILENT


def is_main_process() -> bool:
    """Whether this is the process, of perhaps several, that talks."""
    return int(os.environ.get("RANK", "0")) == 0


class Bars:
    """One bar for every open stage, on stderr or in a notebook.

    Bars are drawn only when a step is done: a bar that moves by itself would be measured too.
    Messages are printed even where no bar is drawn, for log files, unless there are to be none.
    """

    def __init__(
        self,
        should_stop: Callable[[], bool] = _never,
        console: Any = None,
        *,
        messages: bool = True,
    ):
        from rich.console import Console

        self.should_stop, self.messages = should_stop, messages
        self.console = console or Console(stderr=True, highlight=False)
        self.watched = is_main_process() and (self.console.is_terminal or _in_notebook())
        self._bars: Any = None
        self._stages: list[tuple[Any, str]] = []
        self._drawn = 0.0

    @contextmanager
    def stage(self, title: str, total: int | None = None) -> Iterator[None]:
        """A bar until the stage ends; nothing of it stays."""
        if not self.watched:
            yield
            return
        if not self._stages:
            self._bars = _rich_bars(self.console)
            self._bars.start()
        self._stages.append((self._bars.add_task(title, total=total, note=""), title))
        self._bars.refresh()
        try:
            yield
        finally:
            task, _ = self._stages.pop()
            self._bars.remove_task(task)
            if not self._stages:
                self._bars.stop()

    def track(self, name: str, items: Iterable[Item]) -> Iterator[Item]:
        """Pass items on, named beside the bar, and count them."""
        for item in items:
            if self._stages:
                self._show(description=f"{self._stages[-1][1]} {name}".strip())
            yield item
            self._show(advance=1)

    def update(self, done: int, note: str = "") -> None:
        """Move the bar to so many steps, with a note beside it."""
        self._show(completed=done, note=note)

    def message(self, text: str) -> None:
        """Print lines above the bars."""
        if self.messages and is_main_process():
            self.console.print(text, soft_wrap=True, markup=False)

    def _show(self, **changes: Any) -> None:
        """Change the bar of the innermost stage, and draw it unless that was done just now."""
        if not self._stages:
            return
        self._bars.update(self._stages[-1][0], **changes)
        if time.monotonic() - self._drawn > SECONDS_BETWEEN_DRAWINGS:
            self._bars.refresh()
            self._drawn = time.monotonic()


def _rich_bars(console: Any) -> Any:
    from rich import progress as rich

    columns = (
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TextColumn("{task.fields[note]}", markup=False),
        rich.TimeElapsedColumn(),
        rich.TextColumn("left"),
        rich.TimeRemainingColumn(),
    )
    return rich.Progress(*columns, console=console, transient=True, auto_refresh=False)


def _in_notebook() -> bool:
    """Whether bars can be drawn in a notebook, which takes ipywidgets."""
    from importlib.util import find_spec

    from rich.console import Console

    return Console().is_jupyter and find_spec("ipywidgets") is not None
