"""Gates for a budget of time: how many of each sublayer by measured costs, the best of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...errors import ConfigError
from ...model.network.attention import ATTENTIONS
from ...model.network.components import Gates, PerComponent
from ...model.network.embedding import Embedding
from ...model.network.feed_forward import FEED_FORWARDS
from ...model.network.shape import EncoderShape
from .latency import LatencyTable
from .multiple_choice import ChoiceGroup, least_parameters, least_seconds, solve
from .ranking import Minimum, Scores

RANKS = 48
"""Ranks that are tried, evenly spread."""

MOST_WIDTHS = 128
"""Numbers of units that are tried for a layer."""


@dataclass(frozen=True, slots=True)
class SelectionLimits:
    """What a model may take: seconds by the latency table of a machine, and perhaps parameters."""

    seconds: float
    table: LatencyTable
    parameters: int | None
    fixed: int
    """Parameters that are there whatever is kept: readout, norms, positions, output biases."""
    minimum: Minimum
    multiple: int = 1


@dataclass(frozen=True, slots=True)
class SublayerWidths:
    """How many components of each sublayer stay."""

    counts: tuple[int, ...]
    """Heads of every layer, units of every layer, and the rank."""
    seconds: float
    """The time of one batch by the table."""
    binds: tuple[str, ...]
    """The limits that keep it from being larger."""


@dataclass(frozen=True, slots=True)
class TimedGates:
    """Gates within a time, and the widths that each row of them has."""

    gates: Gates
    widths: tuple[SublayerWidths, ...]


def keep_within_time(scores: Scores, shape: EncoderShape, limits: SelectionLimits) -> TimedGates:
    """The gates of each row that are worth most within the limits.

    `scores` are what components are worth by themselves, not divided by what they weigh.
    """
    rows = [scores.map(lambda score, row=row: score[row]) for row in range(len(scores.rank))]
    widths = tuple(best_widths(row, shape, limits) for row in rows)
    gates = [_row_gates(row, own.counts) for row, own in zip(rows, widths, strict=True)]
    return TimedGates(gates[0].map(lambda *row: torch.stack(row), *gates[1:]), widths)


def best_widths(
    scores: PerComponent[Tensor], shape: EncoderShape, limits: SelectionLimits
) -> SublayerWidths:
    """How many components of each sublayer one row keeps, and which limit binds."""
    groups, table = _groups(scores, shape, limits), limits.table
    most = None if limits.parameters is None else limits.parameters - limits.fixed
    solution = solve(groups, limits.seconds - table.base, most)
    if solution is None:
        raise _unreachable(groups, limits)
    counts = [int(g.counts[option]) for g, option in zip(groups, solution.options, strict=True)]
    return SublayerWidths(tuple(counts), table.base + solution.seconds, solution.binds)


def _groups(
    scores: PerComponent[Tensor], shape: EncoderShape, limits: SelectionLimits
) -> list[ChoiceGroup]:
    """Heads of every layer, units of every layer, and the rank."""
    table, least = limits.table, limits.minimum
    step = max(limits.multiple, table.liked)
    a_head, a_unit = (
        ATTENTIONS[shape.attention].parameters_each(shape),
        FEED_FORWARDS[shape.feed_forward].parameters_each(shape),
    )
    heads = [
        _group(score, range(min(least.heads, n), n + 1), table.attention, a_head)
        for score, n in zip(scores.heads, shape.heads, strict=True)
    ]
    units = [
        _group(score, _widths(least.units, n, step), table.feed_forward, a_unit)
        for score, n in zip(scores.units, shape.units, strict=True)
    ]
    return [*heads, *units, _words(scores.rank, shape, limits)]


def _group(
    scores: Tensor, counts: Sequence[int], seconds: Callable[[Any], np.ndarray], parameters: int
) -> ChoiceGroup:
    numbers = np.array(counts)
    return ChoiceGroup(numbers, _worth(scores)[numbers], seconds(numbers), numbers * parameters)


def _words(scores: Tensor, shape: EncoderShape, limits: SelectionLimits) -> ChoiceGroup:
    """Some ranks of the word table; all of them are folded back into one."""
    table, full = limits.table, len(scores)
    counts = sorted({*range(full, 0, -max(1, full // RANKS)), max(1, limits.minimum.rank)})
    counts = [count for count in counts if count >= limits.minimum.rank]
    shapes = [shape.keeping(shape.heads, shape.units, rank) for rank in counts]
    seconds = [float(table.words(each.rank)) if each.factorized else 0.0 for each in shapes]
    parameters = np.array([Embedding.parameter_count(each) for each in shapes])
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


def _unreachable(groups: Sequence[ChoiceGroup], limits: SelectionLimits) -> ConfigError:
    """What is possible instead."""
    fastest = limits.table.base + least_seconds(groups)
    if fastest > limits.seconds:
        return ConfigError(
            f"A batch in {1e3 * limits.seconds:.3g} ms is faster than any pruning makes it: "
            f"what cannot be pruned takes {1e3 * fastest:.3g} ms on this machine. Ask for more "
            "time, or a shorter or smaller batch."
        )
    smallest = limits.fixed + least_parameters(groups)
    return ConfigError(
        f"{limits.parameters:,} parameters and {1e3 * limits.seconds:.3g} ms per batch cannot both "
        f"be kept: the smallest model has {smallest:,} parameters, the fastest takes "
        f"{1e3 * fastest:.3g} ms. Ask for less of one of them."
    )
