"""Do learned gates converge, at which size, how far apart are languages, and at which loss?

Trains improved L0 on sprout as configs/miniature/l0-non-shared.toml says, once for every weight λ₂
of diversity and every seed, with the family prior and without it, then loads what was written.

    python benchmarks/learned_gates.py --work FOLDER                      # λ₂ = 0 and 1, seed 1
    python benchmarks/learned_gates.py --work FOLDER --diversity 0 0.1 0.3 1 --seeds 1 2 3
    python benchmarks/learned_gates.py --table                            # what was measured before

Each training is kept in FOLDER: stopped, it goes on. A line a training is added to
results/learned_gates.jsonl.
"""

import argparse
import json
from itertools import product
from pathlib import Path
from statistics import mean

import torch
from timing import RESULTS, record

import polyprune as pp
from polyprune.parts import by_family, hamming, known_languages, read_run, written_losses

CONFIG = Path(__file__).parent.parent / "configs/miniature/l0-non-shared.toml"
LINES = RESULTS / "learned_gates.jsonl"


def measure(work: Path, weight: float, prior: str, seed: int, steps: int | None) -> dict:
    """Train once and load what was written; return its numbers."""
    out = work / f"diversity-{weight:g}-{prior}-{seed}-{steps or 'all'}"
    changes = (f"penalties.diversity={weight}", f"penalties.prior={prior}", f"seed={seed}")
    trained = pp.train(CONFIG, out=out, changes=changes, steps=steps)
    assert trained.gates is not None
    model = pp.load(out / "model")
    rows = model.elastic.rows
    gates = model.elastic.every_row()
    flat = torch.cat(gates.leaves(), dim=1)
    kin, strangers = by_family(hamming(gates), [known_languages()[code] for code in rows])
    before = [line for line in trained.log if line["sizes"]][-1]["sizes"].values()
    losses = written_losses(model, read_run(CONFIG, changes, steps), out)
    return {
        "diversity": weight,
        "prior": prior,
        "seed": seed,
        "steps": trained.steps,
        "decided": trained.gates.at_zero + trained.gates.at_one,
        "smallest": min(before),
        "largest": max(before),
        "settled": trained.gates.settled,
        "hard": float(((flat == 0) | (flat == 1)).float().mean()),
        "kin": kin,
        "strangers": strangers,
        "printed": mean(trained.held_out.values()),
        "reloaded": mean(losses.values()),
    }


def table() -> None:
    """Print what was measured, mean over seeds."""
    lines = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    print(
        "steps  λ₂    prior    seeds  0 or 1  open size    settled  kin    strangers  loss (read)"
    )
    for key in sorted({(each["steps"], each["prior"], each["diversity"]) for each in lines}):
        own = [each for each in lines if (each["steps"], each["prior"], each["diversity"]) == key]
        steps, prior, weight = key
        shown = ("decided", "settled", "kin", "strangers", "printed", "reloaded")
        of = {name: mean(each[name] for each in own) for name in shown}
        smallest, largest = min(e["smallest"] for e in own), max(e["largest"] for e in own)
        print(
            f"{steps:5}  {weight:<4g}  {prior:7}  {len(own):5}  {of['decided']:6.1%}  "
            f"{smallest:.3f}–{largest:.3f}  {of['settled']:7.2%}  {of['kin']:.3f}  "
            f"{of['strangers']:9.3f}  {of['printed']:.3f} ({of['reloaded']:.3f})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path)
    parser.add_argument("--diversity", type=float, nargs="+", default=[0.0, 1.0])
    parser.add_argument("--priors", nargs="+", choices=["family", "none"], default=["family"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--steps", type=int)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if not options.table:
        if options.work is None:
            parser.error("--work FOLDER, or --table")
        grid = product(options.seeds, options.priors, options.diversity)
        for seed, prior, weight in grid:
            found = measure(options.work, weight, prior, seed, options.steps)
            record("learned_gates", [found])
    table()


if __name__ == "__main__":
    main()
