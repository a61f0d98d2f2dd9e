"""`polyprune.train`: whatever a config says, to the end, through any number of interruptions."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..config import read_run
from ..errors import ConfigError
from ..jsonl import read_log
from ..loading.hub import load
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import Progress
from ..reporting.tables.table import Table
from ..training.convergence import GateConvergence
from ..training.run import follow
from ..training.run_config import Run
from ..training.run_paths import RunPaths
from ..training.run_progress import lagging_languages
from ..training.run_results import summarize_run
from ..training.text_material import TextMaterial
from .inputs import quiet_loading, work_folder
from .requests.train import TrainRequest
from .result import ModelResult, make_table
from .verb import verb


@dataclass(frozen=True, repr=False)  # without slots, so that the model is loaded once
class TrainResult(ModelResult):
    """A finished run: its model, and its losses on text that it was not trained on."""

    folder: Path
    """The folder of the run; the model is in its `model`."""
    steps: int
    losses: dict[str, float]
    """The losses of the last step, by name."""
    held_out: dict[str, float]
    """The last held-out loss of each language."""
    dense: dict[str, float]
    """The same of the model that training started from, where they can be compared."""
    gates: GateConvergence | None = None
    """How far learned gates have come; None if no gates were learned."""
    temporary: Any = None
    """Keeps the folder for as long as the result, where no place was given."""

    @property
    def log(self) -> list[dict[str, Any]]:
        """What each step came to: `step`, `losses`, `density`, held-out losses where taken."""
        return read_log(RunPaths(self.folder).log)

    @cached_property
    def model(self) -> PolyprunePreTrainedModel:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The trained model."""
        return load(self.folder / "model")

    def as_dict(self) -> dict[str, Any]:
        """Where the model is, how long it was trained, and its losses."""
        return {
            "out": None if self.temporary else str(self.folder / "model"),
            "steps": self.steps,
            "losses": self.losses,
            "held_out": self.held_out,
            "dense": self.dense,
            "gates": None if self.gates is None else asdict(self.gates),
        }

    def summary(self) -> Iterator[Table | str]:
        """The held-out loss of each language, beside the dense model where there was one."""
        marked = set(lagging_languages(self.held_out, self.dense))
        if self.held_out and self.dense:
            rows = [
                [
                    code,
                    f"{loss:.3f}",
                    f"{self.dense[code]:.3f}",
                    f"{loss / self.dense[code] - 1:+.1%}",
                    "lags" if code in marked else "",
                ]
                for code, loss in self.held_out.items()
            ]
            columns = ["language", "loss", "dense", "lost", ""]
            yield make_table(columns, rows, title="held-out loss")
        elif self.held_out:
            rows = [[code, f"{loss:.3f}"] for code, loss in self.held_out.items()]
            yield make_table(["language", "loss"], rows, title="held-out loss")
        if self.gates is not None:
            yield self.gates.describe()
        place = "Trained" if self.temporary else f"Written to {self.folder / 'model'}"
        yield f"{place} after {self.steps} steps."


@verb(TrainRequest)
def train(config: str | Path | Run, request: TrainRequest, progress: Progress) -> TrainResult:
    """Train what a config describes: recovery, L0, Dynamic Sparsification, distillation.

    The config is a .toml file or a `Run`. In a folder that is given, a run that was stopped or
    killed goes on where it was. If `progress` asks to stop, it saves where it is and raises
    `polyprune.progress.Stopped`.
    """
    quiet_loading()
    run = _run_of(config, request)
    folder, temporary = work_folder(request.out)
    for _ in follow(run, folder, material=TextMaterial.of, progress=progress, force=request.force):
        pass
    found = summarize_run(folder)
    return TrainResult(folder=folder, temporary=temporary, **found)


def _run_of(config: str | Path | Run, request: TrainRequest) -> Run:
    if not isinstance(config, Run):
        return read_run(Path(config), request.changes or (), request.steps)
    if request.changes:
        raise ConfigError("`changes` are for config files: change the Run itself.")
    return config if request.steps is None else config.with_steps(request.steps)
