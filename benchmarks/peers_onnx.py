"""Smaller numbers instead of fewer, and both: ONNX Runtime, in single precision and in bytes.

The files are those of `polyprune export`; ranges are taken from lines that may be looked at.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from peers_ready import Ready, Way, bare, sizes_of
from peers_shelf import Outside
from peers_subjects import Subject
from torch import Tensor

import polyprune as pp
from polyprune.parts import EXPORT_RECORD, Runner, load_runner

Source = Callable[[Subject, float], Any]
"""The model of a size that is written in another form."""


def onnx_way(name: str, sizes: tuple[float, ...], source: Source, **more: Any) -> Way:
    """What an export makes of models that are there already."""
    precision = "int8" if "int8" in name else "fp32"
    make = partial(make_onnx, source=source, precision=precision)
    return Way(name, sizes, make, partial(bring_onnx, source=source), suffix="", **more)


def make_onnx(subject: Subject, size: float, path: Path, source: Source, precision: str) -> None:
    """A folder with all that is asked, and one that gives hidden states, to be timed."""
    model, corpus = source(subject, size), subject.seen_text()
    path.mkdir(parents=True, exist_ok=True)
    pp.export(model, precision=precision, corpus=corpus, out=path / "asked", force=True)
    if subject.guesses_words:
        pp.export(bare(model), precision=precision, corpus=corpus, out=path / "timed", force=True)


def bring_onnx(subject: Subject, size: float, path: Path, source: Source) -> Ready:
    """Both in ONNX Runtime, with as many threads as torch has."""
    asked, timed = _open(path / "asked"), path / "timed"
    quick = _open(timed) if timed.exists() else asked

    def run(ids: Tensor) -> None:
        quick(_arrays(quick, ids, torch.ones_like(ids)))

    def ask(ids: Tensor, mask: Tensor) -> Tensor:
        found = asked(_arrays(asked, ids, mask))
        return torch.from_numpy(found[asked.outputs[0]])

    parameters, in_layers, _ = sizes_of(source(subject, size))
    card = json.loads((path / "asked" / EXPORT_RECORD).read_text(encoding="utf-8"))
    return Ready(Outside(subject.original, ask, ask), run, parameters, in_layers, card["bytes"])


def _open(folder: Path) -> Runner:
    runner = load_runner(folder, torch.get_num_threads())
    assert runner is not None, folder
    return runner


def _arrays(runner: Runner, ids: Tensor, mask: Tensor) -> dict[str, Any]:
    given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)}
    return {name: given[name].numpy() for name in runner.inputs}
