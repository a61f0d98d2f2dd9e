"""Does training do what it should? A small masked LM: pre-trained, pruned, recovered, distilled.

Trains 4 layers of width 128 from random weights for some minutes; prunes half of it (gradient,
shared) and recovers; and trains a student of two of its layers with and without the teacher. All
numbers are mean held-out losses of masked words, language by language.

    python benchmarks/masked_recovery.py --text ../shared/data/corpus
"""

import argparse
import tempfile
from pathlib import Path

import torch
from timing import clock, record

import polyprune as pp
from polyprune.parts import TENTHS, make_run, written_losses

LANGUAGES = ["ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh"]  # fmt: skip  # noqa: E501
TRIPLE = {"soft": 5.0, "mlm": 2.0, "cosine": 1.0}


def plan(text: Path, steps: int, **sections) -> dict:
    return {
        "corpus": {"source": str(text), "languages": LANGUAGES, "block": 128, "held_out": 100},
        "objective": {"mlm": 1.0},
        "batch": {"size": 16, "micro_batch_size": 16},
        "phases": [
            {"steps": steps, "train": "weights", "learning_rate": 1e-3, "warmup": steps // 10}
        ],
        "saving": {"every": 500, "held_out_every": max(1, steps // 5)},
    } | sections


def trained(table: dict, out: Path) -> dict[str, float]:
    """Train, or go on; the held-out losses at the end."""
    losses = pp.train(make_run(table), out=out).held_out
    print(f"  {out.name}: {mean(losses):.4f}", flush=True)
    return losses


def mean(losses: dict[str, float]) -> float:
    return sum(losses.values()) / len(losses)


def table_of(columns: dict[str, dict[str, float]]) -> str:
    """A row a language, as Markdown."""
    rows = [f"| language | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    for code in next(iter(columns.values())):
        cells = " | ".join(f"{losses[code]:.3f}" for losses in columns.values())
        rows.append(f"| {code} | {cells} |")
    means = " | ".join(f"{mean(losses):.3f}" for losses in columns.values())
    return "\n".join([*rows, f"| mean | {means} |"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--text", type=Path, required=True, help="a folder of text")
    parser.add_argument("--steps", type=int, default=4000, help="of pre-training")
    parser.add_argument("--more", type=int, default=1000, help="of recovery and distillation")
    parser.add_argument("--dynamic", type=int, default=600, help="of Dynamic Sparsification")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--work", type=Path, help="keep everything in this folder, and go on there")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        losses = compare(options, work)
    print(table_of(losses))
    record("masked_recovery", [{"system": name, "held_out": own} for name, own in losses.items()])


def compare(options: argparse.Namespace, work: Path) -> dict[str, dict[str, float]]:
    fresh = {"start": "fresh", "fresh": {"layers": 4, "width": 128, "heads": 4, "units": 512}}
    dense_plan = plan(options.text, options.steps, model=fresh)
    losses: dict[str, dict[str, float]] = {}

    def pre_train() -> None:
        losses["dense"] = trained(dense_plan, work / "dense")

    seconds = clock(pre_train)
    dense = make_run(dense_plan), work / "dense"
    losses["random"] = written_losses(pp.load(work / "dense" / "start"), *dense)
    print(f"{options.steps} steps in {seconds / 60:.1f} min, tokenizer included")
    worse = [code for code, loss in losses["dense"].items() if loss >= losses["random"][code]]
    print(f"languages whose loss did not fall: {worse or 'none'}")

    start = {"start": str(work / "dense" / "model")}
    gating = {"kind": "fixed", "rule": "fisher", "sentences": 100}
    cut = plan(options.text, options.more, model=start, gating=gating)
    losses["recovered"] = trained(cut, work / "recovered")
    losses["50 %"] = written_losses(pp.load(work / "recovered" / "prepared"), *dense)
    lost = mean(losses["50 %"]) - mean(losses["dense"])
    back = mean(losses["50 %"]) - mean(losses["recovered"])
    print(f"recovery regained {back / lost:.0%} of what pruning lost")

    half = {**start, "layers": 2}
    losses["student"] = trained(plan(options.text, options.more, model=half), work / "student")
    taught = plan(options.text, options.more, model=half, objective=TRIPLE)
    losses["taught"] = trained(taught, work / "taught")
    gain = mean(losses["student"]) - mean(losses["taught"])
    print(f"the teacher lowered the student's loss by {gain:.4f}")
    gating = {"kind": "dynamic", "rule": "fisher", "sentences": 100}
    dynamic = plan(options.text, options.dynamic, model=start, gating=gating)
    trained(dynamic, work / "dynamic")
    print("| size | cut only | Dynamic Sparsification |\n|---|---|---|")
    elastic = {name: pp.load(work / "dynamic" / name) for name in ("prepared", "model")}
    for size in TENTHS[1:]:
        both = [
            mean(written_losses(model, *dense, sparsity=1 - size)) for model in elastic.values()
        ]
        print(f"| {size:.0%} | {both[0]:.3f} | {both[1]:.3f} |", flush=True)
    order = ("random", "dense", "50 %", "recovered", "student", "taught")
    return {name: losses[name] for name in order}


if __name__ == "__main__":
    main()
