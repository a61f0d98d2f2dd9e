"""Criteria: what makes one component more important than another.

A criterion is a value with one method, `rank`. To add one, add it to `METHODS`; a new way to rank
gradients is one more value in `RULES`. Users name their own as `module:name`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, get_args

import torch
from torch import Tensor

from ...errors import ConfigError, UnknownName
from ...model.network.components import sizes
from ...model.network.gated_model import PolyprunePreTrainedModel
from ...model.network.shape import EncoderShape
from ...own_code import offered, own_module, split_name
from ..selection.ranking import ComponentWeights, Scores, counts_of
from .importance import GateGradients, Per, Statistic


class Criterion(ABC):
    """How components are ranked, from the text that it asks for or without any."""

    method: ClassVar[str]
    """Its name in `METHODS`, in histories and on cards."""
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


GROUP = "polyprune.criteria"
"""The entry points under which installed packages offer criteria."""


@dataclass(frozen=True, slots=True)
class Method:
    """A family of criteria, as the command line names it."""

    about: str
    make: Callable[[str, int], Criterion]
    """The criterion for a rule and a seed; most need neither."""


METHODS = {
    "gradient": Method(
        "gate gradients on text, ranked by a rule (Eq. 4)",
        lambda rule, seed: rule_named(rule, seed),
    ),
    "magnitude": Method(
        "root mean square of a component's weights; needs no text, words as they are",
        lambda rule, seed: Magnitude(),
    ),
    "random": Method("chance; needs no text, words as they are", lambda rule, seed: Chance(seed)),
}

NAMES = (*RULES, "magnitude", "random")
"""All that ranks components, by one name each."""


def criterion_named(method: str = "gradient", rule: str = FISHER.name, seed: int = 0) -> Criterion:
    """The criterion of a method, a rule for gradients and a seed for chance."""
    if not 0 <= seed < 2**63:
        raise ConfigError(f"A seed is a number from 0 to 2⁶³, not {seed}.")
    if method not in METHODS:
        check_name("method", method, METHODS)
        return own_criterion(method)
    rule_named(rule, seed)  # a mistake in it is one, whether or not the method asks
    return METHODS[method].make(rule, seed)


def rule_named(name: str, seed: int = 0) -> Criterion:
    """The criterion of this name: a rule of gradients, `magnitude`, `random`, or a user's own."""
    if name in RULES:
        return RULES[name]
    if name in NAMES:
        return METHODS[name].make("", seed)
    check_name("rule", name)
    return own_criterion(name)


def check_name(kind: str, name: str, known: Iterable[str] = NAMES) -> None:
    """Raise unless a name is known or may be that of a user's own criterion; import nothing."""
    if name in known or ":" in name or name in offered(GROUP):
        return
    there = (*known, *offered(GROUP))
    raise UnknownName(kind, name, there, f"There are: {', '.join(there)}; your own: module:name.")


def own_criterion(name: str) -> Criterion:
    """A user's own criterion, whose module is imported; a class is made without arguments."""
    place, attribute = split_name(name, GROUP)
    module = own_module(place)
    if not hasattr(module, attribute):
        there = [key for key, value in vars(module).items() if _is_criterion(value)]
        see = f"There are: {', '.join(there)}." if there else f"{place} has no criteria."
        raise UnknownName(f"criterion in {place}:", attribute, there, see)
    found = getattr(module, attribute)
    if not _is_criterion(found):
        raise ConfigError(
            f"{name} is a {type(found).__name__}, not a criterion: name a value of a class that "
            f"derives from {Criterion.__module__}.Criterion."
        )
    try:
        made = found() if isinstance(found, type) else found
    except TypeError as error:
        raise ConfigError(
            f"{name} is a class that cannot be made without arguments ({error}): name a value."
        ) from error
    return _checked(made, name)


def _is_criterion(value: object) -> bool:
    if isinstance(value, type):
        return issubclass(value, Criterion) and not value.__module__.startswith(__package__ or "")
    return isinstance(value, Criterion)


def _checked(criterion: Criterion, name: str) -> Criterion:
    """Raise if what the rest of polyprune asks of a criterion is missing."""
    if not isinstance(getattr(criterion, "method", None), str):
        raise ConfigError(f"{name} has no `method`: a name for histories and cards.")
    per = getattr(criterion, "per", "missing")
    if per is not None and per not in get_args(Per):
        raise ConfigError(
            f"`per` of {name} is one of {', '.join(get_args(Per))}, or None if it reads no text, "
            f"not {per!r}."
        )
    return criterion


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
