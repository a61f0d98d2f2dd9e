"""A classifier and a tagger of one's own, cut to half without labels: what is left of them?

e5-small is fine-tuned on XNLI and on POS tags in five languages each. Then it is cut by half with
unlabelled text of the same kind, once without any training and once with five minutes of learning
from the uncut model, and scored on examples that nothing was chosen or trained on. A line a system
goes to results/tasks.jsonl; what is there is not computed again.

    python benchmarks/tasks.py --data ../shared/data/xtreme --work FOLDER
    python benchmarks/tasks.py --table
"""

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from timing import RESULTS, record

import polyprune as pp
from polyprune.parts import atomic_folder

SEEDS = (0, 1, 2)
SPARSITY = 0.5
SYSTEMS = ("fisher", "second-order", "recovered")
TEXT = 400
"""Unlabelled examples of each language, from training examples."""


@dataclass(frozen=True)
class Task:
    """A task, its languages, and which examples of which file are in which set."""

    name: str
    languages: tuple[str, ...]
    parts: dict[str, tuple[str, int, int]]
    between: str
    finetuning: dict

    def texts(self, examples: list[str]) -> list[str]:
        """Examples without their labels, a line each: words, or two texts with a tab between."""
        if self.name == "udpos":
            return [
                " ".join(row.split("\t")[0] for row in example.split("\n")) for example in examples
            ]
        return ["\t".join(example.split("\t")[:2]) for example in examples]


XNLI = Task(
    "xnli",
    ("en", "de", "ru", "sw", "zh"),
    {"train": ("dev", 0, 1500), "dev": ("dev", 1890, 1990), "test": ("dev", 1990, 2490)},
    "\n",
    {"learning_rate": 1e-4, "epochs": 2},
)
TAGS = Task(
    "udpos",
    ("en", "ar", "fi", "tr", "zh"),
    {"train": ("train", 0, 1000), "dev": ("dev", 0, 100), "test": ("dev", 200, 700)},
    "\n\n",
    {"learning_rate": 2e-4, "epochs": 2},
)


def carve(task: Task, data: Path, out: Path) -> None:
    """Training, dev and test sets in XTREME's layout; and unlabelled text, a file a language."""
    for code in task.languages:
        for split, (source, start, end) in task.parts.items():
            text = (data / task.name / f"{source}-{code}.tsv").read_text(encoding="utf-8")
            some = text.strip("\n").split(task.between)[start:end]
            write(out / task.name / f"{split}-{code}.tsv", task.between.join(some) + task.between)
            if split == "train":
                write(out / f"text/{code}.txt", "\n".join(task.texts(some)[:TEXT]) + "\n")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def results() -> dict[tuple[str, str, int], dict]:
    path = RESULTS / "tasks.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    rows = map(json.loads, lines)
    return {(row["task"], row["system"], row["seed"]): row for row in rows}


def measure(task: Task, system: str, seed: int, model, data: Path, seconds: float) -> None:
    found = pp.evaluate(model, task=task.name, data=data, split="test", progress=False).systems[0]
    scores = {
        code: round(next(iter(each.scores.values())), 2)
        for code, each in found.languages.items()
        if each.scores is not None
    }
    mean = sum(scores.values()) / len(scores)
    print(f"{task.name} {system} {seed}: {mean:.1f}  {scores}", flush=True)
    record(
        "tasks",
        [
            {
                "task": task.name,
                "system": system,
                "seed": seed,
                "mean": mean,
                "languages": scores,
                "seconds": round(seconds),
            }
        ],
    )


def tuned(task: Task, data: Path, work: Path) -> Path:
    """The fine-tuned model, made now if it is not there."""
    out = work / task.name
    if not (out / "model").exists():  # what was begun goes on
        pp.finetune(
            "e5-small",
            task=task.name,
            data=data,
            regime="translate-train-all",
            freeze_words=True,
            out=out,
            **task.finetuning,
        )
    return out / "model"


def run(task: Task, source: Path, work: Path, seeds: list[int], minutes: float) -> None:
    """All systems of a task that have not been measured."""
    data = work / f"{task.name}-data"
    if not data.is_dir():
        with atomic_folder(data) as new:
            carve(task, source, new)
    uncut, done = tuned(task, data, work), results()
    if (task.name, "uncut", 0) not in done:
        measure(task, "uncut", 0, uncut, data, 0.0)
    for seed in seeds:
        if all((task.name, system, seed) in done for system in SYSTEMS):
            continue
        for system, options in {"fisher": {"rule": "fisher"}, "second-order": {}}.items():
            if system == "fisher" and (task.name, system, seed) in done:
                continue
            started = time.perf_counter()
            cut = pp.prune(
                uncut,
                corpus=data / "text",
                sparsity=SPARSITY,
                seed=seed,
                compare=0,
                progress=False,
                **options,
            )
            if (task.name, system, seed) not in done:
                measure(task, system, seed, cut.model, data, time.perf_counter() - started)
        started = time.perf_counter()
        better = pp.recover(
            cut,  # pyright: ignore[reportPossiblyUnboundVariable]
            teacher=uncut,
            corpus=data / "text",
            steps="auto",
            minutes=minutes,
            seed=seed,
            progress=False,
        )
        measure(task, "recovered", seed, better.model, data, time.perf_counter() - started)


def table() -> None:
    """Markdown: means over languages and seeds, and the language that lost most."""
    found = results()
    print("| task | system | seeds | mean | least kept of a language |\n|---|---|---|---|---|")
    for task in (XNLI, TAGS):
        if (task.name, "uncut", 0) not in found:
            continue  # not measured yet
        whole = found[task.name, "uncut", 0]["languages"]
        for system in ("uncut", *SYSTEMS):
            own = [row for key, row in found.items() if key[:2] == (task.name, system)]
            if not own:
                continue
            means = {code: sum(row["languages"][code] for row in own) / len(own) for code in whole}
            lost = {code: means[code] - whole[code] for code in whole}
            worst = min(lost, key=lost.__getitem__)
            mean = sum(means.values()) / len(means)
            print(
                f"| {task.name} | {system} | {len(own)} | {mean:.1f} | {worst} {lost[worst]:+.1f} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="a folder in XTREME's layout")
    parser.add_argument("--work", type=Path, help="where models are kept meanwhile")
    parser.add_argument("--only", help="xnli or udpos")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--minutes", type=float, default=5.0, help="of recovery")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--table", action="store_true", help="print what was measured")
    options = parser.parse_args()
    if not options.table:
        torch.set_num_threads(options.threads)
        for task in (XNLI, TAGS):
            if options.only in (None, task.name):
                run(task, options.data, options.work, options.seeds, options.minutes)
    table()


if __name__ == "__main__":
    main()
