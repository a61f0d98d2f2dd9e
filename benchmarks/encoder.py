"""Our encoder against transformers' own, factorizing and shrinking: `make bench`.

Goals: no slower than XLMRobertaModel (1.0× ± 3 %); factorize a 250,002 × 768 table in ≤ 15 s with
a peak of ≤ 2 tables; shrink XLM-R base in ≤ 3 s; `polyprune --help` in ≤ 0.3 s.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from timing import clock, interleaved, record
from torch import nn
from transformers import XLMRobertaConfig, XLMRobertaModel, logging

import polyprune as pp
from polyprune.parts import factorize_table

XLM_R_BASE = {
    "vocab_size": 250_002,
    "max_position_embeddings": 514,
    "type_vocab_size": 1,
    "layer_norm_eps": 1e-5,
}
SIZES = ((1, 128), (16, 64))


def main() -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    logging.disable_progress_bar()
    torch.manual_seed(0)
    theirs = XLMRobertaModel(XLMRobertaConfig(**XLM_R_BASE), add_pooling_layer=False).eval()
    with tempfile.TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        ours = pp.load(folder)
    results = [
        *compare("inference", theirs, ours, inference, rounds=40),
        *compare("training step", theirs, ours, training_step, rounds=10),
        table_result("beside it"),
        table_result("in place"),
        *shrink_results(ours),
        help_result(),
    ]
    record("encoder", results)


def compare(
    what: str, theirs: nn.Module, ours: nn.Module, run: Callable, rounds: int
) -> list[dict]:
    print(f"\n{what:22} {'transformers':>11} {'polyprune':>11}   faster")
    results = []
    for examples, tokens in SIZES:
        for padded in (False, True):
            if padded and examples == 1:
                continue
            inputs = make_inputs(examples, tokens, padded)
            # One sentence is quick, and its time varies more: it can and must have more rounds.
            turns = 3 * rounds if examples == 1 else rounds
            ratio = interleaved(partial(run, theirs, inputs), partial(run, ours, inputs), turns)
            name = f"{examples} × {tokens}{' padded' if padded else ''}"
            print(f"  {name:20} {ratio}")
            results.append({"what": what, "size": name, **vars(ratio)})
    return results


def make_inputs(examples: int, tokens: int, padded: bool) -> dict[str, torch.Tensor]:
    ids = torch.randint(5, 250_000, (examples, tokens))
    if padded:
        for row in range(examples):
            ids[row, tokens - row * tokens // (2 * examples) :] = 1
    return {"input_ids": ids, "attention_mask": ids.ne(1).long()}


def inference(model: nn.Module, inputs: dict) -> None:
    model.eval()
    with torch.inference_mode():
        model(**inputs)


def training_step(model: nn.Module, inputs: dict) -> None:
    model.train()
    model(**inputs).last_hidden_state.square().mean().backward()
    model.zero_grad(set_to_none=True)


def table_result(where: str) -> dict:
    """Time and peak memory of factorizing, in a process of its own."""
    command = [sys.executable, __file__, "table", where]
    result = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    print(
        f"factorize 250,002 × 768, {where:12} {result['seconds']:.1f} s, "
        f"peak {result['peak_tables']:.2f} × the table"
    )
    return result


def peak_bytes() -> int:
    """The most memory that this process ever held (not, as getrusage says, its parent's)."""
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in x)
    return int(line.split()[1]) * 1024


def measure_table(where: str) -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    table = torch.randn(250_002, 768)
    size = table.numel() * 4
    before = peak_bytes()
    out = table if where == "in place" else None
    seconds = clock(lambda: factorize_table(table, out=out))
    # What was there before is the table, Python and torch; only the table counts.
    peak_tables = 1 + (peak_bytes() - before) / size
    print(
        json.dumps(
            {"what": "factorize", "where": where, "seconds": seconds, "peak_tables": peak_tables}
        )
    )


def shrink_results(model: nn.Module) -> list[dict]:
    results = []
    factorized = pp.factorize(model)
    for name, large, keep_rank in (
        ("plain table", model, 1.0),
        ("factorized, half the ranks", factorized, 0.5),
        ("factorized, all ranks: folded back", factorized, 1.0),
    ):
        gates = pp.open_gates(large.shape).map(lambda gate: (torch.rand_like(gate) < 0.5).float())
        rank = torch.zeros_like(gates.rank)
        rank[:, : int(keep_rank * rank.shape[1])] = 1
        gates = pp.PerComponent(gates.heads, gates.units, rank)
        seconds = min(
            clock(lambda large=large, gates=gates: pp.shrink(large, gates)) for _ in range(3)
        )
        print(f"shrink, {name:35} {seconds:.2f} s")
        results.append({"what": "shrink", "case": name, "seconds": seconds})
    return results


def help_result() -> dict:
    command = [sys.executable, "-m", "polyprune", "--help"]
    seconds = min(clock(lambda: subprocess.run(command, capture_output=True)) for _ in range(5))
    print(f"polyprune --help {'':27}{seconds:.2f} s")
    return {"what": "help", "seconds": seconds}


if __name__ == "__main__":
    measure_table(sys.argv[2]) if sys.argv[1:2] == ["table"] else main()
