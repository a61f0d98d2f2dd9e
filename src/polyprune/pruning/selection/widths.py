"""Gates for budgets of time and of parameters: how many of each sublayer stay, the best of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from ..second_order.curves import RemovalCurves
from .latency import LatencyTable
from .multiple_choice import ChoiceGroup, fill, least_parameters, least_seconds, solve
from .parameters import too_few_parameters
from .ranking import ComponentWeights, Minimum

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


def keep_within_time(
    curves: RemovalCurves, shape: EncoderShape, limits: SelectionLimits
) -> TimedGates:
    """The gates of each row that lose least within the limits."""
    rows = _rows(curves)
    widths = tuple(best_widths(row, shape, limits) for row in rows)
    return TimedGates(_gates(rows, [own.counts for own in widths]), widths)


def best_widths(row: "Row", shape: EncoderShape, limits: SelectionLimits) -> SublayerWidths:
    """How many components of each sublayer one row keeps, and which limit binds."""
    table = limits.table
    words = _words(row.rank, shape, limits.minimum, table)
    groups = [*_layers(row, shape, limits.minimum, limits.multiple, table), words]
    most = None if limits.parameters is None else limits.parameters - limits.fixed
    solution = solve(groups, limits.seconds - table.base, most)
    if solution is None:
        raise _unreachable(groups, limits)
    counts = [int(g.counts[option]) for g, option in zip(groups, solution.options, strict=True)]
    return SublayerWidths(tuple(counts), table.base + solution.seconds, solution.binds)


@dataclass(frozen=True, slots=True)
class ParameterLimits:
    """How many parameters a model may have."""

    parameters: int
    fixed: int
    """Parameters that are there whatever is kept."""
    minimum: Minimum
    multiple: int = 1


def keep_within_parameters(
    curves: RemovalCurves, shape: EncoderShape, limits: ParameterLimits
) -> Gates:
    """The gates of each row that lose least within so many parameters.

    The same knapsack as for time, with parameters in the place of seconds.
    """
    rows, limit, kept = _rows(curves), limits.parameters - limits.fixed, []
    for row in rows:
        groups = _groups(row, shape, limits)
        groups = [replace(each, seconds=each.parameters.astype(float)) for each in groups]
        if least_parameters(groups) > limit:
            rank = int(groups[-1].counts[groups[-1].parameters.argmin()])
            least = least_parameters(groups) + limits.fixed
            raise too_few_parameters(limits.parameters, rank, least)
        solution = solve(groups, float(limit))
        assert solution is not None
        options = fill(groups, solution.options, float(limit), limit)
        kept.append([int(g.counts[option]) for g, option in zip(groups, options, strict=True)])
    return _gates(rows, kept)


def keep_within_both(
    curves: RemovalCurves,
    shape: EncoderShape,
    weight: int,
    limits: ParameterLimits,
) -> tuple[Gates, tuple[tuple[str, ...], ...]]:
    """The gates of each row that lose least within a weight of App. B and so many parameters.

    The same knapsack as for time, with the weight in the place of seconds. Beside them, which of
    `sparsity` and `parameters` bind in each row.
    """
    weights = ComponentWeights.of(shape)
    rows, room, kept, binds = _rows(curves), limits.parameters - limits.fixed, [], []
    layers = shape.layers
    each = [*[weights.head] * layers, *[weights.unit] * layers, weights.rank]
    for row in rows:
        groups = [
            replace(group, seconds=(cost * group.counts).astype(float))
            for group, cost in zip(_groups(row, shape, limits), each, strict=True)
        ]
        solution = solve(groups, float(weight), room)
        assert solution is not None  # what has to stay keeps both, if it keeps either
        chosen = zip(groups, solution.options, strict=True)
        kept.append([int(group.counts[option]) for group, option in chosen])
        binds.append(tuple("sparsity" if name == "time" else name for name in solution.binds))
    return _gates(rows, kept), tuple(binds)


def _groups(row: "Row", shape: EncoderShape, limits: ParameterLimits) -> list[ChoiceGroup]:
    """Heads and units of every layer, and ranks, without their times."""
    minimum = limits.minimum
    return [
        *_layers(row, shape, minimum, limits.multiple, None),
        _words(row.rank, shape, minimum, None),
    ]


@dataclass(frozen=True, slots=True)
class Sublayer:
    """The components of a sublayer of one row, in the order in which they go."""

    order: Tensor
    steps: Tensor

    def worth(self) -> np.ndarray:
        """What the last so many to go are worth together, from none of them on."""
        return np.concatenate([[0.0], self.steps.double().flip(0).cumsum(0).cpu().numpy()])

    def keep(self, count: int) -> Tensor:
        """The last so many to go, open."""
        return torch.zeros(len(self.order)).index_fill(
            0, self.order[len(self.order) - count :].cpu(), 1.0
        )


Row = PerComponent[Sublayer]


def _rows(curves: RemovalCurves) -> list[Row]:
    return [
        curves.steps.map(
            lambda steps, order, row=row: Sublayer(order[min(row, len(order) - 1)], steps[row]),
            curves.order,
        )
        for row in range(len(curves.steps.rank))
    ]


def _gates(rows: Sequence[Row], kept: Sequence[Sequence[int]]) -> Gates:
    """The last so many of each sublayer to go, open, for every row."""
    gates = []
    for row, chosen in zip(rows, kept, strict=True):
        layers = len(row.heads)
        counts = PerComponent(
            tuple(chosen[:layers]), tuple(chosen[layers : 2 * layers]), chosen[2 * layers]
        )
        gates.append(row.map(lambda sublayer, count: sublayer.keep(count), counts))
    return gates[0].map(lambda *row: torch.stack(row), *gates[1:])


def _layers(
    row: Row, shape: EncoderShape, least: Minimum, multiple: int, table: LatencyTable | None
) -> list[ChoiceGroup]:
    """Heads of every layer, then units of every layer; seconds are 0 without a table."""
    step = multiple if table is None else max(multiple, table.liked)
    a_head, a_unit = (
        ATTENTIONS[shape.attention].parameters_each(shape),
        FEED_FORWARDS[shape.feed_forward].parameters_each(shape),
    )
    attention, feed_forward = (
        (np.zeros_like, np.zeros_like) if table is None else (table.attention, table.feed_forward)
    )
    heads = [
        _group(own, range(min(least.heads, n), n + 1), attention, a_head)
        for own, n in zip(row.heads, shape.heads, strict=True)
    ]
    units = [
        _group(own, _widths(least.units, n, step), feed_forward, a_unit)
        for own, n in zip(row.units, shape.units, strict=True)
    ]
    return [*heads, *units]


def _group(
    sublayer: Sublayer, counts: Sequence[int], seconds: Callable[[Any], np.ndarray], each: int
) -> ChoiceGroup:
    numbers = np.array(counts)
    return ChoiceGroup(numbers, sublayer.worth()[numbers], seconds(numbers), numbers * each)


def _words(
    sublayer: Sublayer, shape: EncoderShape, least: Minimum, table: LatencyTable | None
) -> ChoiceGroup:
    """Some ranks of the word table, or all that there are; the whole is folded back into one."""
    full = len(sublayer.order)
    step = 1 if table is None else max(1, full // RANKS)
    counts = sorted({*range(full, 0, -step), max(1, least.rank)})
    counts = [count for count in counts if count >= least.rank]
    shapes = [shape.keeping(shape.heads, shape.units, rank) for rank in counts]
    seconds = [
        float(table.words(each.rank)) if table is not None and each.factorized else 0.0
        for each in shapes
    ]
    parameters = np.array([Embedding.parameter_count(each) for each in shapes])
    return ChoiceGroup(np.array(counts), sublayer.worth()[counts], np.array(seconds), parameters)


def _widths(least: int, most: int, step: int) -> list[int]:
    """From none to all units, in whole steps, no fewer than what has to stay."""
    while most > MOST_WIDTHS * step:
        step *= 2
    return [width for width in (*range(0, most, step), most) if width >= min(least, most)]


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
