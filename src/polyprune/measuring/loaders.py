"""Load models for measuring, in this process or in a child."""

from dataclasses import dataclass

import torch

from ..device import move_to
from .calls import Runnable


@dataclass(frozen=True, slots=True)
class ModelLoader:
    """Loads a model's encoder without readout in single precision: what is compared is shapes."""

    path: str
    device: str = "cpu"

    def prepare(self) -> None:
        """Import what loading needs."""
        from transformers.utils.logging import disable_progress_bar

        from ..pruning.gates import elastic as _elastic  # noqa: F401

        disable_progress_bar()

    def __call__(self) -> Runnable:
        """Load the model onto its device."""
        from ..loading.hub import load

        model = load(self.path, "hidden-states", dtype=torch.float32)
        move_to(model, self.device)
        return model
