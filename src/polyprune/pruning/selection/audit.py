"""The sizes of a pruned model, to the parameter, beside what was requested."""

from dataclasses import dataclass

from ...model.footprint import footprint_of, weight_bytes
from ...model.network.components import Gates, shape_kept
from ...model.network.gated_model import PolyprunePreTrainedModel
from .ranking import ComponentWeights, density_of


@dataclass(frozen=True, slots=True)
class Audit:
    """The sizes of a pruned model beside those of the original."""

    requested_sparsity: float | None
    requested_parameters: int | None
    density: float
    """Kept weight over total weight, in the units of App. B."""
    gate_sparsity: float
    """1 − density: what a budget of sparsity is held against, and what the paper's tables say."""
    encoder_sparsity: float
    """The parameters that the layers lost, over those that they had, biases and norms included."""
    parameters: int
    parameters_before: int
    bytes: int
    bytes_before: int
    multiply_adds: int
    """Multiply–adds of the encoder for one sequence of 128 tokens."""
    multiply_adds_before: int
    heads: tuple[int, ...]
    units: tuple[int, ...]
    rank: int
    """Heads and units kept in each layer, and the rank of the words."""


def audit(
    original: PolyprunePreTrainedModel,
    gates: Gates,
    *,
    sparsity: float | None = None,
    parameters: int | None = None,
) -> Audit:
    """The sizes of what one row of gates keeps of a model, without cutting it."""
    readout = original.readout_kind
    config = original.config.reshaped(shape_kept(gates, original.shape))
    before, after = footprint_of(original.config, readout), footprint_of(config, readout)
    density = float(density_of(gates, ComponentWeights.of(original.shape)))
    return Audit(
        requested_sparsity=sparsity,
        requested_parameters=parameters,
        density=density,
        gate_sparsity=1 - density,
        encoder_sparsity=1 - after.encoder_parameters / before.encoder_parameters,
        parameters=after.parameters,
        parameters_before=before.parameters,
        bytes=weight_bytes(config, after),
        bytes_before=weight_bytes(original.config, before),
        multiply_adds=after.multiply_adds,
        multiply_adds_before=before.multiply_adds,
        heads=config.shape.heads,
        units=config.shape.units,
        rank=config.shape.rank,
    )
