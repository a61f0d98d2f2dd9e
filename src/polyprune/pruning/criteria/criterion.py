"""From what was measured of a component to its place in the one global list."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ...errors import ConfigError, UnknownName
from ...model.network.components import PerComponent, sizes
from ...model.network.modeling_polyprune import PolyprunePreTrainedModel
from ...model.network.shape import EncoderShape
from ..selection.ranking import ComponentWeights, Scores, counts_of
from .importance import GateGradients, Per, Statistic


@dataclass(frozen=True, slots=True)
class Rule:
    """How gate gradients become a ranking. The defaults are the paper's: the raw score."""

    about: str
    """In one line, for people."""
    statistic: Statistic = "absolute"
    per: Per = "example"
    """What the gradients must have been taken over."""
    by_layer: bool = False
    """Divided by the l2 norm of the layer's scores of that kind."""
    by_weight: bool = False
    """Divided by what the component weighs, so that the budget buys the most (App. B)."""

    def rank(self, gradients: GateGradients, weights: ComponentWeights) -> Scores:
        """Scores to sort by, in every row."""
        scores: Scores = getattr(gradients, self.statistic)
        if self.by_layer:
            scores = scores.map(_unit_length)
        if self.by_weight:
            cost = weights.spread(counts_of(scores))
            scores = scores.map(lambda score, weight: score / weight, cost)
        return scores


RULES = {
    "fisher": Rule(
        "mean squared gate gradient over the component's weight",
        statistic="squared",
        by_weight=True,
    ),
    "paper": Rule("mean absolute gate gradient per example, as printed in Eq. 4"),
    "michel": Rule(
        "absolute per token, l2 by layer (Michel et al., 2019)", per="token", by_layer=True
    ),
    "prasanna": Rule(
        "absolute per batch, l2 by layer (Prasanna et al., 2020)", per="batch", by_layer=True
    ),
}
"""How gradients are ranked. The first is the best measured, and what is used unless told otherwise.

Removing component i costs about ½ E[gᵢ²] to second order, where the Hessian of the gates is taken
to be the Fisher information and diagonal (Kwon et al., 2022); dividing by its weight makes the
ranking the greedy solution of that knapsack."""


def rule_named(name: str) -> Rule:
    """The rule of this name."""
    if name not in RULES:
        raise UnknownName("rule", name, RULES, f"There are: {', '.join(RULES)}.")
    return RULES[name]


def check_per(name: str, per: str) -> None:
    """Raise unless gradients taken per token, example or batch are what this rule needs."""
    if rule_named(name).per != per:
        raise ConfigError(
            f"Rule {name!r} needs gradients per {RULES[name].per}, but these scores were taken per "
            f"{per}. Score again with --per {RULES[name].per}."
        )


def mean_rows(scores: Scores) -> Scores:
    """One row for all languages: the mean of theirs."""
    return scores.map(lambda score: score.mean(0, keepdim=True))


def magnitude(model: PolyprunePreTrainedModel) -> Scores:
    """The root mean square of each component's weights: pruning that needs no text."""
    e, state = model.shape.head_width, model.state_dict()
    heads, units = [], []
    for i in range(model.shape.layers):
        layer = f"encoder.layers.{i}."
        if model.shape.heads[i]:
            project = state[layer + "attention.project.weight"].float().unflatten(0, (3, -1, e))
            output = state[layer + "attention.output.weight"].float().T.unflatten(0, (-1, e))
            parts = torch.cat([project, output[None]])  # (4, h, e, w)
            heads.append(parts.square().mean((0, 2, 3)).sqrt()[None])
        else:
            heads.append(torch.zeros(1, 0))
        if model.shape.units[i]:
            expand = state[layer + "feed_forward.expand.weight"].float()
            contract = state[layer + "feed_forward.contract.weight"].float().T
            units.append(torch.cat([expand, contract], 1).square().mean(1).sqrt()[None])
        else:
            units.append(torch.zeros(1, 0))
    words = state["encoder.embedding.words.weight"]
    return PerComponent(tuple(heads), tuple(units), words.float().square().mean(0).sqrt()[None])


def random_scores(shape: EncoderShape, seed: int = 0) -> Scores:
    """A score for each component drawn from [0, 1): the baseline that knows nothing."""
    generator = torch.Generator().manual_seed(seed)
    return sizes(shape).map(lambda n: torch.rand(1, n, generator=generator))


def _unit_length(score: Tensor) -> Tensor:
    # In double precision: the squares of a nearly dead layer's scores would all be 0.
    norm = score.double().norm(dim=1, keepdim=True)
    return (score / norm.clamp(min=torch.finfo(norm.dtype).tiny)).to(score.dtype)
