"""The runtimes to export to: their names, their files, and what to install."""

import importlib.util
from dataclasses import dataclass

from ..errors import ConfigError, UnknownName

PRECISIONS = ("fp32", "fp16", "int8")


@dataclass(frozen=True, slots=True)
class Runtime:
    """A program that runs models, and what an export for it needs."""

    name: str
    title: str
    file: str
    """The model's path in the folder: what sentence-transformers looks for."""
    runs_with: tuple[str, ...]
    """The packages needed to run it."""
    made_with: tuple[str, ...]
    """The additional packages needed to export to it."""

    def need(self, *, to_make: bool = False) -> None:
        """Raise unless the needed packages are installed."""
        packages = (*self.runs_with, *(self.made_with if to_make else ()))
        missing = [name for name in packages if importlib.util.find_spec(name) is None]
        if missing:
            raise ConfigError(
                f"{self.title} needs {', '.join(missing)}, which is not installed: "
                f'pip install "polyprune[{self.name}]".'
            )


RUNTIMES = {
    "onnx": Runtime(
        "onnx", "ONNX Runtime", "onnx/model.onnx", ("onnxruntime",), ("onnx", "onnxscript")
    ),
    "openvino": Runtime(
        "openvino",
        "OpenVINO",
        "openvino/openvino_model.xml",
        ("openvino",),
        ("onnx", "onnxscript"),
    ),
}
"""The runtimes by name."""


def runtime_named(name: str) -> Runtime:
    """Return the runtime with this name."""
    if name not in RUNTIMES:
        raise UnknownName("runtime", name, RUNTIMES, f"There are: {', '.join(RUNTIMES)}.")
    return RUNTIMES[name]


def check_precision(name: str) -> None:
    """Raise unless this is a supported precision."""
    if name == "bf16":
        raise ConfigError(
            "bf16 is no precision of a file that runs everywhere: ONNX Runtime does not load it "
            "on processors, and OpenVINO computes in it by itself where the processor can. Choose "
            f"one of {', '.join(PRECISIONS)}."
        )
    if name not in PRECISIONS:
        raise UnknownName("precision", name, PRECISIONS, f"There are: {', '.join(PRECISIONS)}.")
