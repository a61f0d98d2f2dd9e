"""Do the gates of Dynamic Sparsification learn? From a wrong ranking and from a good one.

Four systems on the bundled sprout, of equal tokens: frozen and learned gates, each from the ranking
of gradients and from chance, every language with a ranking of its own. Of what each writes: the
mean held-out loss at several sizes, how many components changed the tenth of the size that they
enter at, and whether asked sizes are met. Minutes a seed on one core.

    python benchmarks/dynamic_gates.py --text ../shared/data/corpus --seeds 3
"""

import argparse
import tempfile
from pathlib import Path
from statistics import mean

import torch
from timing import record

import polyprune as pp
from polyprune.parts import make_run, written_losses

SIZES = (0.3, 0.5, 0.7)
ASKED = tuple(i / 100 for i in range(5, 100, 10))
LEARNED = {"learned": True, "common": 3.0}
SYSTEMS = {
    "Grad + DS": {"rule": "paper"},
    "chance + DS": {"rule": "random"},
    "L0 + DS from gradients": {"rule": "paper", **LEARNED},
    "L0 + DS from chance": {"rule": "random", **LEARNED},
}


def plan(options: argparse.Namespace, seed: int, gating: dict, alpha: int = 0) -> dict:
    """The config of a system; `alpha` of its steps train gates only."""
    learned = gating.get("learned", False)
    joint = {"learning_rate": 5e-4, "warmup": options.steps // 10}
    if learned:
        gates = {"gates_learning_rate": options.gates_learning_rate}
        phases = [{"steps": options.steps - alpha, "train": "all", **joint, **gates}]
        phases[0]["sharpness"] = 10.0
        if alpha:
            phases.insert(0, {"steps": alpha, "train": "gates", **gates})
    else:
        phases = [{"steps": options.steps, "train": "weights", **joint}]
    return {
        "seed": seed,
        "model": {"start": "sprout"},
        "corpus": {
            "source": options.text,
            "languages": options.languages.split(","),
            "block": 64,
            "held_out": options.held_out,
        },
        "objective": {"mlm": 1.0},
        "gating": {
            "kind": "dynamic",
            "setting": "non-shared",
            "sentences": options.held_out,
            **gating,
        },
        **({"penalties": {"kind": "exact"}} if learned else {}),
        "batch": {"size": 16, "micro_batch_size": 16},
        "phases": phases,
        "saving": {"every": 1000, "held_out_every": 1000, "trackers": []},
    }


def mean_loss(model, run, out: Path, size: float) -> float:
    """The mean over languages of models that were taken out for this size."""
    return mean(written_losses(model, run, out, 1 - size).values())


def moved(before, after) -> float:
    """The share of components that enter at another tenth of the size than before training."""
    entries = [
        (10 * gating.boundary - 1e-6).ceil()
        for gating in (before.elastic.gating, after.elastic.gating)
    ]
    return float((entries[0] != entries[1]).double().mean())


def missed(model) -> float:
    """How far asked sizes are missed at most, in components: less than 1 is exact."""
    elastic = model.elastic
    heaviest = max(elastic.weights.head, elastic.weights.unit, elastic.weights.rank)
    total, worst = elastic.weights.total(elastic.gating.counts), 0.0
    for size in ASKED:
        for languages in ([elastic.rows[0]], list(elastic.rows[:2]), list(elastic.rows)):
            gates = elastic.gates(1 - size, languages)
            spread = elastic.weights.spread(elastic.gating.counts)
            kept = sum(
                float((gate > 0).sum(1) * weight[0])
                for gate, weight in zip(gates.leaves(), spread.leaves(), strict=True)
                if len(weight)
            )
            assert set(torch.cat(gates.leaves(), 1).unique().tolist()) <= {0.0, 1.0}
            worst = max(worst, abs(size * total - kept) / heaviest)
    return worst


def one_seed(options: argparse.Namespace, seed: int, work: Path) -> list[dict]:
    found, asked = [], {}
    systems = [(name, gating, 0) for name, gating in SYSTEMS.items()]
    if options.alpha:
        names = list(SYSTEMS)[2:]
        systems += [(f"{name}, α first", SYSTEMS[name], options.alpha) for name in names]
    for number, (name, gating, alpha) in enumerate(systems):
        run, out = make_run(plan(options, seed, gating, alpha)), work / f"{seed}-{number}"
        pp.train(run, out=out)
        before, after = pp.load(out / "prepared"), pp.load(out / "model")
        losses = {size: mean_loss(after, run, out, size) for size in SIZES}
        row = {"system": name, "seed": seed, "steps": options.steps, "losses": losses}
        row["languages"] = len(after.elastic.rows)
        row |= {"moved": moved(before, after), "missed": missed(after)}
        found.append(row)
        told = "  ".join(f"{size:.0%} {loss:.3f}" for size, loss in losses.items())
        print(f"{name:32} {told}   entry moved {row['moved']:.0%}, size missed by at most "
              f"{row['missed']:.2f} of a head", flush=True)  # fmt: skip
        if options.asked and name == "L0 + DS from gradients":
            asked = {size: mean_loss(after, run, out, size) for size in ASKED}
    if asked:
        print("  ".join(f"{size:.0%} {loss:.3f}" for size, loss in asked.items()))
        curve = list(asked.values())
        rises = max(later - min(curve[:i]) for i, later in enumerate(curve) if i)
        print(f"the loss never rises by more than {max(rises, 0):.3f} as the size grows")
    gradient, chance, _, learned = (row["losses"] for row in found[:4])
    for size in SIZES:
        way = (chance[size] - learned[size]) / (chance[size] - gradient[size])
        print(f"at {size:.0%}, learned from chance: {way:.0%} of the way to the gradients' loss")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--text", default="sample", help="a folder of text")
    parser.add_argument("--languages", default="de,en,hi,sw,tr")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument(
        "--alpha", type=int, default=0, help="also with this many first steps for gates only"
    )
    parser.add_argument("--gates-learning-rate", type=float, default=0.1)
    parser.add_argument("--held-out", type=int, default=100, help="lines of each language")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--asked", action="store_true", help="losses at 5 %, 15 %, …, 95 %, too")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as temporary:
        for seed in range(options.seeds):
            record("dynamic_gates", one_seed(options, seed, Path(temporary)))


if __name__ == "__main__":
    main()
