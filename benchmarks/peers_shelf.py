"""Models on a shelf: only what differs from the original is kept, and word tables are shared.

Twenty variants of a model whose word table takes 380 MB would neither fit into memory nor be quick
to read. A file here holds the tensors that the original does not have as they are.
"""

import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from polyprune import EncoderShape, to_transformers


def keep(path: Path, model: nn.Module, original: nn.Module, **about: Any) -> None:
    """Write what makes a model different from the original of its kind."""
    known = original.state_dict()
    own = {
        name: tensor.detach().contiguous()
        for name, tensor in model.state_dict().items()
        if name not in known or not torch.equal(known[name], tensor)
    }
    if shape := getattr(model, "shape", None):
        about["shape"] = asdict(shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(own, path, {"about": json.dumps(about)})


def bring(path: Path, original: Any) -> tuple[Any, dict]:
    """A model of polyprune's that was kept, and what was noted about it."""
    own, about = read(path)
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in about["shape"].items()}
    shape = EncoderShape(**fields)
    state = {name: tensor.detach() for name, tensor in original.state_dict().items()} | own
    return original.rebuilt(shape, state), about


def bring_stock(path: Path, original: Any) -> Any:
    """A model of transformers' whose layers some other tool has cut."""
    own, _ = read(path)
    model = stock_of(original)
    for name, tensor in own.items():
        place, _, last = name.rpartition(".")
        setattr(model.get_submodule(place), last, nn.Parameter(tensor, requires_grad=False))
    return model


def stock_of(original: Any) -> Any:
    """Transformers' own model with the same weights, the words not copied."""
    model = to_transformers(original).eval()
    words = model.get_input_embeddings()
    words.weight = nn.Parameter(original.encoder.embedding.words.weight.detach())
    model.tie_weights()
    return model


def read(path: Path) -> tuple[dict[str, Tensor], dict]:
    with safe_open(path, "pt") as file:
        about = json.loads((file.metadata() or {}).get("about", "{}"))
        return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118


class Outside:
    """A model that is not polyprune's, with as much of its face as measuring quality needs.

    `hidden` and `logits` are functions of ids and mask; the rest is the original's.
    """

    training = False

    def __init__(self, original: Any, hidden: Any, logits: Any = None):
        self.shape, self.config, self.device = original.shape, original.config, original.device
        self.encoder, self._hidden, self._logits = self, hidden, logits

    def at_layer(self, ids: Tensor, mask: Tensor, layer: int) -> Tensor:
        assert layer == self.shape.layers, "only the last layer is asked for here"
        return self._hidden(ids, mask.long())

    def __call__(self, ids: Tensor, mask: Tensor) -> Any:
        return SimpleNamespace(logits=self._logits(ids, mask.long()))

    def eval(self) -> "Outside":
        return self

    def train(self, mode: bool = True) -> "Outside":
        return self
