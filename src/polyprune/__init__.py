"""Prune a multilingual encoder once; take out any size, for any language.

Everything a user needs is a name in this module; the rooms behind it are its own business.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._register import register_when_transformers_is_imported

if TYPE_CHECKING:
    from .api.requests.score import ScoreRequest as ScoreRequest
    from .api.score import ScoreResult as ScoreResult
    from .api.score import score as score
    from .errors import PolypruneError as PolypruneError
    from .loading.stock import to_transformers as to_transformers
    from .model.files.gates_file import load_gates as load_gates
    from .model.files.gates_file import save_gates as save_gates
    from .model.footprint import footprint as footprint
    from .model.network.components import Gates as Gates
    from .model.network.components import PerComponent as PerComponent
    from .model.network.components import open_gates as open_gates
    from .model.network.encoder import Encoder as Encoder
    from .model.network.shape import EncoderShape as EncoderShape
    from .model.surgery.certify import certify as certify
    from .model.surgery.factorize import factorize as factorize
    from .model.surgery.shrink import drop_layers as drop_layers
    from .model.surgery.shrink import shrink as shrink
    from .pruning.criteria.importance import importance as importance
    from .pruning.gates.elastic import load as load
    from .pruning.gates.hard_concrete import HardConcrete as HardConcrete
    from .pruning.selection.ranking import ComponentWeights as ComponentWeights
    from .pruning.selection.ranking import keep_best as keep_best

__version__ = "0.1.0"

_HOME = {
    "ComponentWeights": "pruning.selection.ranking",
    "Encoder": "model.network.encoder",
    "EncoderShape": "model.network.shape",
    "Gates": "model.network.components",
    "HardConcrete": "pruning.gates.hard_concrete",
    "PerComponent": "model.network.components",
    "PolypruneError": "errors",
    "ScoreRequest": "api.requests.score",
    "ScoreResult": "api.score",
    "certify": "model.surgery.certify",
    "drop_layers": "model.surgery.shrink",
    "factorize": "model.surgery.factorize",
    "footprint": "model.footprint",
    "importance": "pruning.criteria.importance",
    "keep_best": "pruning.selection.ranking",
    "load": "pruning.gates.elastic",
    "load_gates": "model.files.gates_file",
    "open_gates": "model.network.components",
    "save_gates": "model.files.gates_file",
    "score": "api.score",
    "shrink": "model.surgery.shrink",
    "to_transformers": "loading.stock",
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
