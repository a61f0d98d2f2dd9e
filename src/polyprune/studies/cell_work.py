"""The work of a cell: train, fine-tune, score or measure. Workers call it."""

import ctypes
import platform
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from ..progress import Silent, Stopped
from ..storage import atomic_file
from .pool import Interrupted, Job, Stop
from .study_cells import FinishedRun
from .study_files import CellFiles

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
"""The numbers in glibc's malloc.h."""

SMALL = 50_000_000
"""Bytes of weights up to which a worker keeps the memory that its runs have freed."""


@cache
def keep_memory() -> bool:
    """Let glibc keep freed memory; return whether it will (only on Linux).

    Otherwise what is larger than 32 MB, such as the predicted words of a batch, is handed back to
    the system when it is freed, and asked for, and filled with zeros, at the next step. For workers
    that do one small run after the other: a heap that never shrinks is torn to pieces by the large
    tensors of a large model, and takes gigabytes more than these do.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, 2**31 - 1))


def is_small(model: Path) -> bool:
    """Whether the weights in a model's folder are small beside what a step works with."""
    return sum(path.stat().st_size for path in model.glob("*.safetensors")) < SMALL


# Importing torch takes seconds: workers do so when they do something, not when they start.


def work(job: Job, stop: Stop) -> dict[str, Any]:
    """Run a cell, and return its result as JSON."""
    import torch
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    if is_small(job.start):
        keep_memory()
    torch.set_num_threads(job.threads)
    _note_start(job)
    return WORKS[job.kind](job, stop)


def make_model(job: Job, stop: Stop) -> dict[str, Any]:
    """Train a model as its config says, into `run/model`."""
    from ..training.run import train
    from ..training.run_paths import RunPaths
    from ..training.run_results import held_out_curve, summarize_run
    from ..training.text_material import TextMaterial

    run, out = job.payload, CellFiles(job.folder).work
    if isinstance(run, FinishedRun):
        shutil.copytree(run.folder / "model", RunPaths(out).model, dirs_exist_ok=True)
        return {"steps": run.run.steps, "curve": held_out_curve(run.folder)}
    run = replace(run, saving=_quarterly(run))
    with _interrupted_when_stopped():
        tokens = sum(
            report.tokens
            for report in train(run, out, material=TextMaterial.of, progress=Silent(stop))
        )
    paths = RunPaths(out)
    for folder in (paths.checkpoints, paths.prepared, paths.start, *out.glob("cut-*")):
        shutil.rmtree(folder, ignore_errors=True)
    found = summarize_run(out)
    kept = {name: found[name] for name in ("steps", "losses", "held_out", "dense")}
    return kept | {"tokens": tokens, "curve": held_out_curve(out)}


def tune(job: Job, stop: Stop) -> dict[str, Any]:
    """Fine-tune a model for a task, into `run/model`."""
    from ..evaluation.finetune_config import FineTuneConfig, SearchSpace
    from ..evaluation.hyperparameter_search import HyperparameterSearch
    from ..evaluation.run_search import run_search
    from .own_study_task import find_study_task

    wanted = job.settings
    setup = FineTuneConfig(
        model=str(job.models[0]),
        task=find_study_task(wanted["task"], job.payload),
        data=job.data,
        regime=wanted["regime"],
        limit=wanted["limit"],
        sparsity=wanted["sparsity"],
        words=wanted["words"],
    )
    rates, epochs = _several(wanted["learning_rate"]), _several(wanted["epochs"])
    grid = SearchSpace(rates, epochs, (wanted["seed"],), wanted["batch"])
    tuning = HyperparameterSearch(setup, grid, CellFiles(job.folder).work)
    with _interrupted_when_stopped():
        run_search(tuning, Silent(stop), _untracked)
    chosen = asdict(tuning.best(wanted["seed"]))
    result = next(each for each in tuning.results if each["setting"] == chosen)
    return {
        "dev": result["score"],
        "steps": result["steps"],
        "step": result["step"],
        "learning_rate": chosen["learning_rate"],
        "epochs": chosen["epochs"],
        "tried": [
            {
                "learning_rate": each["setting"]["learning_rate"],
                "epochs": each["setting"]["epochs"],
                "dev": each["score"],
            }
            for each in tuning.results
        ],
    }


def score(job: Job, stop: Stop) -> dict[str, Any]:
    """Score a model in every language."""
    from ..evaluation.baselines import baseline_scores
    from ..evaluation.eval_config import EvalConfig
    from ..evaluation.evaluator import evaluate, language_records, mean_scores
    from ..evaluation.loaded_model import LoadedModel
    from .own_study_task import find_study_task

    wanted, task = job.settings, find_study_task(job.settings["task"], job.payload)
    codes = wanted["languages"]
    eval_config = EvalConfig(
        data=job.data,
        languages=None if codes is None else tuple(codes),
        limit=wanted["limit"],
        labels=job.labels,
        device="cpu" if not _has_gpu() else "auto",
    )
    candidate = LoadedModel.load(job.models[0], task, wanted["sparsity"])
    candidate.model.float()  # as trained models are: half precision is slow without a GPU
    results, data = [], eval_config.read_all(task)
    for each in evaluate(candidate, task, eval_config, data):
        results.append(each)
        if stop():
            raise Interrupted
    guessed = {
        code: baseline_scores(task, own.examples, own.gold, code)
        for code, own in data.languages.items()
    }
    return {
        "mean": mean_scores(results),
        "languages": language_records(results),
        "baseline": guessed,
    }


def speed(job: Job, stop: Stop) -> dict[str, Any]:
    """Measure parameters, bytes, multiply–adds, and the speed relative to the starting model."""
    import torch

    from ..loading.hub import load
    from ..measuring.speed import compare_speed
    from ..model.footprint import footprint_of, weight_bytes
    from ..pruning.architecture import architecture_record

    sentences, tokens = job.settings["batch"]
    # In one precision, whatever they are stored in: it is shapes that are compared.
    dense, own = (
        load(path, "hidden-states", dtype=torch.float32) for path in (job.start, job.models[0])
    )
    kept = architecture_record(own, dense.shape, job.settings["sparsity"])
    own, language = _one_size(own, job.settings["sparsity"])
    size = footprint_of(own.config, own.readout_kind, tokens)
    generator = torch.Generator().manual_seed(0)
    words = min(dense.shape.vocab_size, own.shape.vocab_size)
    batch = torch.randint(10, words, (sentences, tokens), generator=generator)
    found = compare_speed({"dense": dense, "own": own}, batch, rounds=job.settings["rounds"])["own"]
    return {
        "parameters": size.parameters,
        **asdict(size),
        "bytes": weight_bytes(own.config, size),
        "language": language,
        "layers": own.shape.layers,
        "heads": list(own.shape.heads),
        "units": list(own.shape.units),
        "rank": own.shape.rank,
        **kept,
        "sentences_per_second": found.sentences_per_second,
        "ratio": found.ratio,
        "low": found.low,
        "high": found.high,
        "threads": job.threads,
    }


def _one_size(model: Any, sparsity: float | None) -> tuple[Any, str | None]:
    """Return a model as deployed: shrunk to a size, for one language if gates differ."""
    elastic = model.elastic
    if elastic is None:
        return model, None
    row = "en" if "en" in elastic.rows else elastic.rows[0]
    several = len(elastic.rows) > 1
    cut = elastic.take(model, sparsity, [row] if several else None)
    return cut, row if several else None


def _quarterly(run: Any) -> Any:
    """Look at the held-out loss after every quarter, to see whether it is flat; no trackers.

    Of a run that keeps its best model it matters when one looks: that is left as it is.
    """
    saving = replace(run.saving, trackers=(), keep=1)
    if saving.keeps_best:
        return saving
    return replace(saving, held_out_every=min(saving.held_out_every, max(1, run.steps // 4)))


def _untracked(run: Any) -> Any:
    """A run that no tracker is told about: the study's own records are enough."""
    return replace(run, saving=replace(run.saving, trackers=()))


@contextmanager
def _interrupted_when_stopped() -> Iterator[None]:
    """Training that was asked to stop is a cell that was interrupted."""
    try:
        yield
    except Stopped as stopped:
        raise Interrupted from stopped


def _note_start(job: Job) -> None:
    """Note that the cell was started; begin anew if the folder was moved: runs record paths."""
    here = "\n".join(str(path) for path in (*job.models, job.start, job.data, job.folder))
    files = CellFiles(job.folder)
    if files.start_note.is_file() and files.start_note.read_text(encoding="utf-8") != here:
        shutil.rmtree(files.work, ignore_errors=True)
    with atomic_file(files.start_note, force=True) as path:
        path.write_text(here, encoding="utf-8")


def _several(value: Any) -> tuple[Any, ...]:
    """One value or a list of them as a tuple."""
    return tuple(value) if isinstance(value, list) else (value,)


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


WORKS: dict[str, Callable[[Job, Stop], dict[str, Any]]] = {
    "model": make_model,
    "tuned": tune,
    "score": score,
    "speed": speed,
}
