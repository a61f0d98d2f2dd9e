"""Checkpoints of a run that may be killed at any moment: always complete, the best ones kept."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_optimizer_state_dict,
)

from ..errors import CheckpointError, ConfigError

STATE, ABOUT = "state.safetensors", "checkpoint.json"
# Whole tensors on the main process, whoever holds their parts: the same file for one process,
# for many, and for sharded models.
WHOLE = StateDictOptions(full_state_dict=True, cpu_offload=True)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A complete checkpoint on disk."""

    folder: Path
    about: dict[str, Any]

    @property
    def step(self) -> int:
        """The number of steps done when the checkpoint was saved."""
        return self.about["step"]

    @property
    def best(self) -> str | None:
        """The name of the checkpoint with the lowest held-out loss of its phase."""
        best = self.about["best"]
        return None if best is None else checkpoint_name(best["step"])

    def tensors(self, part: str) -> dict[str, Tensor]:
        """Return the tensors of `system` or `optimizer`, by name."""
        path = self.folder / STATE
        try:
            tensors = load_file(path)
        except (OSError, SafetensorError) as error:
            raise CheckpointError(
                f"{path} is damaged ({error}). Delete the folder {self.folder} and run again: "
                "training goes on from the checkpoint before it."
            ) from error
        return {
            # The regularizer had another name in checkpoints of version 0.1.
            name.removeprefix(f"{part}/").replace("pressure.", "regularizer.", 1): tensor
            for name, tensor in tensors.items()
            if name.startswith(f"{part}/")
        }


def checkpoint_name(step: int) -> str:
    """Return the folder name of a step's checkpoint."""
    return f"step-{step:07}"


def save_checkpoint(
    folder: Path, system: nn.Module, optimizer: Any, about: dict[str, Any], main: bool
) -> Path:
    """Write a checkpoint, whole or not at all; every process has to take part."""
    plain = optimizer.optimizer if hasattr(optimizer, "optimizer") else optimizer
    weights = get_model_state_dict(system, options=WHOLE)
    moments: Any = get_optimizer_state_dict(system, plain, options=WHOLE)
    path = folder / checkpoint_name(about["step"])
    if not main:
        return path
    named: dict[str, Any] = {f"system/{name}": value for name, value in weights.items()}
    for name, own in moments.get("state", {}).items():
        named |= {f"optimizer/{name}/{moment}": value for moment, value in own.items()}
    # Clones, because tied tensors share memory, which the format does not know.
    tensors = {
        name: value.clone().contiguous()
        for name, value in named.items()
        if isinstance(value, Tensor)
    }
    new = folder / f".new-{path.name}"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        save_file(tensors, new / STATE)
        (new / ABOUT).write_text(json.dumps(about), encoding="utf-8")
        for name in (STATE, ABOUT):
            _flush(new / name)
        shutil.rmtree(path, ignore_errors=True)
        new.rename(path)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return path


def load_optimizer(checkpoint: Checkpoint, system: nn.Module, optimizer: Any) -> None:
    """Restore an optimizer's moments from a checkpoint."""
    plain = optimizer.optimizer if hasattr(optimizer, "optimizer") else optimizer
    state: dict[str, Any] = {}
    for key, tensor in checkpoint.tensors("optimizer").items():
        name, _, moment = key.rpartition("/")
        state.setdefault(name, {})[moment] = tensor
    groups = get_optimizer_state_dict(system, plain)["param_groups"]  # which all processes have
    whole = {"state": state, "param_groups": groups}
    # What has no gradient, above the layer that a loss looks at, has no moments either.
    options = StateDictOptions(full_state_dict=True, cpu_offload=True, strict=False)
    set_optimizer_state_dict(system, plain, whole, options=options)


def latest_checkpoint(folder: Path) -> Checkpoint | None:
    """Return the newest complete checkpoint, and remove incomplete ones."""
    for rest in folder.glob(".new-*"):
        shutil.rmtree(rest, ignore_errors=True)
    found = sorted(path for path in folder.glob("step-*") if (path / ABOUT).is_file())
    return read_checkpoint(found[-1]) if found else None


def read_checkpoint(path: Path) -> Checkpoint:
    """Read the checkpoint in a folder."""
    try:
        return Checkpoint(path, json.loads((path / ABOUT).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} is not a checkpoint ({error}). Delete it.") from error


def delete_old_checkpoints(folder: Path, keep: int, best: str | None) -> None:
    """Delete all but the latest checkpoints and the best."""
    found = sorted(path for path in folder.glob("step-*") if path.name != best)
    for path in found[:-keep]:
        shutil.rmtree(path, ignore_errors=True)


def check_same_run(record: Path, identity: dict[str, Any]) -> None:
    """Raise if a folder holds another run, and name the settings that differ."""
    there = json.loads(record.read_text(encoding="utf-8"))
    differences = _differences({name: there.get(name) for name in identity}, identity)
    if differences:
        raise ConfigError(
            f"{record.parent} holds a run of another config ({'; '.join(differences[:3])}). Choose "
            "another `out`, or pass `force` to start again."
        )


def _differences(there: Any, here: Any, name: str = "") -> list[str]:
    if isinstance(there, dict) and isinstance(here, dict):
        keys = [*there, *(key for key in here if key not in there)]
        parts = (_differences(there.get(k), here.get(k), f"{name}.{k}".lstrip(".")) for k in keys)
        return [difference for part in parts for difference in part]
    if isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        pairs = enumerate(zip(there, here, strict=True))
        parts = (_differences(a, b, f"{name}.{i}") for i, (a, b) in pairs)
        return [difference for part in parts for difference in part]
    return [] if there == here else [f"{name}: {there!r} there, {here!r} here"]


def _flush(path: Path) -> None:
    """Flush a file to disk before its folder gets its final name."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
