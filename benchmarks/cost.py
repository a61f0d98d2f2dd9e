"""What choosing costs: minutes and memory of `polyprune prune` by its default rule.

Fifteen languages, three rounds of 32 sentences each, on e5-small and on a masked language model of
the size of XLM-R base (random weights: what is computed does not depend on them). Each in a process
of its own, so that its peak of memory is its own. Close other programs first.

    python benchmarks/cost.py [--text FOLDER]
"""

import argparse
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch
from timing import record

import polyprune as pp
from polyprune.parts import ModelSource, find

LANGUAGES = (
    "en", "fr", "es", "de", "el", "bg", "ru", "tr", "ar", "vi", "th", "zh-Hans", "hi", "sw", "ur",
)  # fmt: skip
SIZES = {
    "e5-small": None,
    "XLM-R base": {
        "vocab_size": 250_002,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
    },
}


def model_of(name: str, folder: Path) -> Path | str:
    """A model of this size: the real one, or one with random weights and e5's tokenizer."""
    size = SIZES[name]
    if size is None:
        return name
    from transformers import XLMRobertaConfig, XLMRobertaForMaskedLM

    torch.manual_seed(0)
    source = ModelSource.at(find("e5-small"))
    XLMRobertaForMaskedLM(XLMRobertaConfig(**size, pad_token_id=1)).save_pretrained(folder)
    source.tokenizer().save_pretrained(folder)
    return folder


def prune(name: str, text: str, folder: Path, sentences: int, rounds: int) -> dict[str, float]:
    """Prune once; say how long it took and how much memory there was at most."""
    model = model_of(name, folder)
    started = time.perf_counter()
    pp.prune(
        model,
        corpus=text,
        languages=LANGUAGES,
        sparsity=0.5,
        rounds=rounds,
        sentences=sentences,
        out=folder / "half",
    )
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"seconds": round(seconds, 1), "gigabytes": round(peak, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--text", default="sample", help="a folder of <lang>.txt")
    parser.add_argument("--only", default="", help="e5-small or XLM-R base")
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for name in SIZES:
        if options.only not in name:
            continue
        with (
            tempfile.TemporaryDirectory() as folder,
            ProcessPoolExecutor(1, get_context("spawn")) as process,
        ):
            arguments = (name, options.text, Path(folder), options.sentences, options.rounds)
            found = process.submit(prune, *arguments).result()
        row = {"model": name, "sentences": options.sentences, "rounds": options.rounds} | found
        record("cost", [row | {"text": Path(options.text).name}])
        minutes = found["seconds"] / 60
        print(f"{name}: {minutes:.1f} minutes, at most {found['gigabytes']:.1f} GB")


if __name__ == "__main__":
    main()
