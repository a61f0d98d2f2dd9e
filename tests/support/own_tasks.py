"""Folders of tasks as people have them: every kind in every format that it comes in."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from support.text import SENTENCES

Rows = Sequence[Mapping[str, Any]]


def as_csv(rows: Rows, delimiter: str = ",") -> str:
    """With the quotes and line ends of Python's own writer, which are those of spreadsheets."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(rows[0])
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def as_tsv(rows: Rows) -> str:
    return as_csv(rows, "\t")


def as_jsonl(rows: Rows) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def as_json(rows: Rows) -> str:
    return json.dumps(list(rows), ensure_ascii=False)


def as_conll(rows: Rows) -> str:
    return "".join(
        "".join(f"{word}\t{tag}\n" for word, tag in zip(row["tokens"], row["tags"], strict=True))
        + "\n"
        for row in rows
    )


def as_squad(rows: Rows) -> str:
    paragraphs = [
        {
            "context": row["context"],
            "qas": [{"id": row["id"], "question": row["question"], "answers": [
                {"text": row["answers"]["text"][0],
                 "answer_start": row["answers"]["answer_start"][0]}]}],
        }
        for row in rows
    ]  # fmt: skip
    return json.dumps({"version": "1.1", "data": [{"title": "t", "paragraphs": paragraphs}]})


WRITERS: dict[str, Callable[[Rows], str]] = {
    "csv": as_csv, "tsv": as_tsv, "jsonl": as_jsonl, "json": as_json, "conll": as_conll,
}  # fmt: skip


def texts(code: str) -> list[dict[str, Any]]:
    return [
        {"text": line, "label": ("bad", "fine", "good")[i % 3]}
        for i, line in enumerate(SENTENCES[code])
    ]


def text_pairs(code: str) -> list[dict[str, Any]]:
    lines = SENTENCES[code]
    return [
        {"sentence1": a, "sentence2": b, "label": ("no", "yes")[i % 2]}
        for i, (a, b) in enumerate(pairwise(lines))
    ]


def label_sets(code: str) -> list[dict[str, Any]]:
    several = (["food"], ["food", "price"], [], ["price", "staff"])
    return [{"text": line, "labels": several[i % 4]} for i, line in enumerate(SENTENCES[code])]


def numbers(code: str) -> list[dict[str, Any]]:
    return [{"text": line, "score": len(line) / 8} for line in SENTENCES[code]]


def tagged(code: str) -> list[dict[str, Any]]:
    return [
        {
            "tokens": line.split(),
            "tags": ["B-LOC" if len(word) > 6 else "O" for word in line.split()],
        }
        for line in SENTENCES[code]
    ]


def questions(code: str) -> list[dict[str, Any]]:
    found = []
    for i, line in enumerate(SENTENCES[code]):
        answer = line.split()[-1]
        where = {"text": [answer], "answer_start": [line.rindex(answer)]}
        found.append({"id": f"q{i}", "question": "Which word?", "context": line, "answers": where})
    return found


ROWS: dict[str, Callable[[str], list[dict[str, Any]]]] = {
    "classification": texts,
    "pairs": text_pairs,
    "multi-label": label_sets,
    "regression": numbers,
    "tagging": tagged,
    "question answering": questions,
}

COMBINATIONS = [
    *((kind, form) for kind in ROWS if kind != "tagging" for form in ("csv", "tsv", "jsonl")),
    *((kind, "json") for kind in ROWS if kind != "question answering"),
    *(("tagging", form) for form in ("csv", "tsv", "jsonl", "conll")),
    ("question answering", "squad"),
    *(("retrieval", form) for form in ("csv", "tsv", "jsonl")),
]
"""Every kind of task in every format that it comes in."""


def write_file(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def write_own_task(
    folder: Path, kind: str, form: str, splits: Sequence[str] = ("train", "dev", "test")
) -> Path:
    """A task in English, Russian and Swahili; without splits, files are called by language."""
    if kind == "retrieval":
        for code in ("ru", "sw"):
            pairs = zip(SENTENCES["en"], SENTENCES[code], strict=True)
            rows = [{"en": english, code: other} for english, other in pairs]
            write_file(folder / f"en-{code}.{form}", WRITERS[form](rows))
        return folder
    for code in ("en", "ru", "sw"):
        rows = ROWS[kind](code)
        write = as_squad if form == "squad" else WRITERS[form]
        if (kind, form) == ("tagging", "tsv"):
            write = as_conll
        text = write(rows)
        ending = "json" if form == "squad" else form
        for split in splits or ("",):
            name = f"{split}-{code}.{ending}" if split else f"{code}.{ending}"
            write_file(folder / name, text)
    return folder
