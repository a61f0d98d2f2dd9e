"""Prune a multilingual encoder once; take out any size, for any language.

Everything a user needs is a name in this module; the packages behind it may change.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._register import register_when_transformers_is_imported

if TYPE_CHECKING:
    from .api.check import CheckResult as CheckResult
    from .api.check import check as check
    from .api.evaluate import EvaluateResult as EvaluateResult
    from .api.evaluate import evaluate as evaluate
    from .api.export import ExportResult as ExportResult
    from .api.export import export as export
    from .api.finetune import FinetuneResult as FinetuneResult
    from .api.finetune import finetune as finetune
    from .api.measure import MeasureResult as MeasureResult
    from .api.measure import measure as measure
    from .api.prune import prune as prune
    from .api.prune_result import PruneResult as PruneResult
    from .api.recover import RecoverResult as RecoverResult
    from .api.recover import recover as recover
    from .api.report import ReportResult as ReportResult
    from .api.report import report as report
    from .api.requests.check import CheckRequest as CheckRequest
    from .api.requests.export import ExportRequest as ExportRequest
    from .api.requests.measure import MeasureRequest as MeasureRequest
    from .api.requests.prune import PruneRequest as PruneRequest
    from .api.requests.recover import RecoverRequest as RecoverRequest
    from .api.requests.report import ReportRequest as ReportRequest
    from .api.requests.score import ScoreRequest as ScoreRequest
    from .api.requests.shrink import ShrinkRequest as ShrinkRequest
    from .api.requests.study import StudyRequest as StudyRequest
    from .api.requests.tasks import EvaluateRequest as EvaluateRequest
    from .api.requests.tasks import FinetuneRequest as FinetuneRequest
    from .api.requests.train import TrainRequest as TrainRequest
    from .api.score import ScoreResult as ScoreResult
    from .api.score import score as score
    from .api.shrink import ShrinkResult as ShrinkResult
    from .api.shrink import shrink as shrink
    from .api.study import StudyResult as StudyResult
    from .api.study import study as study
    from .api.train import TrainResult as TrainResult
    from .api.train import train as train
    from .errors import PolypruneError as PolypruneError
    from .loading.hub import load as load
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
    from .model.surgery.drop_layers import drop_layers as drop_layers
    from .model.surgery.factorize import factorize as factorize
    from .pruning.criteria.importance import importance as importance
    from .pruning.gates.hard_concrete import HardConcrete as HardConcrete
    from .pruning.selection.ranking import ComponentWeights as ComponentWeights
    from .pruning.selection.ranking import keep_best as keep_best

__version__ = "0.1.0"

_HOME = {
    "CheckRequest": "api.requests.check",
    "CheckResult": "api.check",
    "ComponentWeights": "pruning.selection.ranking",
    "Encoder": "model.network.encoder",
    "EncoderShape": "model.network.shape",
    "EvaluateRequest": "api.requests.tasks",
    "EvaluateResult": "api.evaluate",
    "ExportRequest": "api.requests.export",
    "ExportResult": "api.export",
    "FinetuneRequest": "api.requests.tasks",
    "FinetuneResult": "api.finetune",
    "Gates": "model.network.components",
    "HardConcrete": "pruning.gates.hard_concrete",
    "MeasureRequest": "api.requests.measure",
    "MeasureResult": "api.measure",
    "PerComponent": "model.network.components",
    "PolypruneError": "errors",
    "ReportRequest": "api.requests.report",
    "ReportResult": "api.report",
    "PruneRequest": "api.requests.prune",
    "PruneResult": "api.prune_result",
    "RecoverRequest": "api.requests.recover",
    "RecoverResult": "api.recover",
    "ScoreRequest": "api.requests.score",
    "ScoreResult": "api.score",
    "ShrinkRequest": "api.requests.shrink",
    "ShrinkResult": "api.shrink",
    "StudyRequest": "api.requests.study",
    "StudyResult": "api.study",
    "TrainRequest": "api.requests.train",
    "TrainResult": "api.train",
    "certify": "model.surgery.certify",
    "check": "api.check",
    "drop_layers": "model.surgery.drop_layers",
    "evaluate": "api.evaluate",
    "export": "api.export",
    "factorize": "model.surgery.factorize",
    "finetune": "api.finetune",
    "footprint": "model.footprint",
    "importance": "pruning.criteria.importance",
    "keep_best": "pruning.selection.ranking",
    "load": "loading.hub",
    "load_gates": "model.files.gates_file",
    "measure": "api.measure",
    "open_gates": "model.network.components",
    "report": "api.report",
    "prune": "api.prune",
    "recover": "api.recover",
    "save_gates": "model.files.gates_file",
    "score": "api.score",
    "shrink": "api.shrink",
    "study": "api.study",
    "to_transformers": "loading.stock",
    "train": "api.train",
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
