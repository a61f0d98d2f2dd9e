"""How sprout, the model in the package, was made: its text, and what its card says.

    python benchmarks/sprout.py text ../shared/data/corpus --out runs/text
    polyprune train configs/sprout.toml --out runs/words
    polyprune train configs/sprout-sentences.toml --out runs/sentences
    python benchmarks/sprout.py card runs/sentences/model ../shared/data/corpus --out sprout

The corpus has `<lang>.txt` and `<lang>.dev.txt`, and `parallel/ntrex.<lang>.txt`: line by line
translations, of which the first thousand are trained on and the others are for the card.
"""

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from timing import record
from torch.nn import functional as F

import polyprune as pp
from polyprune import to_transformers
from polyprune.parts import (
    Batching,
    ModelSource,
    atomic_folder,
    find,
    find_translations,
    guess_words,
    percentage,
    text_folder,
)

LANGUAGES = ("ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")  # fmt: skip  # noqa: E501
TRAINED_ON = 1000
"""Translations, from the first."""
TAUGHT = 1500
"""Short lines of a language that the teacher embeds, beside those translations."""
SHORT = {"zh": 90, "th": 240, "hi": 240, "ur": 160, "ar": 160, "ru": 200, "el": 200, "bg": 200}
"""Bytes of a short line, where they are not 110."""


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def translations(corpus: Path, code: str) -> list[str]:
    return lines(corpus / "parallel" / f"ntrex.{code}.txt")


def words(corpus: Path, code: str) -> list[list[str]]:
    """All there is: lines, pairs with English as one document, and the sample."""
    documents = [[line] for line in lines(corpus / f"{code}.txt")]
    if code != "en":  # a word may be masked in one language and not in the other
        pairs = zip(translations(corpus, "en"), translations(corpus, code), strict=True)
        documents += [list(pair) for pair in pairs][:TRAINED_ON]
    documents += [[line] for line in lines(text_folder("sample") / f"{code}.txt")]
    return shuffled(documents)


def sentences(corpus: Path, code: str) -> list[list[str]]:
    """Translations and short lines; none of the sample, which retrieval is tried on."""
    longest = SHORT.get(code, 110)
    short = [line for line in lines(corpus / f"{code}.txt") if 20 <= len(line.encode()) <= longest]
    return shuffled([[line] for line in translations(corpus, code)[:TRAINED_ON] + short[:TAUGHT]])


def shuffled(documents: list[list[str]]) -> list[list[str]]:
    random.Random(0).shuffle(documents)
    return documents


def write_text(corpus: Path, out: Path) -> None:
    """A folder of text for each of the two configs."""
    with atomic_folder(out) as new:
        for name, made in (("words", words), ("sentences", sentences)):
            (new / name).mkdir()
            for code in LANGUAGES:
                held_out = [[line] for line in lines(corpus / f"{code}.dev.txt")]
                for suffix, documents in (("", made(corpus, code)), (".dev", held_out)):
                    text = "\n\n".join("\n".join(document) for document in documents)
                    (new / name / f"{code}{suffix}.txt").write_text(f"{text}\n", encoding="utf-8")


def commonest(tokenizer, trained_on: Sequence[str]) -> int:
    """The piece that occurs most often, which a guess without any context would be."""
    special = set(tokenizer.all_special_ids)
    ids = tokenizer(list(trained_on), verbose=False)["input_ids"]
    counts = Counter(token for row in ids for token in row if token not in special)
    return counts.most_common(1)[0][0]


def without_context(tokenizer, corpus: Path, held_out: Mapping[str, Sequence[str]]) -> dict:
    """The percentage of masked words that the commonest piece of their language is."""
    found = {}
    for code, texts in held_out.items():
        guess = commonest(tokenizer, lines(corpus / f"{code}.txt")[:5000])
        labels = [
            batch["labels"][batch["labels"] != -100]
            for batch in Batching(tokenizer, size=32).masked(texts)
        ]
        asked = torch.cat(labels)
        found[code] = percentage(int((asked == guess).sum()), len(asked))
    return found


@torch.inference_mode()
def losses(model, tokenizer, held_out: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """The mean loss of masked words."""
    model.eval()
    found = {}
    for code, texts in held_out.items():
        each = []
        for batch in Batching(tokenizer, size=32).masked(texts):
            asked = batch["labels"] != -100
            logits = model(batch["input_ids"], batch["attention_mask"]).logits[asked]
            each.append(F.cross_entropy(logits, batch["labels"][asked], reduction="none"))
        found[code] = float(torch.cat(each).mean())
    return found


def measured(model, tokenizer, corpus: Path) -> dict[str, dict[str, float]]:
    """What the card says of every language."""
    held_out = {code: lines(corpus / f"{code}.dev.txt") for code in LANGUAGES}
    sample = {code: lines(text_folder("sample") / f"{code}.txt") for code in LANGUAGES}
    unseen = {code: translations(corpus, code)[TRAINED_ON:] for code in LANGUAGES}
    return {
        "loss": losses(model, tokenizer, held_out),
        "accuracy": guess_words(model, tokenizer, held_out),
        "baseline": without_context(tokenizer, corpus, held_out),
        "sample": find_translations(model, tokenizer, sample, "en"),
        "ntrex": find_translations(model, tokenizer, unseen, "en"),
    }


def table(found: Mapping[str, Mapping[str, float]]) -> str:
    """A row a language, as Markdown."""
    head = ("language", "held-out loss", "masked words, %", "commonest piece, %",
            "retrieval, sample, %", "retrieval, NTREX, %")  # fmt: skip
    rows = [f"| {' | '.join(head)} |", "|---|" + "---|" * (len(head) - 1)]
    for code in (*LANGUAGES, "mean"):
        cells = [cell(column, code, 2 if name == "loss" else 1) for name, column in found.items()]
        rows.append(f"| {' | '.join([code, *cells])} |")
    return "\n".join(rows)


def cell(column: Mapping[str, float], code: str, digits: int) -> str:
    value = sum(column.values()) / len(column) if code == "mean" else column.get(code, math.nan)
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def write_card(folder: Path, corpus: Path, out: Path, template: Path) -> None:
    """The model as plain transformers would save it, in half precision, with its card."""
    # What is measured is what is kept.
    model, tokenizer = pp.load(folder).half().float(), ModelSource.at(find(folder)).tokenizer()
    found = measured(model, tokenizer, corpus)
    with atomic_folder(out, force=True) as new:
        to_transformers(model).half().save_pretrained(new)
        config = json.loads((new / "config.json").read_text(encoding="utf-8"))
        # Stored in half, computed with in full: half precision is slow without a GPU.
        text = json.dumps(config | {"dtype": "float32"}, indent=2)
        (new / "config.json").write_text(f"{text}\n", encoding="utf-8")
        tokenizer.save_pretrained(new)
        card = template.read_text(encoding="utf-8").replace("{table}", table(found))
        (new / "README.md").write_text(card, encoding="utf-8")
    record("sprout", [{"model": "sprout", **found}])
    print(json.dumps({name: cell(column, "mean", 2) for name, column in found.items()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["text", "card"])
    parser.add_argument("paths", nargs="+", type=Path, help="[MODEL] CORPUS")
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    if chosen.what == "text":
        write_text(chosen.paths[0], chosen.out)
    else:
        write_card(*chosen.paths, chosen.out, Path(__file__).with_name("sprout_card.md"))


if __name__ == "__main__":
    main()
