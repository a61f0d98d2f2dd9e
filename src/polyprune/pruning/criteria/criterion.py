"""Criteria: what makes one component more important than another.

A criterion is a value with one method, `rank`. To add one, add it to `METHODS`; a new way to rank
gradients is one more value in `RULES`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ...errors import ConfigError, UnknownName
from ...model.network.components import sizes
from ...model.network.gated_model import PolyprunePreTrainedModel
from ...model.network.shape import EncoderShape
from ..selection.ranking import ComponentWeights, Scores, counts_of
from .importance import GateGradients, Per, Statistic


class Criterion(ABC):
    """How components are ranked, from the text that it asks for or without any."""

    method: ClassVar[str]
    """Its name in `METHODS`."""
    per: Per | None
    """What gradients must have been taken over; None if it needs no text, and so no scores."""
    needs_curves: ClassVar[bool] = False
    """Whether it ranks by removal curves, which are measured only where they are asked for."""

    @property
    def rule(self) -> str:
        """Its name in `RULES`; empty unless it ranks gradients."""
        return ""

    @property
    def needs_text(self) -> bool:
        """Whether it ranks scores that were measured on text, language by language."""
        return self.per is not None

    @abstractmethod
    def rank(
        self,
        model: PolyprunePreTrainedModel,
        gradients: GateGradients | None,
        weights: ComponentWeights | None,
    ) -> Scores:
        """Scores to sort by; without weights, what each component is worth by itself."""

    def check_per(self, per: str) -> None:
        """Raise unless gradients taken per token, example or batch are what this rule needs."""
        if self.per != per:
            raise ConfigError(
                f"Rule {self.rule!r} needs gradients per {self.per}, but these scores were taken "
                f"per {per}. Score again with `per={self.per!r}`."
            )


@dataclass(frozen=True, slots=True)
class GradientRule(Criterion):
    """How gate gradients become a ranking. The defaults are the paper's: the raw score."""

    method: ClassVar[str] = "gradient"
    name: str
    about: str
    """In one line, for people."""
    statistic: Statistic = "absolute"
    per: Per | None = "example"
    by_layer: bool = False
    """Divided by the l2 norm of the layer's scores of that kind."""
    by_weight: bool = False
    """Divided by what the component weighs, so that the budget buys the most (App. B)."""

    @property
    def rule(self) -> str:
        """The same as `name`."""
        return self.name

    def rank(self, model, gradients, weights):
        """Scores to sort by, one row per row of the gradients."""
        if gradients is None:
            raise ConfigError(
                "Gradients need text: give `scores`, `corpus` with a folder of it, or "
                "`corpus='sample'`, which comes with polyprune. Without any, there is "
                "`method='magnitude'`."
            )
        return self.scores(gradients, weights)

    def scores(self, gradients: GateGradients, weights: ComponentWeights | None = None) -> Scores:
        """What `rank` gives; gradients are all that it needs."""
        scores: Scores = getattr(gradients, self.statistic)
        if self.by_layer:
            scores = scores.map(_unit_length)
        return self._per_weight(scores, weights)

    def _per_weight(self, scores: Scores, weights: ComponentWeights | None) -> Scores:
        if not self.by_weight or weights is None:
            return scores
        cost = weights.spread(counts_of(scores))
        return scores.map(lambda score, weight: score / weight, cost)


@dataclass(frozen=True, slots=True)
class SecondOrder(GradientRule):
    """What removing a component costs once the rest of its sublayer has made up for it."""

    needs_curves: ClassVar[bool] = True

    def scores(self, gradients: GateGradients, weights: ComponentWeights | None = None) -> Scores:
        """The slopes of the sublayers' removal curves."""
        if gradients.curves is None:
            raise ConfigError(
                f"Rule {self.name!r} needs removal curves, which these scores were taken without. "
                f"Score again with `rule={self.name!r}`."
            )
        return self._per_weight(gradients.curves.scores(), weights)


@dataclass(frozen=True, slots=True)
class Magnitude(Criterion):
    """The root mean square of a component's weights."""

    method: ClassVar[str] = "magnitude"
    per: Per | None = None

    def rank(self, model, gradients, weights):
        """The same score whatever components weigh."""
        return magnitude(model)


@dataclass(frozen=True, slots=True)
class Chance(Criterion):
    """Scores drawn at random: the baseline that knows nothing."""

    method: ClassVar[str] = "random"
    seed: int = 0
    per: Per | None = None
    rows: int = 1
    """How many rankings, each another."""

    def rank(self, model, gradients, weights):
        """The same scores for the same seed and shape."""
        return random_scores(model.shape, self.seed, self.rows)


FISHER = GradientRule(
    "fisher",
    "mean squared gate gradient over the component's weight",
    statistic="squared",
    by_weight=True,
)
PAPER = GradientRule("paper", "mean absolute gate gradient per example, as printed in Eq. 4")
MICHEL = GradientRule(
    "michel", "absolute per token, l2 by layer (Michel et al., 2019)", per="token", by_layer=True
)
PRASANNA = GradientRule(
    "prasanna",
    "absolute per batch, l2 by layer (Prasanna et al., 2020)",
    per="batch",
    by_layer=True,
)

SECOND_ORDER = SecondOrder(
    "second-order", "loss added once the rest has made up for it, over weight", by_weight=True
)

RULES = {each.name: each for each in (FISHER, PAPER, MICHEL, PRASANNA, SECOND_ORDER)}
"""How gradients are ranked. The last is the best measured, and the default for one size from text;
the first is the default where nothing can make up for what goes: from scores, for every size.

By `fisher`, removing component i costs about ½ E[gᵢ²] to second order, where the Hessian of the
gates is taken to be the Fisher information and diagonal (Kwon et al., 2022); dividing by its weight
makes the ranking the greedy solution of that knapsack."""


@dataclass(frozen=True, slots=True)
class Method:
    """A family of criteria, as the command line names it."""

    about: str
    make: Callable[[str, int], Criterion]
    """The criterion for a rule and a seed; most need neither."""


METHODS = {
    "gradient": Method(
        "gate gradients on text, ranked by a rule (Eq. 4)", lambda rule, seed: rule_named(rule)
    ),
    "magnitude": Method(
        "root mean square of a component's weights; needs no text, words as they are",
        lambda rule, seed: Magnitude(),
    ),
    "random": Method("chance; needs no text, words as they are", lambda rule, seed: Chance(seed)),
}


def criterion_named(method: str = "gradient", rule: str = FISHER.name, seed: int = 0) -> Criterion:
    """The criterion of a method, a rule for gradients and a seed for chance."""
    if method not in METHODS:
        raise UnknownName("method", method, METHODS, f"There are: {', '.join(METHODS)}.")
    if not 0 <= seed < 2**63:
        raise ConfigError(f"A seed is a number from 0 to 2⁶³, not {seed}.")
    rule_named(rule)  # a mistake in it is one, whether or not the method asks
    return METHODS[method].make(rule, seed)


def rule_named(name: str) -> GradientRule:
    """The rule of this name."""
    if name not in RULES:
        raise UnknownName("rule", name, RULES, f"There are: {', '.join(RULES)}.")
    return RULES[name]


def magnitude(model: PolyprunePreTrainedModel) -> Scores:
    """The root mean square of each component's weights: pruning that needs no text."""
    return model.encoder.sublayers().map(lambda sublayer: sublayer.magnitudes()[None])


def random_scores(shape: EncoderShape, seed: int = 0, rows: int = 1) -> Scores:
    """A score for each component drawn from [0, 1): the baseline that knows nothing."""
    generator = torch.Generator().manual_seed(seed)
    return sizes(shape).map(lambda n: torch.rand(rows, n, generator=generator))


def _unit_length(score: Tensor) -> Tensor:
    # In double precision: the squares of a nearly dead layer's scores would all be 0.
    norm = score.double().norm(dim=1, keepdim=True)
    return (score / norm.clamp(min=torch.finfo(norm.dtype).tiny)).to(score.dtype)
