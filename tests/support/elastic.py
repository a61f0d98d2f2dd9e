"""Elastic models, ranked by chance."""

import torch

from polyprune.model.network.components import sizes
from polyprune.pruning.gates.dynamic import boundaries
from polyprune.pruning.gates.elastic import Elastic
from polyprune.pruning.gates.gatings import DynamicGating
from polyprune.pruning.selection.ranking import ComponentWeights, unflatten


def elastic_of(model, rows) -> Elastic:
    """Every size of a model, with these rows."""
    counts = sizes(model.shape)
    scores = unflatten(torch.rand(len(rows), sum(counts.leaves())), counts)
    weights = ComponentWeights.of(model.shape)
    return Elastic(DynamicGating(*boundaries(scores, weights)), rows, weights)
