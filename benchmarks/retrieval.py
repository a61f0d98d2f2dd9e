"""Which ranking rule keeps a sentence encoder best? Retrieval after pruning e5-small, no recovery.

Scores come from lines 1–1000 of a folder of line-aligned text (`<anything>.<lang>.txt`, here
NTREX), retrieval is measured on lines 1001–1500: each sentence has to find its English translation
among all of them. Every cell is appended to a file of JSON lines as soon as it is there, and what
is in the file already is not computed again.

    python benchmarks/retrieval.py --text ../shared/data/corpus/parallel
"""

import argparse
import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from timing import RESULTS, machine

import polyprune as pp
from polyprune import PerComponent
from polyprune.parts import (
    Batching,
    Corpus,
    Ranker,
    ScoreSheet,
    ScoringRecord,
    Sparsity,
    contrastive_loss,
    gate_gradients,
    open_corpus,
    pooled,
    read_lines,
)

LANGUAGES = ["fr", "es", "de", "el", "bg", "ru", "tr", "ar", "vi", "th", "zh-Hans", "hi", "sw", "ur"]  # fmt: skip  # noqa: E501
SPARSITIES = (0.1, 0.3, 0.5, 0.7, 0.9)
SEEDS = (0, 1, 2)
SENTENCES = 200
"""In each language, of the thousand that may be used."""


CHOSEN = {
    "second-order": {},
    "second-order, 1 round": {"rounds": 1},
    "second-order, no repair": {"repair": False},
}
"""What `polyprune prune` is asked for beside a sparsity, for what is chosen and repaired."""
CHOSEN_AT = (0.5, 0.7, 0.9)


def lines(corpus: Corpus, code: str, first: int, last: int) -> list[str]:
    return list(islice(read_lines(corpus.files[code]), first - 1, last))


def sheet(model, batching: Batching, corpus: Corpus, seed: int) -> ScoreSheet:
    """Scores from sentences drawn anew for every seed, with English as the other view of each."""
    drawn = torch.randperm(1000, generator=torch.Generator().manual_seed(seed))[:SENTENCES].tolist()
    english = lines(corpus, "en", 1, 1000)
    batches = {}
    for code in LANGUAGES:
        own = lines(corpus, code, 1, 1000)
        batches[code] = batching.pairs([(own[i], english[i]) for i in drawn])
    gradients = gate_gradients(model, batches, contrastive_loss())
    about = ScoringRecord(
        "", "spectral", "contrastive", "example", tuple(LANGUAGES), (SENTENCES,) * 14
    )
    return ScoreSheet(gradients, about)


@torch.inference_mode()
def retrieval(model, batching: Batching, corpus: Corpus) -> dict[str, float]:
    """The percentage of sentences whose nearest English sentence is their translation."""
    english = embed(model, batching, lines(corpus, "en", 1001, 1500))
    accuracy = {}
    for code in LANGUAGES:
        own = embed(model, batching, lines(corpus, code, 1001, 1500))
        right = (own @ english.T).argmax(1) == torch.arange(len(own))
        accuracy[code] = round(100 * float(right.float().mean()), 2)
    return accuracy


def embed(model, batching: Batching, texts: list[str]) -> torch.Tensor:
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    embedded = [
        pooled(model, batch["input_ids"], batch["attention_mask"])
        for batch in batching.plain(texts[i] for i in order)
    ]
    return torch.cat(embedded)[torch.tensor(order).argsort()]


def without_rank(scores: PerComponent) -> PerComponent:
    """The same, but every rank stays: baselines do better without touching the words."""
    return PerComponent(scores.heads, scores.units, torch.full_like(scores.rank, 1e6))


def choose(system: str, model, corpus: Corpus, seed: int, sparsity: float):
    """Prune on sentences drawn from those that may be used, by the command that users give."""
    drawn = torch.randperm(1000, generator=torch.Generator().manual_seed(seed))[:SENTENCES].tolist()
    text = {}
    for code in (*LANGUAGES, "en"):
        own = lines(corpus, code, 1, 1000)
        text[code] = [own[i] for i in drawn]
    return pp.prune(
        model,
        corpus=text,
        batch_size=32,
        sparsity=sparsity,
        seed=seed,
        progress=False,
        **CHOSEN[system],
    ).model


def gates_for(system: str, model, seed: int, sparsity: float, scores) -> pp.Gates:
    if system in ("paper", "fisher"):
        return Sparsity(sparsity).select(model, Ranker.named(rule=system).on(scores())).gates
    name, _, kept = system.partition("+")
    if not kept:
        return Sparsity(sparsity).select(model, Ranker.named(name, seed=seed)).gates
    ranked = Ranker.named(name, seed=seed).rank(model)
    if kept == "layers":
        ranked = ranked.map(lambda score: score / score.mean())
    return pp.keep_best(without_rank(ranked), 1 - sparsity)


def cells(seeds: Sequence[int]) -> list[tuple[str, int, float]]:
    """System, seed, sparsity: all there is to measure, the main systems first."""
    systems = [(system, seed) for seed in seeds for system in ("fisher", "paper", "random+words")]
    if 0 in seeds:
        systems += [("magnitude", 0), ("magnitude+layers", 0), ("random", 0)]
    dense = [("dense", 0, 0.0)] if 0 in seeds else []
    chosen = [
        (system, seed, sparsity) for seed in seeds for sparsity in CHOSEN_AT for system in CHOSEN
    ]
    return [*dense, *chosen, *((*each, sparsity) for each in systems for sparsity in SPARSITIES)]


def table(rows: list[dict]) -> str:
    """Means over languages, and their spread over seeds, as Markdown."""
    sizes = "".join(f" {sparsity:.0%} |" for sparsity in SPARSITIES)
    text = [f"| system | seeds | 0% |{sizes}", "|---|---|---|" + "---|" * len(SPARSITIES)]
    dense = [mean(row) for row in rows if row["system"] == "dense"]
    for system in dict.fromkeys(row["system"] for row in rows if row["system"] != "dense"):
        own = [row for row in rows if row["system"] == system]
        entries = []
        for sparsity in SPARSITIES:
            values = [mean(row) for row in own if row["sparsity"] == sparsity]
            spread = f" ± {(max(values) - min(values)) / 2:.1f}" if len(values) > 1 else ""
            entries.append(f"{sum(values) / len(values):.1f}{spread}" if values else "")
        seeds = len({row["seed"] for row in own})
        text.append(f"| {system} | {seeds} | {dense[0]:.1f} | {' | '.join(entries)} |")
    return "\n".join(text)


def by_language(rows: list[dict]) -> str:
    """What the default leaves of each language, mean over seeds, as Markdown."""
    text = [f"| sparsity | {' | '.join(LANGUAGES)} |", "|---|" + "---|" * len(LANGUAGES)]
    for sparsity in (0.0, *SPARSITIES):
        own = [
            row["accuracy"]
            for row in rows
            if row["system"] in ("dense", "second-order") and row["sparsity"] == sparsity
        ]
        if own:
            means = (sum(accuracy[code] for accuracy in own) / len(own) for code in LANGUAGES)
            text.append(f"| {sparsity:.0%} | {' | '.join(f'{mean:.1f}' for mean in means)} |")
    return "\n".join(text)


def mean(row: dict) -> float:
    return sum(row["accuracy"].values()) / len(row["accuracy"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--text", type=Path, required=True, help="a folder of line-aligned text")
    parser.add_argument("--results", type=Path, default=RESULTS / "retrieval.jsonl")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--only", nargs="+", help="only these systems, by their whole names")
    parser.add_argument("--sizes", type=float, nargs="+", default=SPARSITIES)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    corpus = open_corpus(options.text)
    original = pp.load("e5-small")
    batching = Batching(original.source.tokenizer(), size=32, prefix=original.source.prompt)
    split: Any = None
    sheets = {}

    def scores(seed: int) -> ScoreSheet:
        if seed not in sheets:
            sheets[seed] = sheet(pp.factorize(original), batching, corpus, seed)
        return sheets[seed]

    options.results.parent.mkdir(exist_ok=True)
    text = options.results.read_text() if options.results.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    done = {(row["system"], row["seed"], row["sparsity"]) for row in rows}
    for system, seed, sparsity in cells(options.seeds):
        if (system, seed, sparsity) in done or system not in (options.only or [system]):
            continue
        if sparsity and sparsity not in options.sizes:
            continue
        model = original
        if system in CHOSEN:
            model = choose(system, original, corpus, seed, sparsity)
        elif system != "dense":
            # A plain table where the words are not touched, or where splitting it would do harm.
            split = pp.factorize(original) if split is None else split
            base = split if system in ("fisher", "paper") else original
            gates = gates_for(system, base, seed, sparsity, lambda seed=seed: scores(seed))
            model = pp.shrink(base, gates)
        accuracy = retrieval(model, batching, corpus)
        row = {"system": system, "seed": seed, "sparsity": sparsity, "accuracy": accuracy}
        rows.append(row)
        with options.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row | {"machine": machine()}) + "\n")
        print(f"{system:18} seed {seed}  {sparsity:4.0%}  {mean(row):5.1f}", flush=True)
    print(table(rows), by_language(rows), sep="\n\n")


if __name__ == "__main__":
    main()
