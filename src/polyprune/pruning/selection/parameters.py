"""A budget of parameters: the longest prefix of one ranking that fits a model of that size."""

from collections.abc import Callable

import torch

from ...errors import ConfigError
from ...model.network.components import Gates, shape_kept
from ...model.network.shape import EncoderShape
from ...model.network.tensor_types import Int
from .ranking import Minimum, Scores, counts_of, ranking, unflatten

Count = Callable[[EncoderShape], int]
"""How many parameters a model of this shape has, with its readout."""


def keep_parameters(
    scores: Scores, shape: EncoderShape, parameters: int, count: Count, minimum: Minimum
) -> Gates:
    """Gates that keep the longest prefix of each row's ranking within so many parameters in all.

    Counted on the shape that is left, so that biases, the folding of a table back into one and all
    that is never pruned are in it. A longer prefix never has fewer parameters, so bisecting finds
    the longest.
    """
    order, forced = ranking(scores, minimum), int(minimum.forced(scores)[0].sum())
    rows = [_row(each, shape, parameters, count, forced, scores) for each in order]
    return rows[0].map(lambda *row: torch.cat(row), *rows[1:])


def _row(
    order: Int[torch.Tensor, " components"],
    shape: EncoderShape,
    parameters: int,
    count: Count,
    forced: int,
    scores: Scores,
) -> Gates:
    def keep(number: int) -> Gates:
        flat = torch.zeros(1, len(order))
        flat[0, order[:number]] = 1
        return unflatten(flat, counts_of(scores))

    def fits(number: int) -> bool:
        return count(shape_kept(keep(number), shape)) <= parameters

    if not fits(forced):
        least = count(shape_kept(keep(forced), shape))
        raise too_few_parameters(parameters, int(keep(forced).rank.sum()), least)
    low, high = forced, len(order)  # `low` always fits
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return keep(low)


def too_few_parameters(parameters: int, rank: int, least: int) -> ConfigError:
    """What is possible instead."""
    return ConfigError(
        f"{parameters:,} parameters are fewer than what cannot be pruned: positions, norms, "
        f"output biases, readout, rank {rank} of the words and what every layer has to keep. The "
        f"smallest possible is {least:,}."
    )
