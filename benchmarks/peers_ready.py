"""A method, and a model that it made, ready to be asked and timed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from peers_shelf import Outside
from peers_subjects import Subject
from torch import Tensor, nn

from polyprune.parts import MODEL_CLASSES


@dataclass(frozen=True)
class Ready:
    """A model that can be asked and timed."""

    asked: Any
    """Has as much of polyprune's face as measuring quality needs."""
    run: Callable[[Tensor], object]
    """Hidden states of ids without padding."""
    parameters: int
    layer_parameters: int
    bytes: int
    renumber: Callable[[Tensor], Tensor] = lambda ids: ids
    """From the original's ids to its own, where words were left out."""
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Way:
    """A method that a user could pick."""

    name: str
    sizes: tuple[float, ...]
    """Sparsities; 0 where the layers stay as they are."""
    make: Callable[[Subject, float, Path], None]
    """Put a model of this size where it is told."""
    bring: Callable[[Subject, float, Path], Ready]
    as_fast_as: str | None = None
    """The method whose models have the same shapes: not timed twice."""
    suffix: str = ".safetensors"
    """Of what is made; none where it is a folder."""

    def place(self, subject: Subject, size: float) -> Path:
        name = self.name.replace(" + ", "-and-").replace(", ", "-").replace(" ", "-")
        return subject.work / f"{name}-{size:g}{self.suffix}"

    def made(self, subject: Subject, size: float) -> Path:
        """Where the model is, made now if it is not there; never half of one."""
        path = self.place(subject, size)
        part = path.with_name(f"{path.name}.part")
        if not path.exists():
            part.parent.mkdir(parents=True, exist_ok=True)
            self.make(subject, size, part)
            if part.exists():  # what needs no making is nowhere
                part.rename(path)
        return path


def ready(model: Any, asked: Any = None, **more: Any) -> Ready:
    """One of polyprune's, with its readout or without."""
    timed, shape = bare(model), model.shape
    about = {"heads": shape.heads, "units": shape.units, "rank": shape.rank}

    def run(ids: Tensor) -> None:
        with torch.inference_mode():
            timed(ids)

    return Ready(asked or model, run, *sizes_of(model), about=about, **more)


def bare(model: Any) -> Any:
    """The same without its readout, no weight copied."""
    return MODEL_CLASSES["hidden-states"].assemble(model.config, model.state_dict(), model.source)


def ready_stock(model: Any, subject: Subject) -> Ready:
    """One of transformers'."""

    def run(ids: Tensor) -> Tensor:
        with torch.inference_mode():
            return model.base_model(ids).last_hidden_state

    asked = Outside(
        subject.original,
        lambda ids, mask: model(input_ids=ids, attention_mask=mask).last_hidden_state,
        lambda ids, mask: model(input_ids=ids, attention_mask=mask).logits,
    )
    return Ready(asked, run, *sizes_of(model))


def sizes_of(model: nn.Module) -> tuple[int, int, int]:
    """Parameters in all and in layers, tied ones counted once; their bytes."""
    named = dict(model.named_parameters())
    layers = sum(own.numel() for name, own in named.items() if "encoder.layer" in name)
    return sum(p.numel() for p in named.values()), layers, sum(p.nbytes for p in named.values())
