"""Gates for a budget of time: how many of each sublayer by measured costs, the best of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...errors import ConfigError
from ...model.footprint import embedding_parameters
from ...model.network.components import Gates, PerComponent
from ...model.network.shape import EncoderShape
from .latency import LatencyTable
from .multiple_choice import ChoiceGroup, least_parameters, least_seconds, solve
from .ranking import Minimum, Scores

RANKS = 48
"""Ranks that are tried, evenly spread."""

MOST_WIDTHS = 128
"""Numbers of units that are tried for a layer."""


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """So many seconds a batch, by a table of this machine."""

    seconds: float
    table: LatencyTable


@dataclass(frozen=True, slots=True)
class Widths:
    """How much of each sublayer stays."""

    counts: tuple[int, ...]
    """Heads of every layer, units of every layer, and the rank."""
    seconds: float
    """That a batch takes by the table."""
    binds: tuple[str, ...]
    """Which limits are in the way of more."""


@dataclass(frozen=True, slots=True)
class SelectionLimits:
    """What a model may take: seconds, parameters, or both."""

    time: TimeLimit
    parameters: int | None
    fixed: int
    """Parameters that are there whatever is kept: readout, norms, positions, output biases."""
    minimum: Minimum
    multiple: int = 1


def keep_within_time(scores: Scores, shape: EncoderShape, room: SelectionLimits) -> Gates:
    """Gates of each row that are worth most within the room.

    `scores` are what components are worth by themselves, not divided by what they weigh.
    """
    rows = []
    for row in range(len(scores.rank)):
        own = scores.map(lambda score, row=row: score[row])
        rows.append(_row_gates(own, best_widths(own, shape, room).counts))
    return rows[0].map(lambda *row: torch.stack(row), *rows[1:])


def best_widths(scores: PerComponent[Tensor], shape: EncoderShape, room: SelectionLimits) -> Widths:
    """How many components of each sublayer one row keeps, and which limit binds."""
    groups, table = _groups(scores, shape, room), room.time.table
    limit = None if room.parameters is None else room.parameters - room.fixed
    chosen = solve(groups, room.time.seconds - table.base, limit)
    if chosen is None:
        raise _unreachable(groups, room)
    counts = [int(g.counts[option]) for g, option in zip(groups, chosen.options, strict=True)]
    return Widths(tuple(counts), table.base + chosen.seconds, chosen.binds)


def _groups(
    scores: PerComponent[Tensor], shape: EncoderShape, room: SelectionLimits
) -> list[ChoiceGroup]:
    """Heads of every layer, units of every layer, and the rank."""
    table, least, w, e = room.time.table, room.minimum, shape.width, shape.head_width
    step = max(room.multiple, table.liked)
    heads = [
        _group(score, range(min(least.heads, n), n + 1), table.attention, 4 * e * w + 3 * e)
        for score, n in zip(scores.heads, shape.heads, strict=True)
    ]
    units = [
        _group(score, _widths(least.units, n, step), table.feed_forward, 2 * w + 1)
        for score, n in zip(scores.units, shape.units, strict=True)
    ]
    return [*heads, *units, _words(scores.rank, shape, room)]


def _group(
    scores: Tensor, counts: Sequence[int], seconds: Callable[[Any], np.ndarray], parameters: int
) -> ChoiceGroup:
    numbers = np.array(counts)
    return ChoiceGroup(numbers, _worth(scores)[numbers], seconds(numbers), numbers * parameters)


def _words(scores: Tensor, shape: EncoderShape, room: SelectionLimits) -> ChoiceGroup:
    """Some ranks of the word table; all of them are folded back into one."""
    table, full = room.time.table, len(scores)
    counts = sorted({*range(full, 0, -max(1, full // RANKS)), max(1, room.minimum.rank)})
    counts = [count for count in counts if count >= room.minimum.rank]
    shapes = [shape.keeping(shape.heads, shape.units, rank) for rank in counts]
    seconds = [float(table.words(each.rank)) if each.factorized else 0.0 for each in shapes]
    parameters = np.array([embedding_parameters(each) for each in shapes])
    return ChoiceGroup(np.array(counts), _worth(scores)[counts], np.array(seconds), parameters)


def _widths(least: int, most: int, step: int) -> list[int]:
    """From none to all units, in whole steps, no fewer than what has to stay."""
    while most > MOST_WIDTHS * step:
        step *= 2
    return [width for width in (*range(0, most, step), most) if width >= min(least, most)]


def _worth(scores: Tensor) -> np.ndarray:
    """What the best so many components are worth together, from none of them on."""
    best = scores.double().sort(descending=True, stable=True).values
    return np.concatenate([[0.0], best.cumsum(0).cpu().numpy()])


def _row_gates(scores: PerComponent[Tensor], chosen: Sequence[int]) -> PerComponent[Tensor]:
    """The best so many of each sublayer, open."""
    layers = len(scores.heads)
    counts = PerComponent(
        tuple(chosen[:layers]), tuple(chosen[layers : 2 * layers]), chosen[2 * layers]
    )
    return scores.map(_best, counts)


def _best(scores: Tensor, count: int) -> Tensor:
    order = scores.argsort(descending=True, stable=True)
    return torch.zeros_like(scores).index_fill(0, order[:count], 1.0)


def _unreachable(groups: Sequence[ChoiceGroup], room: SelectionLimits) -> ConfigError:
    """What is possible instead."""
    fastest = room.time.table.base + least_seconds(groups)
    if fastest > room.time.seconds:
        return ConfigError(
            f"A batch in {1e3 * room.time.seconds:.3g} ms is faster than any pruning makes it: "
            f"what cannot be pruned takes {1e3 * fastest:.3g} ms on this machine. Ask for more "
            "time, or a shorter or smaller batch."
        )
    smallest = room.fixed + least_parameters(groups)
    return ConfigError(
        f"{room.parameters:,} parameters and {1e3 * room.time.seconds:.3g} ms a batch cannot both "
        f"be kept: the smallest model has {smallest:,} parameters, the fastest takes "
        f"{1e3 * fastest:.3g} ms. Ask for less of one of them."
    )
