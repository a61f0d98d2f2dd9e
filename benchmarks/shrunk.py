"""XLM-R base, dense and cut to 5 … 90 %: how close to the ideal, in turns, in one run.

Goals, at 1 × 128 tokens and at 32 × 64: 1.9 times the dense model at 50 %, 3 times at 70 %, 6 times
at 90 %, in the same runtime; exported to int8, 4 times the dense model in eager PyTorch at 50 %,
10 times at 90 %. The ideal is the ratio of multiply–adds.

    python benchmarks/shrunk.py                 # the package as it is, beside its ordinary layers
    python benchmarks/shrunk.py --exported      # ONNX Runtime and OpenVINO, float and int8
    python benchmarks/shrunk.py --exported "ONNX Runtime, int8"              # or one of them
    python benchmarks/shrunk.py --compiled      # beside torch.compile
    python benchmarks/shrunk.py --speedup 2     # how near `--speedup` comes, on this shape
    python benchmarks/shrunk.py --speedup 2 --at "32 × 64"                   # at one of the batches
"""

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from timing import record

from polyprune import EncoderShape
from polyprune.parts import (
    BatchShape,
    EncoderFactory,
    PolypruneConfig,
    PolypruneModel,
    Ranker,
    Speed,
    SpeedGoal,
    TokenBatch,
    Workload,
    encoder,
    encoder_multiply_adds,
    in_turns,
    measure_table,
    shape_kept,
    speed_ratio,
    timed_call,
)

LOADS = {"1 × 128": (1, 128, 30), "32 × 64": (32, 64, 10)}
"""Sentences, tokens, rounds."""
WORDS = 4096
SHOWN = (0, 50, 70, 90)
"""Sparsities that other runtimes are compared at."""


def base() -> PolypruneModel:
    """XLM-R base from random weights, with few words: they take no time, only memory."""
    config = PolypruneConfig(
        family="xlm-roberta", vocab_size=WORDS, max_position_embeddings=514, type_vocab_size=1,
        hidden_size=768, head_width=64, heads=[12] * 12, units=[3072] * 12, rank=768,
        factorized=False, pre_norm=False, padded_positions=True, layer_norm_eps=1e-5,
        hidden_act="gelu", pad_token_id=1, pooler=False,
    )  # fmt: skip
    return PolypruneModel(config).eval().requires_grad_(False)


def shapes(dense: EncoderShape) -> dict[int, EncoderShape]:
    """Sparsities of App. B, every layer alike as far as heads come in whole numbers."""
    found = {0: dense}
    for percent, heads, units in (
        (5, (12, 11, 11) * 4, 2912),
        (10, (11, 11, 10) * 4, 2768),
        (30, (8, 9, 8) * 4, 2144),
        (50, (6,) * 12, 1536),
        (70, (4, 3, 4) * 4, 912),
        (90, (1, 1, 2) * 4, 304),
    ):
        cut = replace(dense, heads=heads, units=(units,) * 12)
        found[percent] = replace(cut, rank=round(768 * (1 - percent / 100)), factorized=True)
    return found


def ordinary(model: PolypruneModel, batch: TokenBatch) -> Callable[[], object]:
    """A pass that calls every module, as transformers does, whatever could be saved."""

    def run() -> None:
        lean, encoder.can_be_fused = encoder.can_be_fused, lambda *_: False
        try:
            call()
        finally:
            encoder.can_be_fused = lean

    call = timed_call(model, batch)
    return run


def compare(
    name: str, calls: dict[tuple[str, int], Callable], rounds: int, ideals: dict
) -> list[dict]:
    """Each of the calls beside the dense model in ordinary layers, and beside its own dense one."""
    seconds = dict(zip(calls, in_turns(list(calls.values()), rounds).T, strict=True))
    first = next(iter(calls))
    print(f"\n{name:26} {'ms':>8} {'own dense':>22} {'ordinary dense':>22} {'ideal':>6}")
    lines = []
    for (runtime, percent), own in seconds.items():
        dense = seconds.get((runtime, 0), seconds[first])
        beside = {"same": speed_ratio(dense, own), "ordinary": speed_ratio(seconds[first], own)}
        shown = [f"{a:6.2f} ({b:.2f}–{c:.2f})" for a, b, c in beside.values()]
        label = f"{runtime}, {percent} %"
        middle = float(np.median(own))
        print(
            f"{label:26} {1e3 * middle:8.1f} {shown[0]:>22} {shown[1]:>22} {ideals[percent]:6.2f}"
        )
        lines.append(
            {"what": name, "runtime": runtime, "sparsity": percent, "seconds": middle,
             "ideal": ideals[percent], **beside, "rounds": rounds}
        )  # fmt: skip
    return lines


def in_torch() -> None:
    """Ordinary and lean layers."""
    dense = base()
    models = {
        percent: EncoderFactory(dense)(shape) for percent, shape in shapes(dense.shape).items()
    }
    for name, (sentences, tokens, rounds) in LOADS.items():
        batch = Workload(WORDS, tokens).batches(sentences)[0]
        calls = {("ordinary", percent): ordinary(models[percent], batch) for percent in SHOWN}
        calls |= {
            ("polyprune", percent): timed_call(each, batch) for percent, each in models.items()
        }
        record("shrunk", compare(name, calls, rounds, ideal_ratios(dense.shape, tokens)))


def compiled() -> None:
    """Lean layers beside `torch.compile`, at one sentence of one length."""
    dense = base()
    sentences, tokens, rounds = LOADS["1 × 128"]
    batch = Workload(WORDS, tokens).batches(sentences)[0]
    calls = {}
    for percent in (0, 50):
        model = EncoderFactory(dense)(shapes(dense.shape)[percent])
        run = partial(torch.no_grad()(torch.compile(model)), batch.ids)
        run()  # which compiles it
        calls |= {("polyprune", percent): timed_call(model, batch), ("torch.compile", percent): run}
    record("shrunk", compare("1 × 128", calls, rounds, ideal_ratios(dense.shape, tokens)))


def ideal_ratios(dense: EncoderShape, tokens: int) -> dict[int, float]:
    most = encoder_multiply_adds(dense, tokens)
    return {k: most / encoder_multiply_adds(each, tokens) for k, each in shapes(dense).items()}


def exported(only: str) -> None:
    """The same shapes in other runtimes, beside the dense model in ordinary layers.

    Every runtime has threads of its own, so fewer at once disturb each other less.
    """
    dense = base()
    with tempfile.TemporaryDirectory() as folder:
        runners = {}
        for percent, shape in shapes(dense.shape).items():
            if percent not in SHOWN:
                continue
            model = EncoderFactory(dense)(shape)
            made = in_other_runtimes(model, Path(folder) / str(percent), only)
            runners |= {(kind, percent): runner for kind, runner in made.items()}
        for name, (sentences, tokens, rounds) in LOADS.items():
            batch = Workload(WORDS, tokens).batches(sentences)[0]
            calls = {("ordinary", 0): ordinary(dense, batch)}
            calls |= {key: timed_call(runner, batch) for key, runner in runners.items()}
            ideals = ideal_ratios(dense.shape, tokens)
            record("shrunk", compare(name, calls, min(rounds, 20), ideals))


def in_other_runtimes(model: PolypruneModel, folder: Path, only: str) -> dict[str, Callable]:
    """A model as `polyprune export` writes it, with ranges seen on random words."""
    from polyprune.parts import (
        ExportGraph,
        OnnxRunner,
        OpenVinoRunner,
        quantize,
        write_onnx,
        write_openvino,
    )

    batch = Workload(WORDS, 64).batches(4)[0]
    seen = [{"input_ids": batch.ids, "attention_mask": torch.ones_like(batch.ids)}]
    graph, threads, runners = ExportGraph(model).eval(), torch.get_num_threads(), {}
    for precision, each in (("fp32", graph), ("int8", quantize(graph, seen))):
        onnx, openvino = folder / precision / "model.onnx", folder / precision / "model.xml"
        names = [f"{runtime}, {precision}" for runtime in ("ONNX Runtime", "OpenVINO")]
        if any(only in name for name in names):
            write_onnx(each, onnx, token_types=False)
        if only in names[0]:
            runners[names[0]] = OnnxRunner(onnx, threads)
        if only in names[1]:
            write_openvino(onnx, openvino, half=False)
            runners[names[1]] = OpenVinoRunner(openvino, threads)
    return runners


def asked(speedup: float) -> None:
    """What `polyprune prune --speedup` comes to for a model of this size."""
    dense = base()
    for sentences, tokens, _ in LOADS.values():
        load = BatchShape(sentences, tokens)
        budget = Speed(SpeedGoal(speedup), load, table=measure_table(dense, load))
        found = budget.select(dense, Ranker.named("random"))
        kept = shape_kept(found.gates, dense.shape)
        print(
            f"{sentences} × {tokens}: asked for {speedup:g}, measured {found.speedup:.3f} "
            f"({found.low:.3f}–{found.high:.3f}) in {found.tries} tries; "
            f"{1e3 * found.before:.0f} ms before, {1e3 * found.after:.0f} ms after; "
            f"heads {kept.heads}, units {kept.units}"
        )
        line = {"what": "speedup", **found.as_dict(), "heads": kept.heads, "units": kept.units}
        record("shrunk", [line])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--exported", nargs="?", const="", metavar="RUNTIME")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--speedup", type=float)
    parser.add_argument("--at", choices=LOADS, help="one of the batches")
    options = parser.parse_args()
    LOADS = {options.at: LOADS[options.at]} if options.at else LOADS
    torch.manual_seed(0)
    if options.speedup is not None:
        asked(options.speedup)
    elif options.compiled:
        compiled()
    elif options.exported is not None:
        exported(options.exported)
    else:
        in_torch()
