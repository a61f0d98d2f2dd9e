"""A progress that remembers what it was told."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from polyprune.progress import Item, Silent


@dataclass(frozen=True)
class Recorded(Silent):
    """The stages with their totals, the names, the items and the messages."""

    stages: list[tuple[str, int | None]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    items: list[object] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def stage(self, title: str, total: int | None = None) -> AbstractContextManager[None]:
        self.stages.append((title, total))
        return nullcontext()

    def track(self, name: str, items: Iterable[Item]) -> Iterator[Item]:
        self.names.append(name)
        for item in items:
            self.items.append(item)
            yield item

    def message(self, text: str) -> None:
        self.messages.append(text)
