"""The paths of a run's files."""

import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunPaths:
    """The paths of a run's files."""

    out: Path

    @property
    def start(self) -> Path:
        """The model that training starts from, uncut."""
        return self.out / "start"

    @property
    def prepared(self) -> Path:
        """The model that is trained first, with its gates."""
        return self.out / "prepared"

    @property
    def held_out(self) -> Path:
        """Text that is not trained on."""
        return self.out / "held-out"

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints, one subfolder each."""
        return self.out / "checkpoints"

    @property
    def model(self) -> Path:
        """The finished model."""
        return self.out / "model"

    @property
    def record(self) -> Path:
        """The record of the run's config, `run.json`; written first."""
        return self.out / "run.json"

    @property
    def dense(self) -> Path:
        """The held-out losses of the dense model."""
        return self.out / "dense.json"

    @property
    def before(self) -> Path:
        """The held-out losses before the first step, where that may be what is kept."""
        return self.out / "before.json"

    @property
    def targets(self) -> Path:
        """The teacher's embeddings of all text, if they are computed in advance."""
        return self.out / "targets.safetensors"

    @property
    def tracking(self) -> Path:
        """The folder of the trackers' files."""
        return self.out / "tracking"

    def cut(self, phase: int) -> Path:
        """The model that a phase starts from, if it was shrunk for that phase."""
        return self.out / f"cut-{phase + 1}"

    def clear(self) -> None:
        """Remove all of these paths and unfinished temporary files, but nothing else."""
        for name in ("run.json", "dense.json", "before.json", "targets.safetensors", "log.jsonl"):
            (self.out / name).unlink(missing_ok=True)
        for name in ("start", "prepared", "held-out", "checkpoints", "tracking", "model", "cut-*"):
            for path in (*self.out.glob(name), *self.out.glob(f".{name}.*")):
                shutil.rmtree(path, ignore_errors=True)
        for path in self.out.glob(".run.json.*"):
            path.unlink()

    @property
    def log(self) -> Path:
        """The log, one line per step."""
        return self.out / "log.jsonl"
