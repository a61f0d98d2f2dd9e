"""All nine tasks in a folder of a few files each, in XTREME's layout, all made here."""

import json
from itertools import pairwise
from pathlib import Path

from polyprune.evaluation.tasks import TASKS
from support.text import SENTENCES

LANGUAGES = ("en", "ru", "sw")
"""Of a task, those among these that it has."""

XNLI = ("entailment", "neutral", "contradiction")
UPOS = ("DET", "NOUN", "VERB", "ADJ")
SPLITS = ("train", "dev", "test")


def languages_of(task: str) -> list[str]:
    """The languages that the folder has of a task."""
    return [code for code in TASKS[task].languages if code in (*LANGUAGES, "yo")]


def xtreme_folder(folder: Path) -> Path:
    """Twelve examples or so of every task, split and language."""
    for task in TASKS:
        WRITE.get(task, _write_tagged if task in ("udpos", "panx") else None)(folder, task)
    return folder


def without_labels(data: Path, labels: Path | None = None) -> None:
    """Take the labels of XNLI out of test files, and put them into a folder of their own."""
    for path in data.glob("xnli/test-*.tsv"):
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        path.write_text("".join(f"{a}\t{b}\n" for a, b, _ in rows), encoding="utf-8")
        if labels is not None:
            _write(labels / "xnli" / path.name, "".join(f"{c}\n" for *_, c in rows))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _sentences(code: str) -> list[str]:
    return SENTENCES.get(code, SENTENCES["sw"])


def _write_pairs(folder: Path, task: str) -> None:
    labels = XNLI if task == "xnli" else ("0", "1")
    for code in languages_of(task):
        lines = _sentences(code)
        rows = [
            f"{a}\t{b}\t{labels[(len(a) + i) % len(labels)]}"
            for i, (a, b) in enumerate(pairwise(lines))
        ]
        for split in SPLITS:
            _write(folder / task / f"{split}-{code}.tsv", "\n".join(rows) + "\n")


def _write_tagged(folder: Path, task: str) -> None:
    for code in languages_of(task):
        text = ""
        for sentence in _sentences(code):
            for i, word in enumerate(sentence.split()):
                tag = UPOS[len(word) % 4] if task == "udpos" else ("B-PER" if i == 0 else "O")
                text += f"{word}\t{tag}\n"
            text += "\n"
        for split in SPLITS:
            _write(folder / task / f"{split}-{code}.tsv", text)


def questions(code: str) -> dict:
    """A paragraph of two sentences each, and a question for its last word."""
    lines = _sentences(code)
    paragraphs = []
    for i in range(0, len(lines), 2):
        context = f"{lines[i]} {lines[i + 1]}"
        answer = context.split()[-1]
        asked = {
            "id": f"{code}-{i}",
            "question": "word?",
            "answers": [{"text": answer, "answer_start": context.rindex(answer)}],
        }
        paragraphs.append({"context": context, "qas": [asked]})
    return {"data": [{"paragraphs": paragraphs}]}


def _write_questions(folder: Path, task: str) -> None:
    paths = {
        "xquad": "xquad/xquad.{}.json",
        "mlqa": "mlqa/MLQA_V1/test/test-context-{0}-question-{0}.json",
        "tydiqa": "tydiqa/tydiqa-goldp-v1.1-dev/tydiqa.goldp.{}.dev.json",
    }
    for code in languages_of(task):
        _write(folder / paths[task].format(code), json.dumps(questions(code)))
    english = json.dumps(questions("en"))
    for name in ("train", "dev"):
        _write(folder / f"squad/{name}-v1.1.json", english)
    _write(folder / "tydiqa/tydiqa-goldp-v1.1-train/tydiqa.goldp.en.train.json", english)


def _write_bucc(folder: Path, task: str) -> None:
    for split in ("dev", "test"):
        for side in ("ru", "en"):
            lines = [f"{side}-{i}\t{line}" for i, line in enumerate(_sentences(side))]
            _write(folder / f"bucc2018/ru-en.{split}.{side}", "\n".join(lines) + "\n")
        gold = "".join(f"ru-{i}\ten-{i}\n" for i in range(12))
        _write(folder / f"bucc2018/ru-en.{split}.gold", gold)


def _write_tatoeba(folder: Path, task: str) -> None:
    for code in ("ru", "sw"):
        for side in (code, "en"):
            _write(folder / f"tatoeba/{code}-en.{side}", "\n".join(_sentences(side)) + "\n")


WRITE = {
    "xnli": _write_pairs,
    "pawsx": _write_pairs,
    "xquad": _write_questions,
    "mlqa": _write_questions,
    "tydiqa": _write_questions,
    "bucc2018": _write_bucc,
    "tatoeba": _write_tatoeba,
}
