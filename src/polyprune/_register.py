"""`import polyprune` is enough for transformers' Auto classes to know a pruned model.

Registering needs torch and transformers, seconds that `polyprune --help` should not cost. So it
waits for whoever imports transformers, and does it then.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType

MODELING = "polyprune.model.network.modeling_polyprune"
"""Importing it registers its classes."""
CONFIGURATION = "polyprune.model.network.configuration_polyprune"


def register_when_transformers_is_imported() -> None:
    """Register now if transformers is there already, else as soon as it has been imported."""
    if "transformers" in sys.modules:
        import_module(MODELING)
    else:
        sys.meta_path.insert(0, _TransformersFinder())


class _TransformersFinder(MetaPathFinder):
    """Finds transformers where it is, and adds a step to its import."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "transformers":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _RegisteringLoader(spec.loader, self)
        return spec


class _RegisteringLoader(Loader):
    def __init__(self, loader: Loader, finder: MetaPathFinder):
        self.loader, self.finder = loader, finder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        self.loader.exec_module(module)
        asked_by_us = {MODELING, CONFIGURATION} & sys.modules.keys()  # who register by themselves
        if not asked_by_us and find_spec("torch") is not None:
            import_module(MODELING)

    def __getattr__(self, name: str) -> object:
        if name == "loader":  # not there yet while being copied
            raise AttributeError(name)
        return getattr(self.loader, name)  # whatever else is asked of a loader, such as its source
