"""What a user would pick instead: quality kept against measured speed, one line a method.

Three stages, each of which goes on where it stopped; without options all of them, in this order:

    python benchmarks/peers.py --quality          # make every model and ask it
    python benchmarks/peers.py --speed            # all in turns; close other programs first
    python benchmarks/peers.py --table --figure   # from the results, for docs/peers.md

Results are appended to results/peers.jsonl; models lie in build/peers, the figure in docs/images.
A method that fails is written down with its error, and tried again the next time.
"""

import argparse
import json
import traceback
from pathlib import Path
from statistics import fmean

import torch
from peers_methods import ways
from peers_others import versions
from peers_ready import Ready, Way
from peers_subjects import Subject, subjects
from timing import RESULTS, record
from transformers import logging

from polyprune.parts import in_turns

BATCHES = ((1, 128), (32, 64))
WARMUP = 2
HOME = Path(__file__).parent.parent
WORK = HOME / "build" / "peers"
FIGURE = HOME / "docs" / "images" / "peers"


def main() -> None:
    options = arguments()
    torch.set_num_threads(options.threads)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    everything = not (options.quality or options.speed or options.table or options.figure)
    chosen = [each for each in subjects(options.work) if options.model in (None, each.name)]
    for subject in chosen:
        if options.quality or everything:
            measure_quality(subject, options.at_most, options.only)
    for subject in chosen:
        if options.speed or everything:
            measure_speed(subject, options.rounds, options.fresh)
    if options.table or everything:
        from peers_shown import table

        print(table(rows()))
    if options.figure or everything:
        from peers_shown import draw, draw_by_sparsity

        draw(rows(), FIGURE)
        draw_by_sparsity(rows(), FIGURE.with_name("peers-sparsity"))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for stage in ("quality", "speed", "table", "figure"):
        parser.add_argument(f"--{stage}", action="store_true")
    parser.add_argument("--model", help="only this one: e5-small or sprout")
    parser.add_argument("--only", help="only methods whose name has this in it")
    parser.add_argument("--at-most", type=int, help="make so many models, then stop")
    parser.add_argument("--rounds", type=int, default=20, help="of timing, beside those there are")
    parser.add_argument("--fresh", action="store_true", help="forget speeds measured before")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--work", type=Path, default=WORK, help="where models are kept")
    return parser.parse_args()


def rows() -> list[dict]:
    path = RESULTS / "peers.jsonl"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def measure_quality(subject: Subject, at_most: int | None, only: str | None) -> None:
    """Make and ask every model that has not been asked yet."""
    done = {
        (row["method"], row["size"])
        for row in rows()
        if row["stage"] == "quality" and row["model"] == subject.name and "error" not in row
    }
    left = [
        (way, size)
        for way in ways()
        for size in way.sizes
        if (way.name, size) not in done and (only or "") in way.name
    ]
    for way, size in left[:at_most]:
        row = {"stage": "quality", "model": subject.name, "method": way.name, "size": size}
        try:
            row |= ask(subject, way, size)
            print(f"{subject.name} {way.name} {size:.0%}: {row['quality']:.1f} %", flush=True)
        except Exception as error:  # whatever another tool does not like
            row["error"] = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
            print(f"{subject.name} {way.name} {size:.0%}: {row['error']}", flush=True)
            traceback.print_exc()
        record("peers", [row | {"tools": versions()}])


def ask(subject: Subject, way: Way, size: float) -> dict:
    model = way.bring(subject, size, way.made(subject, size))
    found = subject.quality(model.asked)
    return {
        "quality": fmean(found.values()),
        "by_language": {code: round(value, 2) for code, value in found.items()},
        **facts(model),
    }


def facts(model: Ready) -> dict:
    return {
        "parameters": model.parameters,
        "layer_parameters": model.layer_parameters,
        "megabytes": round(model.bytes / 1e6, 2),
        **model.about,
    }


def measure_speed(subject: Subject, rounds: int, fresh: bool) -> None:
    """Seconds of all models of one subject, in turns; every round is written down."""
    if fresh:
        forget_speeds(subject)
    models = {}
    for way in ways():
        for size in () if way.as_fast_as else way.sizes:
            try:
                models[way.name, size] = way.bring(subject, size, way.made(subject, size))
            except Exception as error:
                print(f"{subject.name} {way.name} {size:.0%} is not timed: {error!r}", flush=True)
    for examples, tokens in BATCHES:
        ids = some_ids(subject, examples, tokens)
        calls = [call(model, ids) for model in models.values()]
        # Another order each time that rounds are added.
        seconds = in_turns(calls, rounds, warmup=WARMUP, seed=len(rows()))
        record(
            "peers",
            [
                {
                    "stage": "speed",
                    "model": subject.name,
                    "batch": [examples, tokens],
                    "methods": [list(key) for key in models],
                    "seconds": seconds.round(7).tolist(),
                    "tools": versions(),
                }
            ],
        )
        print(f"{subject.name}: {rounds} rounds of {len(models)} models, {examples} × {tokens}")


def call(model: Ready, ids: torch.Tensor):
    own = model.renumber(ids)
    return lambda: model.run(own)


def some_ids(subject: Subject, examples: int, tokens: int) -> torch.Tensor:
    """Text of all languages in rows of one length, so that no time goes into padding."""
    lines = [line for each in zip(*subject.lines.values(), strict=True) for line in each]
    ids = subject.tokenizer(lines, add_special_tokens=False)["input_ids"]
    flat = [token for row in ids for token in row][: examples * tokens]
    return torch.tensor(flat).reshape(examples, tokens)


def forget_speeds(subject: Subject) -> None:
    kept = [r for r in rows() if r["stage"] != "speed" or r["model"] != subject.name]
    text = "".join(f"{json.dumps(row)}\n" for row in kept)
    (RESULTS / "peers.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
