"""What a model knows of its own sizes; travels with every model, elastic or not."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from .components import Gates


class ElasticProtocol(Protocol):
    """Every size that an elastic checkpoint holds; what it is made of is pruning's business."""

    def gates(
        self,
        sparsity: float | None = None,
        languages: Sequence[str] | None = None,
        combine: str = "mean",
    ) -> Gates:
        """The gates of one size."""
        ...

    def take(
        self,
        model: Any,
        sparsity: float | None = None,
        languages: Sequence[str] | None = None,
        combine: str = "mean",
    ) -> Any:
        """The model of one size."""

    def save(self, folder: Path) -> None:
        """Write it beside the weights."""
