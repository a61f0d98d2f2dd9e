"""Settings tried one after the other, the best on dev kept, and repeated with other seeds."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

from ..errors import ConfigError
from ..storage import whole_file
from ..training.checkpoints import check_same
from ..training.log import read_log
from ..training.places import Places
from ..training.plan import Run
from .finetuning import Setting, Setup, TaskMaterial, encode_training, plan

LEARNING_RATES = (*(n * 1e-6 for n in range(1, 10)), *(n * 1e-5 for n in range(1, 6)))
"""The paper's (App. A): [1e-6, 2e-6, …, 5e-5]."""

EPOCHS = {"transfer": (5, 10), "translate-train-all": (3,)}


@dataclass(frozen=True, slots=True)
class Grid:
    """What to try: every learning rate with every number of epochs, then every seed."""

    learning_rates: tuple[float, ...]
    epochs: tuple[int, ...]
    seeds: tuple[int, ...] = (1,)
    batch: int = 32

    def __post_init__(self):
        if not (self.learning_rates and self.epochs and self.seeds):
            raise ConfigError("Give one learning rate, number of epochs and seed or more.")

    @classmethod
    def of(cls, setup: Setup, search: bool = False) -> "Grid":
        """The defaults of a task, or the paper's search."""
        if search:
            return cls(LEARNING_RATES, EPOCHS[setup.regime])
        epochs = setup.recipe.epochs if setup.regime == "transfer" else 3
        return cls((setup.recipe.learning_rate,), (epochs,))

    @property
    def cells(self) -> list[Setting]:
        """With the first seed."""
        return [
            Setting(rate, epochs, self.seeds[0], self.batch)
            for epochs in self.epochs
            for rate in self.learning_rates
        ]


class Tuning:
    """A folder in which settings are tried; it goes on where it was stopped.

    out/tuning.json       what is tuned
    out/examples.arrow    what is trained on
    out/<setting>/        a run
    out/results.jsonl     a line for every run that is done
    out/model, or out/seed-<n> for each of several seeds
    """

    def __init__(self, setup: Setup, grid: Grid, out: Path, *, force: bool = False):
        self.setup, self.grid, self.out = setup, grid, out
        self._begin(force)

    @property
    def models(self) -> list[Path]:
        """Where the finished models are."""
        if len(self.grid.seeds) == 1:
            return [self.out / "model"]
        return [self.out / f"seed-{seed}" for seed in self.grid.seeds]

    @property
    def results(self) -> list[dict[str, Any]]:
        """What is done, each with its setting, its dev score and those of every language."""
        return read_log(self.out / "results.jsonl")

    @property
    def material(self) -> TaskMaterial:
        """What is trained on."""
        return TaskMaterial(self.setup, self.out / "examples.arrow")

    def encode(self, watch: Any = lambda _, things: things) -> int:
        """How many examples there are to train on, once they are tokenised."""
        return len(encode_training(self.setup, self.material.examples, watch))

    def pending(self) -> Iterator[Setting]:
        """What is still to do: the grid, then the best of it with the other seeds."""
        for setting in self.grid.cells:
            if self._of(setting) is None:
                yield setting
        for seed in self.grid.seeds[1:]:
            setting = replace(self.best(self.grid.seeds[0]), seed=seed)
            if self._of(setting) is None:
                yield setting

    def run(self, setting: Setting, examples: int) -> tuple[Run, Path]:
        """How one setting is trained, and where."""
        return plan(self.setup, setting, examples), self.out / setting.name

    def conclude(self, setting: Setting) -> dict[str, Any]:
        """Write a run's result down, and keep its model if it is the best of its seed."""
        places = Places(self.out / setting.name)
        log = read_log(places.log)
        measured = [entry for entry in log if entry["held_out"]]
        chosen = min(measured, key=_wrong, default=None)
        if measured and self.setup.recipe.final == "last":
            chosen = measured[-1]
        wrong = chosen["held_out"] if chosen else {}
        result = {
            "setting": asdict(setting),
            "steps": log[-1]["step"],
            "step": chosen["step"] if chosen else log[-1]["step"],
            "score": 100 * (1 - _wrong(chosen)) if chosen else None,
            "languages": {code: 100 * (1 - share) for code, share in wrong.items()},
        }
        lines = [*self.results, result]
        target = self._target(setting)
        best = max((line for line in lines if line["setting"]["seed"] == setting.seed), key=_rank)
        if best is result:
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(places.model, target)
        with whole_file(self.out / "results.jsonl", force=True) as path:
            path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        log_text = places.log.read_bytes()
        places.clear()
        places.log.write_bytes(log_text)  # curves are small, and worth a look
        return result

    def best(self, seed: int) -> Setting:
        """The setting with the best dev score of those with this seed."""
        own = [line for line in self.results if line["setting"]["seed"] == seed]
        return Setting(**max(own, key=_rank)["setting"])

    def score(self, seed: int) -> float | None:
        """The dev score of the model that is kept of a seed."""
        own = [line for line in self.results if line["setting"]["seed"] == seed]
        return max(own, key=_rank)["score"]

    def finish(self) -> None:
        """Remove what is no longer needed."""
        self.material.examples.unlink(missing_ok=True)

    def _of(self, setting: Setting) -> dict[str, Any] | None:
        done = (line for line in self.results if line["setting"] == asdict(setting))
        return next(done, None)

    def _target(self, setting: Setting) -> Path:
        return self.models[self.grid.seeds.index(setting.seed)]

    def _begin(self, force: bool) -> None:
        record = self.out / "tuning.json"
        identity = json.loads(json.dumps(self.material.files | {"model": self.setup.model}))
        if force and record.is_file():
            shutil.rmtree(self.out)
        if record.is_file():
            check_same(record, identity)
            return
        if self.out.exists() and (self.out.is_file() or any(self.out.iterdir())):
            raise ConfigError(f"{self.out} is something else. Choose another --out.")
        self.out.mkdir(parents=True, exist_ok=True)
        with whole_file(record) as path:
            path.write_text(json.dumps(identity, indent=2), encoding="utf-8")


def _wrong(entry: dict[str, Any]) -> float:
    return mean(entry["held_out"].values())


def _rank(line: dict[str, Any]) -> float:
    return -1.0 if line["score"] is None else line["score"]


def finetuned(folder: Path) -> list[Path]:
    """The models in a folder that was fine-tuned in, or the folder itself if it is a model."""
    if not (folder / "tuning.json").is_file():
        return [folder]
    found = [folder / "model"] if (folder / "model").is_dir() else sorted(folder.glob("seed-*"))
    if not found:
        raise ConfigError(f"Fine-tuning in {folder} is not finished: give the same command again.")
    return found
