"""Where gates come from: fixed, learned, or dynamic; one row per language, or one for all.

Each is a map from rows, density and noise to `Gates`. Which of them, how many rows, and which
penalties go with it are independent choices.
"""

import torch
from torch import Tensor

from ...model.network.components import Gates
from ..selection.ranking import counts_of, unflatten
from .dynamic_gating import DynamicGating
from .gating import Gating
from .learned_gating import LearnedGating


class FixedGating(Gating):
    """Gates that are what they are, such as those of gradient-based pruning."""

    kind = "fixed"
    gates: Tensor

    def __init__(self, gates: Gates):
        super().__init__(counts_of(gates))
        self.register_buffer("gates", torch.cat(gates.leaves(), dim=1).detach().clone())

    @classmethod
    def from_tensors(cls, counts, rows, tensors, distribution):
        """The gates in the file."""
        return cls(unflatten(tensors["gates"], counts))

    def flat(self, density=1.0, noise=None):
        """The same at every density, with and without noise."""
        return self.gates

    def expected_open(self, density=1.0):
        """1 where open, 0 where closed."""
        return (self.gates > 0).float()

    def preference(self, density=1.0):
        """The gates themselves."""
        return self.gates


GATINGS = {each.kind: each for each in (FixedGating, LearnedGating, DynamicGating)}
"""Every kind of gates, by its name in files and configs."""
