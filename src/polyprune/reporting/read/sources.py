"""Read results from files, folders, or the paper's own numbers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

from ...errors import DataError, UnknownName
from ...jsonl import DamagedLine, read_objects
from ..results import Results
from .answers import parse_answer, with_sparsities
from .folders import elastic_results, run_results
from .lines import parse_results
from .paper import paper_results

PAPER = "paper"
"""The source that stands for the paper's own numbers."""

FILES = ("results.jsonl", "sizes.jsonl", "curves.jsonl", "claims.jsonl")
"""The files of a study or a demo; each may be missing."""

KNOWN = (
    "the folder of a study, a demo, a training run or an elastic model; a .jsonl file of results; "
    "what polyprune evaluate or measure print with --json; or paper, for the paper's own numbers"
)


def read_results(sources: Sequence[str | Mapping[str, Any]], study: str | None = None) -> Results:
    """Read all sources together, titled as the first; of several studies, read the named one.

    A mapping is what evaluate and measure print with --json.
    """
    results = reduce(Results.with_more, (_read(source, study) for source in sources))
    return with_sparsities(results)


def _read(source: str | Mapping[str, Any], study: str | None) -> Results:
    if isinstance(source, Mapping):
        answer = parse_answer(source, "results")
        if answer is None:
            raise DataError(f"This is no answer that results can be read from. Give {KNOWN}.")
        return answer
    path = Path(source).expanduser()
    if source == PAPER and not path.exists():
        return paper_results()
    if not path.exists():
        raise DataError(f"There is no {source}. Give {KNOWN}.")
    results = _read_folder(path, study) if path.is_dir() else _read_file(path, study)
    if results is None or not (results.systems or results.failures):
        raise DataError(f"{source} holds no results. Give {KNOWN}.")
    return results


def _read_folder(path: Path, study: str | None) -> Results | None:
    if any((path / name).is_file() for name in FILES):
        lines = [line for name in FILES for line in _lines(path / name)]
        return _of_one_study(lines, path, study)
    if (path / "gating.safetensors").is_file():
        return elastic_results(path)
    if (path / "run.json").is_file():
        return run_results(path)
    return None


def _read_file(path: Path, study: str | None) -> Results | None:
    title = path.stem
    if path.suffix == ".jsonl":
        return _of_one_study(_lines(path), path, study)
    try:
        answer: Any = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ValueError) as error:
        raise DataError(f"{path} is not JSON ({error}). Give {KNOWN}.") from error
    if isinstance(answer, list):
        found = [parse_answer(each, title) for each in answer if isinstance(each, dict)]
        return reduce(Results.with_more, filter(None, found), Results(title))
    found = parse_answer(answer, title) if isinstance(answer, dict) else None
    return found and replace(found, title=title)


def _lines(path: Path) -> list[dict[str, Any]]:
    """Read the JSON objects of a file, refusing what is damaged."""
    try:
        return read_objects(path, strict=True)
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not text. Give {KNOWN}.") from error
    except DamagedLine as error:
        raise DataError(
            f"Line {error.number} of {path} is not JSON ({error.reason}). Remove it, or make it "
            "again."
        ) from error


def _of_one_study(lines: Sequence[dict[str, Any]], path: Path, study: str | None) -> Results:
    """Return the results of the only study, or of the named one if there are several."""
    studies = list(dict.fromkeys(str(line["study"]) for line in lines if line.get("study")))
    if study is not None and studies and study not in studies:
        raise UnknownName("study", study, studies, f"{path} has: {', '.join(studies)}.")
    if study is None and len(studies) > 1:
        raise DataError(
            f"{path} holds several studies: {', '.join(studies)}. Say which with `study`."
        )
    if studies:
        study = study or studies[0]
        return parse_results([line for line in lines if line.get("study") == study], study)
    models = list(dict.fromkeys(str(line["model"]) for line in lines if line.get("model")))
    title = f"{models[0]}, cut and measured" if models else path.resolve().stem
    return parse_results(lines, title)
