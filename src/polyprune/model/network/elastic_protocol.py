"""What a model knows of its own sizes; travels with every model, elastic or not."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from .components import Gates


class ElasticProtocol(Protocol):
    """Every size that an elastic checkpoint holds; what it is made of is pruning's business."""

    @property
    def gating(self) -> Any:
        """The module that gives the gates of any size."""
        ...

    @property
    def rows(self) -> tuple[str, ...]:
        """What each row of gates is for: languages, or `shared`."""
        ...

    @property
    def weights(self) -> Any:
        """What each kind of component counts for in a sparsity."""
        ...

    @property
    def holds_every_size(self) -> bool:
        """Whether there are gates for every sparsity, not for one."""
        ...

    def at_one_size(self, sparsity: float | None = None) -> "ElasticProtocol":
        """The same rows as fixed gates of one size."""
        ...

    def gates(
        self,
        sparsity: float | None = None,
        languages: Sequence[str] | None = None,
        combine: str = "mean",
    ) -> Gates:
        """One row of gates for this sparsity and these languages."""
        ...

    def every_row(self, sparsity: float | None = None) -> Gates:
        """The gates of this sparsity, one row each, in the order of `rows`."""
        ...

    def take(
        self,
        model: Any,
        sparsity: float | None = None,
        languages: Sequence[str] | None = None,
        combine: str = "mean",
    ) -> Any:
        """The model of one size."""
        ...

    def save(self, folder: Path) -> None:
        """Write it beside the weights."""
        ...
