"""Hyperparameter search: run trials, keep the best on dev, repeat it with other seeds."""

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from statistics import mean
from typing import Any

from ..errors import CheckpointError, ConfigError
from ..jsonl import read_log
from ..loading.finding import find
from ..model.files.fingerprint import quick_hash
from ..progress import SILENT, Progress
from ..storage import atomic_file, atomic_folder
from ..training.checkpoints import check_same_run
from ..training.loop import Diverged
from ..training.run_config import Run
from ..training.run_paths import RunPaths
from ..training.session import all_processes
from .example_store import ExampleStore
from .finetune_config import FineTuneConfig, SearchSpace, Trial
from .finetuning import TaskMaterial, finetuning_run
from .training_data import check_selection_data, encode_training


class HyperparameterSearch:
    """A search in a folder; it continues where it was stopped.

    out/tuning.json       what is tuned
    out/examples.arrow    what is trained on
    out/<setting>/        a run
    out/results.jsonl     a line for every run that is done
    out/model, or out/seed-<n> for each of several seeds

    Nothing is written before the examples have been read without a mistake.
    """

    def __init__(self, setup: FineTuneConfig, grid: SearchSpace, out: Path, *, force: bool = False):
        self.setup, self.grid, self.out = setup, grid, out
        self._processes = all_processes()
        self._check_place()
        self._new = force or not self._is_known()
        self._processes.wait_for_everyone()  # none begins before all have looked

    @property
    def models(self) -> list[Path]:
        """The folders of the finished models."""
        return [self._target(seed) for seed in self.grid.seeds]

    @property
    def results(self) -> list[dict[str, Any]]:
        """The finished trials, each with its dev score and those of every language."""
        path = self.out / "results.jsonl"
        if self._new:  # what is there will be replaced
            return []
        try:
            lines = read_log(path)
        except ValueError:  # no JSON
            lines = [{}]
        if not all(line.keys() >= _RESULT for line in lines):
            raise CheckpointError(f"{path} is damaged. Pass `force` to start again.")
        return lines

    @property
    def material(self) -> TaskMaterial:
        """What the run trains on."""
        return TaskMaterial(self.setup, self.out / "examples.arrow")

    def encode(self, progress: Progress = SILENT) -> int:
        """Tokenize the training examples; return their number."""
        self._check_choice()
        with self._processes.main_process_first():
            if self._new and self._processes.is_main_process:
                self._begin(progress)
            self._new = False
            again = not self.material.examples.is_file()
            store = encode_training(self.setup, self.material.examples, progress)
            if again:
                self._check_unchanged(store)
            return len(store)

    def pending(self) -> Iterator[Trial]:
        """Yield the trials still to run: all combinations, then the best with the other seeds."""
        for setting in self.grid.cells:
            if self._of(setting) is None:
                yield setting
        self._check_converged()
        for seed in self.grid.seeds[1:]:
            setting = replace(self.best(self.grid.seeds[0]), seed=seed)
            if self._of(setting) is None:
                yield setting

    def run(self, setting: Trial, examples: int) -> tuple[Run, Path]:
        """Return the training run of a trial, and its folder."""
        return finetuning_run(self.setup, setting, examples), self.out / setting.name

    def conclude(self, setting: Trial) -> dict[str, Any]:
        """Record a trial's result, and keep its model if it is the best of its seed."""
        if self._processes.is_main_process:
            self._conclude(setting)
        self._processes.wait_for_everyone()
        result = self._of(setting)
        assert result is not None
        return result

    def _conclude(self, setting: Trial) -> None:
        paths = RunPaths(self.out / setting.name)
        result = {"setting": asdict(setting), **self._chosen(read_log(paths.log))}
        others = self._own(setting.seed)
        if all(_rank(result) > _rank(line) for line in others):
            self._make_room(setting.seed)
            with atomic_folder(self._target(setting.seed), force=True) as new:
                shutil.copytree(paths.model, new, dirs_exist_ok=True)
        self._write_down(result)

    def _write_down(self, result: dict[str, Any]) -> None:
        """Append a result, and delete the trial's files except its log."""
        lines = [*self.results, result]
        with atomic_file(self.out / "results.jsonl", force=True) as path:
            path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        paths = RunPaths(self.out / Trial(**result["setting"]).name)
        log_text = paths.log.read_bytes()
        paths.clear()
        paths.log.write_bytes(log_text)  # curves are small, and worth a look

    def record_failure(self, setting: Trial, why: Diverged) -> None:
        """Record that a trial diverged if it is one of several; else raise advice."""
        told = f"The loss of step {why.step} is not a number"
        if setting not in self.grid.cells:
            raise ConfigError(
                f"With seed {setting.seed}, unlike the first: {told[0].lower()}{told[1:]}. Try "
                "other `seeds`, or a smaller `learning_rate`."
            ) from why
        if len(self.grid.cells) == 1:
            raise ConfigError(
                f"{told}. Try a smaller `learning_rate` than {setting.learning_rate:g}."
            ) from why
        if self._processes.is_main_process:
            nothing = {"steps": why.step, "step": why.step, "score": None, "languages": {}}
            self._write_down({"setting": asdict(setting), **nothing, "diverged": True})
        self._processes.wait_for_everyone()

    def _chosen(self, log: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the step whose model was kept, and its scores on dev."""
        measured = [entry for entry in log if entry["held_out"]]
        chosen = min(measured, key=_wrong, default=None)
        if measured and self.setup.defaults.final == "last":
            chosen = measured[-1]
        wrong = chosen["held_out"] if chosen else {}
        return {
            "steps": log[-1]["step"],
            "step": chosen["step"] if chosen else log[-1]["step"],
            "score": 100 * (1 - _wrong(chosen)) if chosen else None,
            "languages": {code: 100 * (1 - share) for code, share in wrong.items()},
        }

    def best(self, seed: int) -> Trial:
        """Return the trial with the best dev score for this seed."""
        return Trial(**max(self._own(seed), key=_rank)["setting"])

    def score(self, seed: int) -> float | None:
        """Return the dev score of the model that is kept for a seed."""
        return max(self._own(seed), key=_rank)["score"]

    def finish(self) -> None:
        """Delete the examples and other files that are no longer needed."""
        if self._processes.is_main_process:
            self.material.examples.unlink(missing_ok=True)

    def _own(self, seed: int) -> list[dict[str, Any]]:
        """Return the results of a seed, without diverged trials."""
        lines = (line for line in self.results if not line.get("diverged"))
        return [line for line in lines if line["setting"]["seed"] == seed]

    def _check_choice(self) -> None:
        """Raise if the best of several trials is requested without dev data."""
        seeds, wanted = self.grid.seeds, set(self.grid.cells)
        lines = (line["setting"] for seed in seeds for line in self._own(seed))
        before = {Trial(**{**line, "seed": seeds[0]}) for line in lines}
        if len(wanted | before) > 1:
            elsewhere = f", and another `out` than {self.out}" if before - wanted else ""
            check_selection_data(
                self.setup, f"give one learning rate and number of epochs{elsewhere}"
            )

    def _check_converged(self) -> None:
        """Raise if all trials have diverged."""
        tried = [self._of(setting) for setting in self.grid.cells]
        if all(line is not None and line.get("diverged") for line in tried):
            raise ConfigError(
                f"All {len(tried)} settings diverged: their losses are no numbers. Try a "
                "`learning_rate` that is smaller than all of them."
            )

    def _check_unchanged(self, store: ExampleStore) -> None:
        """Raise if the examples changed since the search started."""
        known = json.loads(self._record.read_text(encoding="utf-8")).get("data")
        if known is not None and known != store.summary:
            self.material.examples.unlink(missing_ok=True)
            raise ConfigError(
                f"The data in {self.setup.data} has changed since fine-tuning in {self.out} began: "
                "choose another `out`, or pass `force` to start again."
            )

    def _of(self, setting: Trial) -> dict[str, Any] | None:
        done = (line for line in self.results if line["setting"] == asdict(setting))
        return next(done, None)

    @property
    def _tried(self) -> set[int]:
        """Return the seeds of the finished trials."""
        return {line["setting"]["seed"] for line in self.results}

    def _target(self, seed: int) -> Path:
        several = len(self._tried | set(self.grid.seeds)) > 1
        return self.out / (f"seed-{seed}" if several else "model")

    def _make_room(self, seed: int) -> None:
        """Move the only model to the folder of its seed."""
        only = self.out / "model"
        if not only.is_dir() or only == self._target(seed):
            return
        for before in self._tried:  # which is one, or none if it was killed before it said so
            only.rename(self._target(before))

    @property
    def _record(self) -> Path:
        return self.out / "tuning.json"

    @property
    def _identity(self) -> dict[str, Any]:
        setup = self.setup
        about = {"model": setup.model, "start": quick_hash(find(setup.model)), "words": setup.words}
        if (teacher := setup.teacher) is not None:
            about |= {"teacher": asdict(teacher) | {"hash": quick_hash(find(teacher.model))}}
        return json.loads(json.dumps(self.material.files | about))

    def _is_known(self) -> bool:
        """Return whether this same search has started; raise if the folder holds another one."""
        if not self._record.is_file():
            return False
        check_same_run(self._record, self._identity)
        return True

    def _check_place(self) -> None:
        """Raise if the folder holds something other than a search."""
        others = [path for path in self.out.glob("*") if path.name[0] != "."]
        if self.out.is_file() or (others and not _is_tuning(self._record)):
            raise ConfigError(f"{self.out} is something else. Choose another `out`.")

    def _begin(self, progress: Progress) -> None:
        """Read the training data; only then replace the folder's contents and write the record."""
        new = self.out / ".examples.arrow"
        missing = [path for path in (self.out, *self.out.parents) if not path.exists()]
        try:
            new.unlink(missing_ok=True)
            summary = encode_training(self.setup, new, progress).summary
        except BaseException:
            with suppress(OSError):
                for path in missing:
                    path.rmdir()
            raise
        for pattern in ("tuning.json", "results.jsonl", "model", "seed-*", "lr-*-epochs-*-seed-*"):
            for path in self.out.glob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        new.rename(self.material.examples)
        with atomic_file(self._record) as path:
            about = self._identity | {"data": summary}
            path.write_text(json.dumps(about, indent=2), encoding="utf-8")


_RESULT = {"setting", "steps", "step", "score", "languages"}


def _is_tuning(record: Path) -> bool:
    """Return whether a file is the record of a search."""
    try:
        known = json.loads(record.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return False
    except ValueError:
        raise CheckpointError(
            f"{record} is damaged. Delete the folder {record.parent}, or choose another `out`."
        ) from None
    return isinstance(known, dict) and {"task", "model"} <= known.keys()


def _wrong(entry: dict[str, Any]) -> float:
    return mean(entry["held_out"].values())


def _rank(line: dict[str, Any]) -> float:
    return -1.0 if line["score"] is None else line["score"]
