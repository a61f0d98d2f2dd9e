"""How much of a sentence encoder does recovery bring back? e5-small at half its size.

Prunes e5-small to 50 % (gradient, fisher, shared) on lines 1–1000 of a folder of line-aligned text
(`<anything>.<lang>.txt`, here NTREX), recovers it on the same lines by matching the uncut model's
embeddings, and measures retrieval on lines 1001–1500 before and after: each sentence has to find
its English translation among all of them.

    python benchmarks/sentence_recovery.py --text ../shared/data/corpus/parallel
"""

import argparse
import json
import tempfile
from pathlib import Path

import torch
from retrieval import LANGUAGES, lines, mean, retrieval
from timing import clock, record

import polyprune as pp
from polyprune.parts import Batching, open_corpus


def first_lines(source, folder: Path) -> Path:
    """A folder with the lines that may be trained on."""
    folder.mkdir(exist_ok=True)
    for code in ("en", *LANGUAGES):
        text = "".join(f"{line}\n" for line in lines(source, code, 1, 1000))
        (folder / f"{code}.txt").write_text(text, encoding="utf-8")
    return folder


def prune(original, text: Path, out: Path, sentences: int) -> None:
    pp.prune(
        original,
        corpus=text,
        languages=LANGUAGES,
        parallel="en",
        sentences=sentences,
        batch_size=32,
        sparsity=0.5,
        out=out,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--text", type=Path, required=True, help="a folder of line-aligned text")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--sentences", type=int, default=200, help="a language, to score with")
    parser.add_argument("--work", type=Path, help="keep everything in this folder, and go on there")
    options = parser.parse_args()
    torch.set_num_threads(2)
    source = open_corpus(options.text)
    original = pp.load("e5-small")
    folder = str(original.source)
    batching = Batching(original.source.tokenizer(), size=32, prefix=original.source.prompt)
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(exist_ok=True)
        text, pruned = work / "text", work / "pruned"
        first_lines(source, text)
        if not pruned.is_dir():
            prune(original, text, pruned, options.sentences)
        recovered_model = work / "recovered"

        def recover() -> None:
            pp.recover(
                pruned,
                teacher=original,
                corpus=text,
                parallel="en",
                steps=options.steps,
                held_out=0,
                out=recovered_model,
                force=True,
            )

        seconds = clock(recover)
        rows = []
        for system, path in (
            ("dense", folder),
            ("50 %", pruned),
            ("recovered", recovered_model),
        ):
            accuracy = retrieval(pp.load(path), batching, source)
            rows.append({"system": system, "accuracy": accuracy})
            print(f"{system:10} {mean(rows[-1]):5.1f}  {json.dumps(accuracy)}", flush=True)
    dense, cut, recovered = (mean(row) for row in rows)
    share = (recovered - cut) / (dense - cut)
    print(
        f"{options.steps} steps in {seconds / 60:.1f} min brought back {share:.0%} of what was lost"
    )
    about = {"steps": options.steps, "minutes": seconds / 60, "share": share}
    record("sentence_recovery", [row | about for row in rows])


if __name__ == "__main__":
    main()
