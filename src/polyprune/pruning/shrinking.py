"""Before and after a cut: the model whose components have gates, and the smaller one."""

from dataclasses import replace

from torch import Tensor

from ..errors import CheckpointError, ConfigError
from ..model.history import PruningStep, add_pruning
from ..model.network.components import Gates
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.surgery.factorize import factorize
from ..model.surgery.shrink import shrink
from .selection.ranking import ComponentWeights, density_of

WEIGHTED = "weighted"
"""The split by which the most frequent words of a text come nearest to what they were."""


def with_ranks(
    model: PolyprunePreTrainedModel, table: str, frequencies: Tensor | None = None
) -> PolyprunePreTrainedModel:
    """The model whose components are scored and cut: with ranks, if its word table has none.

    `table` says how a plain one is split: `spectral`, `weighted` by the frequencies of words,
    `identity`, or `as it is` for not at all.
    """
    if table == "as it is" or model.shape.factorized:
        return model
    if (table == WEIGHTED) != (frequencies is not None):
        raise ConfigError(
            "A weighted table is split by a text: prune to one size with `corpus`, or use "
            "`table='spectral'`."
        )
    try:
        return factorize(model, "spectral" if table == WEIGHTED else table, frequencies)
    except ValueError as error:
        raise CheckpointError(f"The word table cannot be split: {error}") from error


def shrink_with_history(
    model: PolyprunePreTrainedModel, gates: Gates, step: PruningStep | None = None
) -> PolyprunePreTrainedModel:
    """`shrink`, and a step in the history of the smaller model: `step`, with its sparsity."""
    small = shrink(model, gates)
    sparsity = 1 - float(density_of(gates, ComponentWeights.of(model.shape)))
    if sparsity > 0 or step is not None:
        add_pruning(small.config, replace(step or PruningStep(), sparsity=sparsity))
    return small
