"""`import polyprune` is enough for transformers' Auto classes to know a pruned model.

Registering needs torch and transformers, seconds that `polyprune --help` should not cost. So it
waits for whoever imports transformers, or our own classes, and does it then. Those classes travel
with saved models and know nothing of this package: cards and history are put into them from here.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

NETWORK = "polyprune.model.network"
AWAITED = (
    "transformers",
    f"{NETWORK}.configuration_polyprune",
    f"{NETWORK}.gated_model",
    f"{NETWORK}.modeling_polyprune",
)
"""The modules that import transformers; once any of them has been imported, it is time."""


def register_when_transformers_is_imported() -> None:
    """Register now if transformers is there already, else as soon as it has been imported."""
    if "transformers" in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _Finder())


def _register() -> None:
    if find_spec("torch") is None:
        return
    from transformers.models import auto

    from .model.network.configuration_polyprune import PolypruneConfig
    from .model.network.gated_model import PolyprunePreTrainedModel
    from .model.network.modeling_polyprune import MODELS

    auto.AutoConfig.register("polyprune", PolypruneConfig, exist_ok=True)
    for model in MODELS.values():
        auto_class = getattr(auto, model.readout_kind.auto_class)
        auto_class.register(PolypruneConfig, model, exist_ok=True)
    PolyprunePreTrainedModel.provenance = _Provenance()


class _Provenance:
    """Writes history and card of a model that is saved."""

    def before_saving(self, model: Any) -> None:
        from .provenance.origin import complete_history

        complete_history(model)

    def describe(self, new: Path, folder: Path, differences: Mapping[str, float] | None) -> None:
        from .provenance.card import write_card

        write_card(new, folder, differences)


class _Finder(MetaPathFinder):
    """Finds modules as everybody else does, and registers after the import of some."""

    def __init__(self):
        self.under_way = 0

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in AWAITED:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _RegisteringLoader(spec.loader, self)
                return spec
        return None


class _RegisteringLoader(Loader):
    def __init__(self, loader: Loader, finder: _Finder):
        self.loader, self.finder = loader, finder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.finder.under_way += 1
        try:
            self.loader.exec_module(module)
        finally:
            self.finder.under_way -= 1
        # Those that are still being imported are not ready to be used.
        if self.finder.under_way == 0 and self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
            _register()

    def __getattr__(self, name: str) -> object:
        if name == "loader":  # not there yet while being copied
            raise AttributeError(name)
        return getattr(self.loader, name)  # whatever else is asked of a loader, such as its source
