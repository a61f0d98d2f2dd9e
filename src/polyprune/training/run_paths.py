"""Where a run keeps what."""

import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunPaths:
    """Where a run keeps what."""

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
        """One folder each."""
        return self.out / "checkpoints"

    @property
    def model(self) -> Path:
        """The finished model."""
        return self.out / "model"

    @property
    def record(self) -> Path:
        """What the run is; there before anything else."""
        return self.out / "run.json"

    @property
    def dense(self) -> Path:
        """The held-out losses before anything was cut."""
        return self.out / "dense.json"

    @property
    def targets(self) -> Path:
        """What the teacher makes of all text, where that is computed once."""
        return self.out / "targets.safetensors"

    @property
    def tracking(self) -> Path:
        """What trackers write."""
        return self.out / "tracking"

    def cut(self, phase: int) -> Path:
        """The model that a phase begins with, if it was cut for it."""
        return self.out / f"cut-{phase + 1}"

    def clear(self) -> None:
        """Remove all of these, and what a killed process left half-written, but nothing else."""
        for name in ("run.json", "dense.json", "targets.safetensors", "log.jsonl"):
            (self.out / name).unlink(missing_ok=True)
        for name in ("start", "prepared", "held-out", "checkpoints", "tracking", "model", "cut-*"):
            for path in (*self.out.glob(name), *self.out.glob(f".{name}.*")):
                shutil.rmtree(path, ignore_errors=True)
        for path in self.out.glob(".run.json.*"):
            path.unlink()

    @property
    def log(self) -> Path:
        """A line a step."""
        return self.out / "log.jsonl"
