"""The same model against itself, twenty times: how often the interval contains 1.

Run: python benchmarks/same.py [--model sprout] [--runs 20] [--rounds 30] [--threads 1]
"""

import argparse
from dataclasses import asdict

import torch
from timing import record

from polyprune import load
from polyprune.parts import Workload, compare_speed, monitor_noise

SENTENCES, TOKENS = 1, 128


def main() -> None:
    """Measure, print a line a run, and keep the count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="sprout")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model = load(options.model, "hidden-states", dtype=torch.float32)
    batches = Workload(model.shape.vocab_size, TOKENS).batches(SENTENCES)
    results = []
    for run in range(options.runs):
        with monitor_noise() as watched:
            both = compare_speed({"first": model, "again": model}, batches, rounds=options.rounds)
        found = both["again"]
        inside = found.low <= 1 <= found.high
        noise = watched.noise(both.values()).record()
        print(
            f"{run + 1:3d}  {found.ratio:.4f}×  [{found.low:.4f}, {found.high:.4f}]  "
            f"{'contains 1' if inside else 'does not contain 1'}  {'; '.join(noise['warnings'])}"
        )
        about = {"model": options.model, "batch": SENTENCES, "tokens": TOKENS, "run": run}
        results.append(
            about | {"rounds": options.rounds, "inside": inside, **asdict(found), "noise": noise}
        )
    count = sum(result["inside"] for result in results)
    print(f"The interval contains 1 in {count} of {len(results)} runs.")
    record("same", results)


if __name__ == "__main__":
    main()
