"""Load models for measuring, in this process or in a child."""

import re
from dataclasses import dataclass

import torch

from ..errors import ConfigError
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
        from ..pruning.gates.elastic import load

        model = load(self.path, "hidden-states", dtype=torch.float32)
        try:
            return model.to(self.device)  # pyright: ignore[reportArgumentType]
        except (RuntimeError, AssertionError) as error:
            why = str(error).partition("\n")[0]
            raise ConfigError(
                f"--device {self.device} cannot be used ({why}). Try --device cpu."
            ) from error


def device_named(name: str) -> str:
    """Return the device of this name; `auto` is a GPU if there is one."""
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", name):
        raise ConfigError(f"--device is auto, cpu, cuda, cuda:1 or mps, not {name!r}.")
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return name
