"""Exported files as functions: arrays of token ids in, arrays out."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..errors import CheckpointError, ConfigError
from .runtimes import RUNTIMES, runtime_named

Arrays = dict[str, np.ndarray]

EXPORT_RECORD = "export.json"
"""The file that marks a folder as an export and describes it."""


@runtime_checkable
class Runner(Protocol):
    """A model in a runtime: maps arrays to arrays."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __call__(self, batch: Mapping[str, np.ndarray]) -> Arrays:
        """Return the outputs for a batch of `input_ids` and so on, each (batch, sequence)."""
        ...


class OnnxRunner:
    """An ONNX file in ONNX Runtime, on the processor."""

    def __init__(self, path: Path, threads: int = 0):
        """Open the model; it may use `threads` threads, all if 0."""
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3  # errors: what it thinks of graphs is not the user's
        # Threads look for work while it runs, and no longer: they would slow down others after it.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        self.session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.inputs = tuple(port.name for port in self.session.get_inputs())
        self.outputs = tuple(port.name for port in self.session.get_outputs())

    def __call__(self, batch: Mapping[str, np.ndarray]) -> Arrays:
        """Return the outputs for a batch."""
        found = self.session.run(None, {name: batch[name] for name in self.inputs})
        return dict(zip(self.outputs, map(np.asarray, found), strict=True))


class OpenVinoRunner:
    """OpenVINO's files, on the processor."""

    def __init__(self, path: Path, threads: int = 0):
        """Open the model; it may use `threads` threads, all if 0."""
        import openvino

        settings: dict[str, Any] = {
            "PERFORMANCE_HINT": "LATENCY",
            # Else it rounds to bf16 wherever the processor can, whatever the file says.
            "INFERENCE_PRECISION_HINT": "f32",
        }
        if threads:
            settings["INFERENCE_NUM_THREADS"] = threads
        self.model = openvino.Core().compile_model(path, "CPU", settings)
        self.inputs = tuple(port.any_name for port in self.model.inputs)
        self.outputs = tuple(port.any_name for port in self.model.outputs)

    def __call__(self, batch: Mapping[str, np.ndarray]) -> Arrays:
        """Return the outputs for a batch."""
        found = self.model({name: batch[name] for name in self.inputs})
        return {name: np.array(found[i]) for i, name in enumerate(self.outputs)}


RUNNERS = {"onnx": OnnxRunner, "openvino": OpenVinoRunner}
"""One entry per runtime."""


def read_export_record(folder: Path) -> dict[str, Any] | None:
    """Read `export.json`; return None if the folder is not an export."""
    path = folder / EXPORT_RECORD
    if not path.is_file():
        return None
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        card = None
    if not isinstance(card, dict) or card.get("runtime") not in RUNTIMES:
        raise CheckpointError(f"{path} is damaged. Make the folder again: polyprune export.")
    return card


def load_runner(folder: str | Path, threads: int = 0) -> Runner | None:
    """Open the model of an exported folder; return None if the folder is not an export."""
    folder = Path(folder)
    card = read_export_record(folder)
    if card is None:
        return None
    return open_runner(folder, str(card["runtime"]), threads)


def open_runner(folder: Path, runtime: str, threads: int = 0) -> Runner:
    """Open the file of one runtime in a folder."""
    wanted = runtime_named(runtime)
    wanted.need()
    path = folder / wanted.file
    if not path.is_file():
        raise CheckpointError(f"There is no {path}. Make the folder again: polyprune export.")
    try_in_subprocess(folder, runtime)
    try:
        return RUNNERS[runtime](path, threads)
    except Exception as error:  # runtimes have errors of their own, as many as causes
        raise CheckpointError(
            f"{path} does not open in {wanted.title} ({_first_line(error)}). The file is damaged, "
            "or the disk was full: make the folder again with polyprune export."
        ) from error


_alive: set[str] = set()
"""The runtimes that have opened a model in this process without crashing."""


def try_in_subprocess(folder: Path, runtime: str) -> None:
    """Raise if the runtime crashes on a model; tried in another process so that this one survives.

    OpenVINO is made for Intel's processors, and on some others it ends with a signal, which nothing
    can catch. Whatever else goes wrong is told by the real attempt.
    """
    if runtime != "openvino" or runtime in _alive:
        return
    path = folder / RUNTIMES[runtime].file
    script = (
        "import sys; from pathlib import Path; from polyprune.exporting.runners import "
        "OpenVinoRunner; OpenVinoRunner(Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", script, str(path)]
    status = subprocess.run(command, capture_output=True, check=False).returncode
    if status < 0:
        raise ConfigError(
            f"OpenVINO crashes on this model on this processor (signal {-status}). "
            "Export it `to='onnx'`, or run it elsewhere."
        )
    if status == 0:
        _alive.add(runtime)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
