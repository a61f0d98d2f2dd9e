"""Where models are computed: devices by their names."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from .errors import ConfigError


def device_named(name: str) -> str:
    """Return the device of this name; `auto` is a GPU if there is one."""
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", name):
        raise ConfigError(f"`device` is auto, cpu, cuda, cuda:1 or mps, not {name!r}.")
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return name


def move_to(model: nn.Module, name: str) -> None:
    """Move a model to the device of this name; raise if there is none."""
    name = device_named(name)
    try:
        model.to(name)
    except (RuntimeError, AssertionError) as error:
        why = str(error).partition("\n")[0]
        raise ConfigError(
            f'`device="{name}"` cannot be used ({why}). Try `device="cpu"`.'
        ) from error


@contextmanager
def on_device(model: nn.Module, name: str) -> Iterator[None]:
    """Move a model to a device for as long as it is worked on."""
    home = next(model.parameters()).device
    move_to(model, name)
    try:
        yield
    finally:
        model.to(home)
