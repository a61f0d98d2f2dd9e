"""Scores in, gates out: a method, a rule, a setting and a budget, each a value of its own."""

from dataclasses import dataclass, field, replace

from ..errors import ConfigError, UnknownName
from ..model.build import reshaped
from ..model.files.gates_file import SHARED
from ..model.footprint import embedding_parameters, footprint_of
from ..model.network.components import Gates
from ..model.network.modeling_polyprune import PolyprunePreTrainedModel
from ..model.network.shape import EncoderShape
from .criteria.criterion import check_per, magnitude, mean_rows, random_scores, rule_named
from .criteria.importance import GateGradients
from .criteria.scores_file import ScoreSheet
from .gates.dynamic import boundaries
from .gates.elastic import Elastic
from .gates.gatings import DynamicGating
from .selection.knapsack import keep_most
from .selection.parameters import keep_parameters
from .selection.ranking import (
    ComponentWeights,
    Minimum,
    Scores,
    counts_of,
    keep_best,
    weight_kept,
    weight_limit,
)
from .selection.rounding import round_units
from .selection.widths import SelectionLimits, TimeLimit, keep_within_time

METHODS = {
    "gradient": "gate gradients on text, ranked by a rule (Eq. 4)",
    "magnitude": "root mean square of a component's weights; needs no text, words as they are",
    "random": "chance; needs no text, words as they are",
}
SETTINGS = ("shared", "non-shared")


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may stay: a sparsity of the encoder; or parameters in all, time, or both."""

    sparsity: float | None = None
    parameters: int | None = None
    exact: bool = False
    """Solve the knapsack rather than take the longest prefix of the ranking."""
    minimum: Minimum = field(default_factory=lambda: Minimum(rank=1))
    multiple: int = 1
    """Of units in every layer."""
    time: TimeLimit | None = None
    """Seconds a batch, and what sublayers take on the machine that it is for."""

    def __post_init__(self):
        if (self.sparsity is None) == (self.parameters is None and self.time is None):
            raise ConfigError("Give a budget: either a sparsity, or parameters, a size or a speed.")
        if self.sparsity is not None and not 0 <= self.sparsity < 1:
            raise ConfigError(
                f"A sparsity is a fraction from 0 to less than 1, got {self.sparsity:g}."
            )
        if self.multiple < 1:
            raise ConfigError(f"Units are a multiple of 1 or more, not {self.multiple}.")
        if self.exact and self.sparsity is None:
            raise ConfigError("The exact knapsack goes with a sparsity, not with another budget.")

    def weights(self, shape: EncoderShape) -> ComponentWeights:
        """What components weigh in this budget: the paper's units, or their parameters."""
        if self.parameters is not None:
            return ComponentWeights.in_parameters(shape)
        return ComponentWeights.of(shape)


@dataclass(frozen=True, slots=True)
class Method:
    """How components are ranked."""

    name: str = "gradient"
    rule: str = "fisher"
    """For gradients; see `RULES`."""
    setting: str = "shared"
    """One ranking for all languages, or one for each (`non-shared`)."""
    seed: int = 0
    """For chance."""

    def __post_init__(self):
        if self.name not in METHODS:
            raise UnknownName("method", self.name, METHODS, f"There are: {', '.join(METHODS)}.")
        if self.setting not in SETTINGS:
            raise UnknownName("setting", self.setting, SETTINGS, "shared or non-shared.")
        if not 0 <= self.seed < 2**63:
            raise ConfigError(f"A seed is a number from 0 to 2⁶³, not {self.seed}.")
        if self.setting == "non-shared" and self.name != "gradient":
            raise ConfigError(f"Method {self.name!r} knows no languages: use --setting shared.")
        rule_named(self.rule)

    def rank(
        self,
        model: PolyprunePreTrainedModel,
        sheet: ScoreSheet | None,
        weights: ComponentWeights | None,
    ) -> Scores:
        """Scores to sort by; without weights, how much each component is worth by itself."""
        if self.name == "random":
            return random_scores(model.shape, self.seed)
        if self.name == "magnitude":
            return magnitude(model)
        if sheet is None:
            raise ConfigError(
                "Gradients need text: give --scores, --corpus with a folder of it, or --corpus "
                "sample, which comes with polyprune. Without any, there is --method magnitude."
            )
        check_per(self.rule, sheet.about.per)
        gradients = sheet.gradients
        if self.setting == "shared":
            gradients = GateGradients(mean_rows(gradients.absolute), mean_rows(gradients.squared))
        rule = rule_named(self.rule)
        if weights is None:
            return replace(rule, by_weight=False).rank(gradients, ComponentWeights())
        return rule.rank(gradients, weights)


def choose(
    model: PolyprunePreTrainedModel, method: Method, wanted: Budget, sheet: ScoreSheet | None = None
) -> Gates:
    """The gates that a method picks for a budget: one row, or a row a language."""
    if wanted.time is not None:
        return keep_within_time(
            method.rank(model, sheet, None), model.shape, room_for(model, wanted)
        )
    weights = wanted.weights(model.shape)
    scores = method.rank(model, sheet, weights)
    least = _least(wanted, model.shape)
    if wanted.parameters is not None:
        gates = keep_parameters(
            scores, model.shape, wanted.parameters, lambda shape: _parameters(model, shape), least
        )
        # What a row weighs now is within its budget, whether or not its words fold into one table.
        limits = weight_kept(gates, weights).tolist()
    else:
        density = 1 - (wanted.sparsity or 0.0)
        limits = [weight_limit(density, weights, counts_of(scores))] * len(scores.rank)
        if wanted.exact:
            gates = keep_most(method.rank(model, sheet, None), density, weights, least)
        else:
            gates = keep_best(scores, density, weights, least)
    if wanted.multiple > 1:
        gates = round_units(gates, scores, wanted.multiple, limits, weights)
    return gates


def room_for(model: PolyprunePreTrainedModel, wanted: Budget) -> SelectionLimits:
    """What a budget of time, and perhaps of parameters, leaves for what can be pruned."""
    assert wanted.time is not None
    none = (0,) * model.shape.layers
    bare = model.shape.keeping(none, none, model.shape.width)
    fixed = _parameters(model, bare) - embedding_parameters(bare)
    least = _least(wanted, model.shape)
    return SelectionLimits(wanted.time, wanted.parameters, fixed, least, wanted.multiple)


def _least(wanted: Budget, shape: EncoderShape) -> Minimum:
    """What has to stay, its units in whole groups."""
    least = wanted.minimum
    if wanted.multiple == 1:
        return least
    units = -(-least.units // wanted.multiple) * wanted.multiple
    widest = max(shape.units) if units == 0 else min(shape.units)
    if max(units, wanted.multiple) > widest:
        raise ConfigError(
            f"A layer of {widest} units cannot keep {least.units} or more in "
            f"multiples of {wanted.multiple}."
        )
    return replace(least, units=units)


def every_size(
    model: PolyprunePreTrainedModel, method: Method, sheet: ScoreSheet | None = None
) -> Elastic:
    """The gates that a method picks for every size at once (Eqs. 14–16)."""
    weights = ComponentWeights.of(model.shape)
    scores = method.rank(model, sheet, weights)
    boundary, share = boundaries(scores, weights, minimum=Minimum(rank=1))
    rows = (SHARED,)
    if method.setting == "non-shared" and sheet is not None:
        rows = sheet.about.languages
    return Elastic(DynamicGating(boundary, share), rows, weights)


def _parameters(model: PolyprunePreTrainedModel, shape: EncoderShape) -> int:
    return footprint_of(reshaped(model.config, shape), model.readout_kind).parameters
