"""Every task of XTREME on the real e5-small, whole and cut to half, with what data there is.

Carves small training, dev and test sets out of a folder of real files, fine-tunes both models for a
few minutes each (English alone; then all languages), and writes a line a system to
results/xtreme.jsonl. Stopped, it goes on. This is to show that everything works together and that
scores are sane: the sets are small, and these are not the numbers of a paper.

    python benchmarks/xtreme.py --data ../shared/data/xtreme --half HALF --work FOLDER
    python benchmarks/xtreme.py --table
"""

import argparse
import csv
import json
import time
from itertools import islice
from pathlib import Path

import torch
from timing import RESULTS, record

import polyprune as pp
from polyprune.parts import TASKS, atomic_folder

LABELS = {"0": "entailment", "1": "neutral", "2": "contradiction"}
TATOEBA = ("bg", "de", "el", "es", "fr", "hi", "ka", "ru", "ta", "th", "tr", "ur", "zh")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


PARTS = {
    "xnli": {"dev": (0, 45), "test": (300, 450)},
    "pawsx": {"train": (0, 1400), "dev": (1400, 1500), "test": (1600, 1800)},
    "udpos": {"dev": (0, 25), "test": (50, 170)},
    "panx": {"dev": (0, 15), "test": (50, 150)},
}
"""What becomes of the dev files: which examples are in which set."""


def carve(data: Path, out: Path) -> None:
    """Small train, dev and test sets in XTREME's layout, no example in two of them."""
    for code, lines in small_xnli(data / "xnli_train_small" / "train.csv", data).items():
        write(out / f"xnli/train-{code}.tsv", "\n".join(lines) + "\n")
    for task, parts in PARTS.items():
        between = "\n\n" if task in ("udpos", "panx") else "\n"
        for path in sorted((data / task).glob("dev-*.tsv")):
            examples = path.read_text(encoding="utf-8").strip("\n").split(between)
            for split, (start, end) in parts.items():
                if some := examples[start:end]:
                    name = path.name.replace("dev", split)
                    write(out / task / name, between.join(some) + between)
        for path in sorted((data / task).glob("train-*.tsv")):
            (out / task / path.name).symlink_to(path.resolve())
    questions(data, out)
    for folder in ("bucc2018", "tatoeba"):
        (out / folder).symlink_to((data / folder).resolve())


def small_xnli(path: Path, data: Path) -> dict[str, list[str]]:
    """The lines of every language of a small training set that is not in XTREME's layout.

    Many of them are translations of pairs of XNLI's dev set: those that are asked about in any
    language are left out.
    """
    asked = {
        pair
        for file in sorted((data / "xnli").glob("dev-*.tsv"))
        for start, end in PARTS["xnli"].values()
        for pair in map(_pair, file.read_text(encoding="utf-8").split("\n")[start:end])
    }
    lines: dict[str, list[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cells = (row["premise"], row["hypothesis"], LABELS[row["label"]])
            line = "\t".join(" ".join(cell.split()) for cell in cells)
            if _pair(line) not in asked:
                lines.setdefault(row["lang_abv"], []).append(line)
    return lines


def _pair(line: str) -> tuple[str, ...]:
    """What a line of XNLI is recognised by, however its spaces and letters are written."""
    return tuple("".join(cell.split()).casefold() for cell in line.split("\t")[:2])


def questions(data: Path, out: Path) -> None:
    """TyDi QA's and MLQA's English as SQuAD's training file; 50 questions of XQuAD a language."""
    tydi = data / "tydiqa/tydiqa-goldp-v1.1-train/tydiqa.goldp.en.train.json"
    mlqa = data / "mlqa/MLQA_V1/dev/dev-context-en-question-en.json"
    articles = []
    for path, most in ((tydi, 500), (mlqa, 60)):
        articles += islice(json.loads(path.read_text(encoding="utf-8"))["data"], most)
    write(out / "squad/train-v1.1.json", json.dumps({"data": articles}))
    for path in sorted((data / "xquad").glob("*.json")):
        whole = json.loads(path.read_text(encoding="utf-8"))["data"]
        some, left = [], 50
        for article in whole:
            paragraphs = []
            for paragraph in article["paragraphs"]:
                asked = paragraph["qas"][:left]
                left -= len(asked)
                if asked:
                    paragraphs.append(paragraph | {"qas": asked})
            some.append({"paragraphs": paragraphs})
        write(out / "xquad" / path.name, json.dumps({"data": some}))


CELLS = {
    # task, regime: learning rate, epochs, examples a language
    ("tatoeba", "zero-shot"): None,
    ("udpos", "transfer"): (2e-4, 2, 1000),
    ("udpos", "translate-train-all"): (2e-4, 2, 300),
    ("panx", "transfer"): (2e-4, 2, 1500),
    ("panx", "translate-train-all"): (2e-4, 2, 150),
    ("xnli", "transfer"): (1e-4, 1, 2500),
    ("xnli", "translate-train-all"): (1e-4, 1, 300),
    ("pawsx", "transfer"): (1e-4, 1, 1400),
    ("xquad", "transfer"): (1e-4, 1, None),
    ("bucc2018", "zero-shot"): None,
}


def measure(model: str, size: str, cell, data: Path, work: Path) -> None:
    (name, regime), settings = cell
    started = time.perf_counter()
    if settings is not None:
        rate, epochs, limit = settings
        out = work / f"{name}-{regime}-{size}"
        pp.finetune(
            model, task=name, data=data, regime=regime, limit=limit, learning_rate=rate,
            epochs=epochs, freeze_words=True, out=out,
        )  # fmt: skip
        model = str(out)
    trained = time.perf_counter() - started
    split = "dev" if name == "bucc2018" else "test"
    languages = TATOEBA if name == "tatoeba" else None
    found = pp.evaluate(model, task=name, data=data, split=split, languages=languages).systems[0]
    record(
        "xtreme",
        [
            {
                "task": name,
                "regime": regime,
                "size": size,
                "settings": settings,
                "training seconds": round(trained),
                "seconds": round(time.perf_counter() - started),
                "mean": found.mean,
                "languages": {code: each.scores for code, each in found.languages.items()},
            }
        ],
    )


def results() -> dict[tuple[str, str, str], dict]:
    path = RESULTS / "xtreme.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    rows = map(json.loads, lines)
    return {(row["task"], row["regime"], row["size"]): row for row in rows}


def cell_text(scores: dict | None) -> str:
    if scores is None:
        return "–"
    if "exact" in scores:
        return f"{scores['f1']:.1f} / {scores['exact']:.1f}"
    return f"{next(iter(scores.values())):.1f}"


def table() -> None:
    """Markdown: a row a task and regime with means, then a table of languages for each task."""
    found = results()
    print("| task | regime | dense | half |\n|---|---|---|---|")
    for name, regime in CELLS:
        both = [found.get((name, regime, size)) for size in ("dense", "half")]
        cells = [cell_text(row and row["mean"]) for row in both]
        print(f"| {TASKS[name].title} | {regime} | {cells[0]} | {cells[1]} |")
    for name in dict.fromkeys(task for task, _ in CELLS):
        own = {key[1:]: row for key, row in found.items() if key[0] == name}
        codes = [
            code
            for code in TASKS[name].languages
            if any(code in r["languages"] for r in own.values())
        ]
        print(f"\n**{TASKS[name].title}**\n\n| | {' | '.join(codes)} |\n|---|{'---|' * len(codes)}")
        for (regime, size), row in own.items():
            scores = (cell_text(row["languages"].get(code)) for code in codes)
            print(f"| {regime}, {size} | {' | '.join(scores)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="a folder in XTREME's layout")
    parser.add_argument("--half", help="the folder of the model that was cut to half")
    parser.add_argument("--work", type=Path, help="where models are kept meanwhile")
    parser.add_argument("--sizes", nargs="*", default=["dense", "half"])
    parser.add_argument("--only", nargs="*", help="these tasks")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="print what was measured")
    options = parser.parse_args()
    if options.table:
        table()
        return
    torch.set_num_threads(options.threads)
    data = options.work / "data"
    if not data.is_dir():
        with atomic_folder(data) as new:
            carve(options.data, new)
    models = {"dense": "e5-small", "half": options.half}
    for size in options.sizes:
        for cell in CELLS.items():
            wanted = options.only is None or cell[0][0] in options.only
            if wanted and (*cell[0], size) not in results():
                measure(models[size], size, cell, data, options.work)


if __name__ == "__main__":
    main()
