"""Tokens a second against the Hugging Face Trainer, and memory against the size of a corpus.

The same model, text and batch, in turns of the same time. The Trainer reads lines with its own
collator, which pads them; and, as its own example scripts can, lines that were joined and cut into
blocks. Only words count as tokens, not padding. Goal: 1.2 times as many.

    python benchmarks/training.py --text FOLDER [--seconds 30] [--rounds 3]
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import torch
import transformers
from datasets import Dataset
from timing import record
from transformers import AutoModelForMaskedLM, AutoTokenizer, DataCollatorForLanguageModeling

import polyprune as pp
from polyprune.parts import (
    FreshConfig,
    TextMaterial,
    make_run,
    open_text,
    train_steps,
    write_fresh_model,
)

BLOCK, BATCH = 128, 16


def ours(folder: Path, text: str, languages: list[str], seconds: float, out: Path) -> float:
    """Tokens a second of `polyprune train`, after the first step."""
    run = make_run(
        {
            "model": {"start": str(folder)},
            "corpus": {"source": text, "languages": languages, "block": BLOCK, "held_out": 0},
            "objective": {"mlm": 1.0},
            "batch": {"size": BATCH, "micro_batch_size": BATCH},
            "phases": [{"steps": 1_000_000, "train": "weights"}],
            "saving": {"every": 10**6, "held_out_every": 10**6, "trackers": []},
        }
    )
    tokens, started = 0, 0.0
    for report in train_steps(run, out, material=TextMaterial.of):
        if report.step == 3:
            started = time.perf_counter()
        elif report.step > 3:
            tokens += report.tokens
            if time.perf_counter() - started > seconds:
                break
    return tokens / (time.perf_counter() - started)


class Counting(transformers.TrainerCallback):
    """Stops a Trainer when its time is up."""

    def __init__(self, seconds: float):
        self.seconds, self.started = seconds, 0.0

    def on_step_end(self, args, state, control, **_):
        if state.global_step == 3:
            self.started, COUNTED[0] = time.perf_counter(), 0
        control.should_training_stop = (
            state.global_step > 3 and time.perf_counter() - self.started > self.seconds
        )


COUNTED = [0]


class CountingCollator(DataCollatorForLanguageModeling):
    """Its own collator, which also counts the words that it passes on."""

    def __call__(self, features, return_tensors=None):
        COUNTED[0] += sum(len(feature["input_ids"]) for feature in features)
        return super().__call__(features, return_tensors)


def theirs(folder: Path, data: Dataset, tokenizer, seconds: float, out: Path) -> float:
    """Tokens a second of the Trainer, after the first steps."""
    counting = Counting(seconds)
    trainer = transformers.Trainer(
        AutoModelForMaskedLM.from_pretrained(folder),
        transformers.TrainingArguments(
            str(out),
            per_device_train_batch_size=BATCH,
            max_steps=1_000_000,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            logging_strategy="no",
            use_cpu=True,
        ),
        data_collator=CountingCollator(tokenizer),
        train_dataset=data,
        callbacks=[counting],
    )
    trainer.train()
    return COUNTED[0] / (time.perf_counter() - counting.started)


def datasets_of(text: str, languages: list[str], tokenizer) -> dict[str, Dataset]:
    """Lines, and the same joined and cut into blocks."""
    lines = [
        line
        for source in open_text(text, languages).values()
        for line in islice((line for each, _ in source.documents() for line in each), 20_000)
    ]
    ids = tokenizer(lines, truncation=True, max_length=BLOCK)["input_ids"]
    joined = [token for line in tokenizer(lines)["input_ids"] for token in line]
    blocks = [joined[i : i + BLOCK] for i in range(0, len(joined) - BLOCK, BLOCK)]
    return {
        name: Dataset.from_dict({"input_ids": rows}).shuffle(seed=0)
        for name, rows in (("lines", ids), ("blocks", blocks))
    }


def compare_speed(options: argparse.Namespace) -> list[dict]:
    languages = options.languages.split(",")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        stock, folder = work / "stock", work / "fresh"
        folder.mkdir()
        fresh = FreshConfig(layers=4, width=128, heads=4, units=512, vocabulary=options.vocabulary)
        write_fresh_model(fresh, open_text(options.text, languages), folder, seed=0)
        pp.to_transformers(pp.load(folder)).save_pretrained(stock)
        tokenizer = AutoTokenizer.from_pretrained(folder)
        data = datasets_of(options.text, languages, tokenizer)
        speeds: dict[str, list[float]] = {"polyprune": [], "lines": [], "blocks": []}
        for i in range(options.rounds):
            speeds["polyprune"].append(
                ours(folder, options.text, languages, options.seconds, work / f"run{i}")
            )
            for name, rows in data.items():
                speeds[name].append(theirs(stock, rows, tokenizer, options.seconds, work / "hf"))
    results = []
    own = sorted(speeds["polyprune"])[options.rounds // 2]
    print(f"polyprune {own:,.0f} tokens/s")
    for name in ("lines", "blocks"):
        other = sorted(speeds[name])[options.rounds // 2]
        print(f"Trainer, {name}: {other:,.0f} tokens/s; ratio {own / other:.2f}")
        results.append({"what": f"against Trainer with {name}", "ratio": own / other})
    return [result | {"tokens_per_second": speeds} for result in results]


def peak_memory(megabytes: int) -> dict:
    """The most memory that reading a file of this size takes, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--read", str(megabytes)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def read(megabytes: int) -> None:
    """Read a file for a whole epoch in shuffled order, and tokenize a hundred batches of it."""
    from polyprune.parts import Cursor, ProcessShard, StreamConfig, stream_examples, train_tokenizer

    sample = (Path(pp.__file__).parent / "bundled" / "sample" / "en.txt").read_text()
    tokenizer = train_tokenizer(sample.splitlines(), 2000)
    with tempfile.TemporaryDirectory() as folder:
        with (Path(folder) / "en.txt").open("w") as file:
            for number in range(megabytes * 1_000_000 // (len(sample) + 8)):
                file.write(f"{number:07}\n{sample}")
        sources = open_text(folder, None)
        count = 0
        for _, position in Cursor(sources["en"], "en").lines():
            if position["epoch"]:
                break
            count += 1
        batches = stream_examples(sources, tokenizer, StreamConfig(), ProcessShard(16))
        tokens = sum(len(each.ids) for batch, _ in islice(batches, 100) for each in batch)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(json.dumps({"megabytes": megabytes, "lines": count, "tokens": tokens, "peak_mb": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--text", default="sample", help="a folder of text")
    parser.add_argument("--languages", default="ar,de,en,hi,ru,sw,tr,vi")
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--read", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read is not None:
        read(options.read)
        return
    torch.set_num_threads(2)
    transformers.logging.set_verbosity_error()
    small, large = peak_memory(20), peak_memory(2000)
    for result in (small, large):
        print(f"reading {result['megabytes']} MB: peak {result['peak_mb']:.0f} MB")
    record("training", [small, large, *compare_speed(options)])


if __name__ == "__main__":
    main()
