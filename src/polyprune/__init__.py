"""Prune a multilingual encoder once; take out any size, for any language.

Everything a user needs is a name in this module; the rooms behind it are its own business.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._register import register_when_transformers_is_imported

if TYPE_CHECKING:
    from .errors import PolypruneError as PolypruneError
    from .model.certificate import certify as certify
    from .model.components import Gates as Gates
    from .model.components import PerComponent as PerComponent
    from .model.components import open_gates as open_gates
    from .model.encoder import Encoder as Encoder
    from .model.factorize import factorize as factorize
    from .model.footprint import footprint as footprint
    from .model.gates_file import load_gates as load_gates
    from .model.gates_file import save_gates as save_gates
    from .model.shape import EncoderShape as EncoderShape
    from .model.shrink import drop_layers as drop_layers
    from .model.shrink import shrink as shrink
    from .model.stock import to_transformers as to_transformers
    from .pruning.budget import ComponentWeights as ComponentWeights
    from .pruning.budget import keep_best as keep_best
    from .pruning.elastic import load as load
    from .pruning.hard_concrete import HardConcrete as HardConcrete
    from .pruning.importance import importance as importance

__version__ = "0.1.0"

_HOME = {
    "ComponentWeights": "pruning.budget",
    "Encoder": "model.encoder",
    "EncoderShape": "model.shape",
    "Gates": "model.components",
    "HardConcrete": "pruning.hard_concrete",
    "PerComponent": "model.components",
    "PolypruneError": "errors",
    "certify": "model.certificate",
    "drop_layers": "model.shrink",
    "factorize": "model.factorize",
    "footprint": "model.footprint",
    "importance": "pruning.importance",
    "keep_best": "pruning.budget",
    "load": "pruning.elastic",
    "load_gates": "model.gates_file",
    "open_gates": "model.components",
    "save_gates": "model.gates_file",
    "shrink": "model.shrink",
    "to_transformers": "model.stock",
}
"""Where each public name lives. Imported when first used, so that `--help` need not load torch."""

__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'polyprune' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


register_when_transformers_is_imported()
