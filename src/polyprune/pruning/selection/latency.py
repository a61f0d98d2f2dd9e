"""How long sublayers of every width take on one machine: a value, measured elsewhere."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import CheckpointError
from ...model.network.shape import EncoderShape
from ...storage import atomic_file

Curve = tuple[tuple[int, float], ...]
"""Numbers of components, from 0, and the seconds that so many add to a pass."""

Counts = int | Sequence[int] | np.ndarray


@dataclass(frozen=True, slots=True)
class LatencyTable:
    """The seconds of one batch, as a sum over the sublayers of a model.

    A pass through a model without heads and units, and what each sublayer of some width adds to it.
    """

    about: Mapping[str, Any]
    """The machine, and the batch that was measured."""
    base: float
    """Words, positions and norms, which are there however little is left."""
    heads: Curve
    """What so many heads of one layer add to `base`."""
    units: Curve
    """What so many units of one layer add to `base`."""
    rank: Curve
    """What a factorized word table adds to `base`."""
    liked: int = 1
    """Layers whose units are a multiple of this take the least time per unit."""

    def attention(self, heads: Counts) -> np.ndarray:
        """Seconds that so many heads take."""
        return _between(self.heads, heads)

    def feed_forward(self, units: Counts) -> np.ndarray:
        """Seconds that so many units take."""
        return _between(self.units, units)

    def words(self, rank: Counts) -> np.ndarray:
        """Seconds that a factorized table of this rank takes more than a plain one."""
        return _between(self.rank, rank)

    def seconds(self, shape: EncoderShape) -> float:
        """The time of one batch through a model of this shape."""
        layers = self.attention(shape.heads).sum() + self.feed_forward(shape.units).sum()
        words = float(self.words(shape.rank)) if shape.factorized else 0.0
        return self.base + float(layers) + words

    def save(self, path: Path) -> None:
        """Write it as JSON, whole or not at all."""
        with atomic_file(path, force=True) as file:
            file.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def load_table(path: Path) -> LatencyTable:
    """A table that was saved."""
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        for name in ("heads", "units", "rank"):
            read[name] = tuple((int(count), float(seconds)) for count, seconds in read[name])
        return LatencyTable(**read)
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = str(error) or type(error).__name__
        raise CheckpointError(
            f"{path} is no table of latencies ({reason}). Remove it: it is measured again."
        ) from error


def _between(curve: Curve, counts: Counts) -> np.ndarray:
    """On the straight lines between what was measured; nothing is nothing."""
    at, seconds = zip(*curve, strict=True)
    return np.asarray(np.interp(counts, at, seconds))
