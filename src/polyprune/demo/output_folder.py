"""The output folder of the tour: made beside its place, and moved there when everything is done."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from ..progress import Progress

KEPT = {
    "model": "the pruned and recovered model: AutoModel.from_pretrained() loads it",
    "elastic": "a small model that holds every size",
    "text": "the text that all this was done on, one file per language",
    "tasks": "nine tasks in small, made here, in XTREME's layout",
    "train.toml": "how to train every size of a model",
    "results.jsonl": "every number, one a line",
    "page.html": "the same as one page with charts: open it in a browser",
}
"""What is in the folder."""


def check_free(out: Path, force: bool) -> None:
    """Raise if a folder has something in it, unless that may be replaced."""
    if out.is_file():
        raise ConfigError(f"{out} is a file. Choose another --out.")
    if out.is_dir() and any(out.iterdir()) and not force:
        raise ConfigError(
            f"{out} is not empty. Choose another --out, or pass --force to replace what a demo "
            "left there."
        )


@contextmanager
def temporary_folder(out: Path) -> Iterator[Path]:
    """Make a temporary folder beside `out`, on the same disk; it is always removed afterwards."""
    parent = out.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=parent))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def move_in(made: Mapping[str, Path], out: Path, work: Path) -> None:
    """Rename what was made to its name in `out`; what else is there stays."""
    out.mkdir(parents=True, exist_ok=True)
    old = Path(tempfile.mkdtemp(dir=work))
    for name, path in made.items():
        if (out / name).exists():
            (out / name).rename(old / name)
        path.chmod(0o755 if path.is_dir() else 0o644)
        path.rename(out / name)


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write one line of JSON per row."""
    text = "".join(f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def train_config(out: Path) -> str:
    """A file for `polyprune train`: Dynamic Sparsification on the text of the demo."""
    source = json.dumps(str((out / "text").absolute()), ensure_ascii=False)  # as TOML quotes too
    return f"""\
# Dynamic Sparsification: train once, take out any size. For a model and text of your own, change
# start and source.

[model]
start = "sprout"

[corpus]
source = {source}
block = 128
held_out = 16

[objective]
mlm = 1.0

[gating]
kind = "dynamic"
sentences = 16

[[phases]]
name = "every size"
train = "weights"
steps = 200
learning_rate = 2e-4
warmup = 20

[batch]
size = 16
micro_batch_size = 16

[saving]
every = 100
held_out_every = 100
"""


def next_commands(out: Path) -> list[tuple[str, str]]:
    """What to try next, each command with what it does; they run as they are."""
    text, tasks = out / "text", out / "tasks"
    return [
        ("cut a model of your own: its folder or Hugging Face id in place of sprout",
         f"polyprune prune sprout --corpus {text} --sparsity 0.5 --out half"),
        ("train every size of it at once",
         f"polyprune train {out / 'train.toml'} --steps 20 --out run"),
        ("take one size out of the elastic model",
         f"polyprune shrink {out / 'elastic'} --sparsity 0.7 --out small"),
        ("fine-tune it for a task",
         f"polyprune finetune half --task udpos --data {tasks} --epochs 1 --learning-rate 1e-3 "
         "--out pos"),
        ("score it, language by language",
         f"polyprune evaluate pos --task udpos --data {tasks} --limit 50"),
    ]  # fmt: skip


def write_tasks(out: Path, progress: Progress) -> dict[str, int]:
    """Write nine small tasks to a folder; return the number of files of each."""
    from ..miniature.write_tasks import write_miniature

    with temporary_folder(out) as work:
        with progress.stage("Demo:", 9):
            write_miniature(work / "tasks", progress=progress)
        made = sorted((work / "tasks").iterdir())
        files = {path.name: sum(each.is_file() for each in path.rglob("*")) for path in made}
        move_in({path.name: path for path in made}, out, work)
    return files
