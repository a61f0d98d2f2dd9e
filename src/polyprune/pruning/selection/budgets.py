"""Budgets: how much of a model may stay.

A budget is a value with one method, `select`. To add one, add a class.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch

from ...errors import ConfigError
from ...model.footprint import footprint_of, parameters_within
from ...model.network.components import Gates
from ...model.network.embedding import Embedding
from ...model.network.gated_model import PolyprunePreTrainedModel
from ...model.network.shape import EncoderShape
from ..ranker import Ranker
from ..second_order.curves import RemovalCurves
from .audit import Audit, audit
from .curve_knapsack import keep_cheapest
from .fairness import keep_fairest
from .knapsack import keep_most
from .latency import LatencyTable
from .parameters import keep_parameters
from .ranking import (
    ComponentWeights,
    Minimum,
    Scores,
    counts_of,
    keep_best,
    weight_kept,
    weight_limit,
)
from .rounding import round_units
from .selection import SelectedRow, Selection
from .widths import (
    ParameterLimits,
    SelectionLimits,
    keep_within_both,
    keep_within_parameters,
    keep_within_time,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(ABC):
    """How much may stay; what every layer keeps in any case, and in which multiples."""

    minimum: Minimum = field(default_factory=lambda: Minimum(rank=1))
    multiple: int = 1
    """Every layer keeps a multiple of so many units."""

    def __post_init__(self):
        if self.multiple < 1:
            raise ConfigError(f"Units are a multiple of 1 or more, not {self.multiple}.")

    @abstractmethod
    def select(self, model: PolyprunePreTrainedModel, ranker: Ranker) -> Selection:
        """The best components, by this ranking, that fit the budget."""

    def begun(self, model: PolyprunePreTrainedModel) -> "Budget":
        """The same budget for what is left of a model, which is going to be cut in rounds."""
        return self

    def estimate(self, model: PolyprunePreTrainedModel, ranker: Ranker) -> Selection:
        """About what would be selected, without any measurement."""
        return self.select(model, ranker)

    def within(self, density: float) -> "Budget":
        """The same budget for a model of which only this fraction is left, in App. B's units."""
        return self

    def least(self, shape: EncoderShape) -> Minimum:
        """What has to stay, its units in whole multiples."""
        if self.multiple == 1:
            return self.minimum
        units = -(-self.minimum.units // self.multiple) * self.multiple
        widest = max(shape.units) if units == 0 else min(shape.units)
        if max(units, self.multiple) > widest:
            raise ConfigError(
                f"A layer of {widest} units cannot keep {self.minimum.units} or more in "
                f"multiples of {self.multiple}."
            )
        return replace(self.minimum, units=units)

    def _rounded(
        self, gates: Gates, scores: Scores, limits: Sequence[int], weights: ComponentWeights
    ) -> Gates:
        """The gates with units in whole multiples, within each row's own limit."""
        if self.multiple == 1:
            return gates
        return round_units(gates, scores, self.multiple, limits, weights)


@dataclass(frozen=True, slots=True)
class Sparsity(Budget):
    """A fraction of the encoder goes, in the units of App. B."""

    sparsity: float
    exact: bool = False
    """Solve the knapsack instead of keeping the longest prefix of the ranking."""
    worst: bool = False
    """Weigh languages so that the one that loses most by its removal curves loses least."""

    def __post_init__(self):
        Budget.__post_init__(self)
        if not 0 <= self.sparsity < 1:
            raise ConfigError(
                f"A sparsity is a fraction from 0 to less than 1, got {self.sparsity:g}."
            )

    def within(self, density):
        """The fraction that still has to go."""
        return replace(self, sparsity=max(0.0, 1 - (1 - self.sparsity) / density))

    def select(self, model, ranker):
        """The longest prefix of each row's ranking that fits, or the exact knapsack.

        By removal curves it is always the knapsack.
        """
        weights, density = ComponentWeights.of(model.shape), 1 - self.sparsity
        scores, minimum = ranker.rank(model, weights), self.least(model.shape)
        curves, fairness = ranker.curves, None
        if self.worst:
            gates, fairness = keep_fairest(ranker.curves_in_common(), density, weights, minimum)
        elif curves is not None:
            gates = keep_cheapest(curves, density, weights, minimum)
        elif self.exact:
            gates = keep_most(ranker.rank(model), density, weights, minimum)
        else:
            gates = keep_best(scores, density, weights, minimum)
        limit = weight_limit(density, weights, counts_of(scores))
        gates = self._rounded(gates, scores, [limit] * len(scores.rank), weights)
        found = _selection(model, ranker, gates, "sparsity", sparsity=self.sparsity)
        return replace(found, rows=tuple(replace(row, fairness=fairness) for row in found.rows))


@dataclass(frozen=True, slots=True)
class Parameters(Budget):
    """So many parameters may stay in the whole model, readout and words included."""

    parameters: int

    @classmethod
    def within_bytes(cls, size: int, model: PolyprunePreTrainedModel, **rest) -> "Parameters":
        """As many parameters as a weights file of this size holds."""
        return cls(parameters_within(size, model), **rest)

    def select(self, model, ranker):
        """The longest prefix of each row's ranking that leaves so many parameters.

        By removal curves it is the knapsack.
        """
        if ranker.curves is not None:
            gates = keep_within_parameters(ranker.curves, model.shape, self.limits(model))
            return _selection(model, ranker, gates, "parameters", parameters=self.parameters)
        weights = ComponentWeights.in_parameters(model.shape)
        scores, minimum = ranker.rank(model, weights), self.least(model.shape)
        gates = keep_parameters(
            scores, model.shape, self.parameters, lambda shape: _parameters(model, shape), minimum
        )
        # What a row weighs now is within its budget, whether or not its words fold into one table.
        limits = weight_kept(gates, weights).tolist()
        gates = self._rounded(gates, scores, limits, weights)
        return _selection(model, ranker, gates, "parameters", parameters=self.parameters)

    def limits(self, model: PolyprunePreTrainedModel) -> ParameterLimits:
        """What the budget leaves for components that can be pruned."""
        minimum = self.least(model.shape)
        return ParameterLimits(self.parameters, _fixed_parameters(model), minimum, self.multiple)


@dataclass(frozen=True, slots=True)
class SparsityAndParameters(Budget):
    """A fraction of the encoder goes, and no more than so many parameters stay: both hold."""

    sparsity: Sparsity
    parameters: Parameters

    def within(self, density):
        """The fraction that still has to go; parameters are counted on what is there."""
        return replace(self, sparsity=self.sparsity.within(density))

    def select(self, model, ranker):
        """What one limit selects, where that keeps the other too; else the knapsack of both."""
        most, least = self.parameters.parameters, 1 - self.sparsity.sparsity
        by_sparsity = self.sparsity.select(model, ranker)
        if all(each.parameters <= most for each in by_sparsity.audits.values()):
            return self._asked(by_sparsity)
        by_parameters = self.parameters.select(model, ranker)
        if all(each.density <= least + 1e-9 for each in by_parameters.audits.values()):
            return self._asked(by_parameters)
        curves = ranker.curves or RemovalCurves.sorted_by(ranker.rank(model))
        weights, counts = ComponentWeights.of(model.shape), counts_of(curves.steps)
        limit = weight_limit(least, weights, counts)
        limits = self.parameters.limits(model)
        gates, binds = keep_within_both(curves, model.shape, limit, limits)
        found = _selection(model, ranker, gates, "")
        rows = zip(found.rows, binds, strict=True)
        return self._asked(replace(found, rows=tuple(replace(row, binds=own) for row, own in rows)))

    def _asked(self, found: Selection) -> Selection:
        """The selection with both requests in its audits."""
        both = {
            "requested_sparsity": self.sparsity.sparsity,
            "requested_parameters": self.parameters.parameters,
        }
        rows = (replace(row, audit=replace(row.audit, **both)) for row in found.rows)
        return replace(found, rows=tuple(rows))


@dataclass(frozen=True, slots=True)
class Time(Budget):
    """A batch may take so many seconds on the machine of a latency table."""

    seconds: float
    table: LatencyTable
    parameters: int | None = None
    """So many parameters may stay at the same time."""

    def select(self, model, ranker):
        """The widths that are worth most within the limits, and the best components of each."""
        curves = ranker.curves or RemovalCurves.sorted_by(ranker.rank(model))
        found = keep_within_time(curves, model.shape, self._limits(model))
        rows = tuple(
            SelectedRow(name, sizes, widths.binds, widths.seconds)
            for (name, sizes), widths in zip(
                _audits(model, ranker, found.gates, parameters=self.parameters).items(),
                found.widths,
                strict=True,
            )
        )
        return Selection(found.gates, rows)

    def _limits(self, model: PolyprunePreTrainedModel) -> SelectionLimits:
        """What the budget leaves for components that can be pruned."""
        return SelectionLimits(
            self.seconds,
            self.table,
            self.parameters,
            _fixed_parameters(model),
            self.least(model.shape),
            self.multiple,
        )


def _selection(
    model: PolyprunePreTrainedModel, ranker: Ranker, gates: Gates, limit: str, **requested
) -> Selection:
    """Gates with the audit of each row; its limit binds where anything had to go."""
    open_everywhere = torch.cat(gates.leaves(), dim=1).all(1).tolist()
    rows = tuple(
        SelectedRow(name, sizes, () if whole else (limit,))
        for (name, sizes), whole in zip(
            _audits(model, ranker, gates, **requested).items(), open_everywhere, strict=True
        )
    )
    return Selection(gates, rows)


def _audits(
    model: PolyprunePreTrainedModel, ranker: Ranker, gates: Gates, **requested
) -> dict[str, Audit]:
    """The sizes of each row of gates, by its name."""
    return {
        name: audit(model, gates.map(lambda gate, i=i: gate[i, None]), **requested)
        for i, name in enumerate(ranker.rows)
    }


def _fixed_parameters(model: PolyprunePreTrainedModel) -> int:
    """Parameters that are there whatever is kept, words aside."""
    none = (0,) * model.shape.layers
    bare = model.shape.keeping(none, none, model.shape.width)
    return _parameters(model, bare) - Embedding.parameter_count(bare)


def _parameters(model: PolyprunePreTrainedModel, shape: EncoderShape) -> int:
    return footprint_of(model.config.reshaped(shape), model.readout_kind).parameters
