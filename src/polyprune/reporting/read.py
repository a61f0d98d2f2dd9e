"""Whatever somebody has of results, read: files, folders, or the paper's own numbers."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

from ..errors import DataError
from .paper import paper_results
from .read_folder import elastic_results, run_results
from .read_lines import results_of
from .read_single import single_results, with_sparsities
from .results import Results

PAPER = "paper"
"""What stands for the paper's own numbers."""

FILES = ("results.jsonl", "sizes.jsonl", "curves.jsonl")
"""Of a study or a demo; each may be missing."""

KNOWN = (
    "the folder of a study, a demo, a training run or an elastic model; a .jsonl file of results; "
    "what polyprune evaluate or measure print with --json; or `paper`"
)


def read_results(sources: Sequence[str]) -> Results:
    """All sources together, under the title of the first."""
    results = reduce(Results.with_more, map(_read, sources))
    return with_sparsities(results)


def _read(source: str) -> Results:
    path = Path(source).expanduser()
    if source == PAPER and not path.exists():
        return paper_results()
    if not path.exists():
        raise DataError(f"There is no {source}. Give {KNOWN}.")
    results = _read_folder(path) if path.is_dir() else _read_file(path)
    if results is None or not (results.systems or results.failures):
        raise DataError(f"{source} holds no results. Give {KNOWN}.")
    return results


def _read_folder(path: Path) -> Results | None:
    if any((path / name).is_file() for name in FILES):
        lines = [line for name in FILES for line in _lines(path / name)]
        return results_of(lines, _title(lines, path.resolve().name))
    if (path / "gating.safetensors").is_file():
        return elastic_results(path)
    if (path / "run.json").is_file():
        return run_results(path)
    return None


def _read_file(path: Path) -> Results | None:
    title = path.stem
    if path.suffix == ".jsonl":
        lines = _lines(path)
        return results_of(lines, _title(lines, title))
    try:
        answer: Any = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ValueError) as error:
        raise DataError(f"{path} is not JSON ({error}). Give {KNOWN}.") from error
    if isinstance(answer, list):
        found = [single_results(each, title) for each in answer if isinstance(each, dict)]
        return reduce(Results.with_more, filter(None, found), Results(title))
    found = single_results(answer, title) if isinstance(answer, dict) else None
    return found and replace(found, title=title)


def _lines(path: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file, a line each; a last line that is still being written is none."""
    if not path.is_file():
        return []
    try:
        texts = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not text. Give {KNOWN}.") from error
    lines = []
    for i, text in enumerate(texts):
        try:
            line = json.loads(text) if text.strip() else None
        except ValueError as error:
            if i == len(texts) - 1:
                continue
            raise DataError(
                f"Line {i + 1} of {path} is not JSON ({error}). Remove it, or make it again."
            ) from error
        if isinstance(line, dict):
            lines.append(line)
    return lines


def _title(lines: Sequence[dict[str, Any]], otherwise: str) -> str:
    studies = dict.fromkeys(str(line["study"]) for line in lines if line.get("study"))
    return " and ".join(studies) or otherwise
