"""Where systems stand before all is scored, from `results.jsonl`."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..reporting.results import Value, main_score, mean, number


@dataclass(frozen=True, slots=True)
class Standing:
    """A system in one size, over all that it has been scored on so far."""

    title: str
    sparsity: Value
    mean: Value
    """Of its tasks, in percent; seeds first."""
    tasks: tuple[str, ...]
    """Those with a score."""
    failed: int = 0
    """Scores that there will not be."""
    languages: Mapping[str, Value] = field(default_factory=dict)


def standings(path: Path) -> tuple[Standing, ...]:
    """Of all systems, as the file has them."""
    lines: dict[tuple[str, Value], list[dict[str, Any]]] = {}
    for line in _lines(path):
        key = (str(line.get("system")), number(line.get("sparsity")))
        lines.setdefault(key, []).append(line)
    return tuple(_standing(own, size) for (_, size), own in lines.items())


def _standing(lines: list[dict[str, Any]], size: Value) -> Standing:
    last = lines[-1]
    means: dict[str, list[Value]] = {}
    languages: dict[str, dict[str, list[Value]]] = {}
    for line in lines:
        task = str(line.get("task"))
        score = _main(line.get("mean"))
        if score is not None:
            means.setdefault(task, []).append(score)
        for code, scores in _mapping(line.get("languages")).items():
            languages.setdefault(str(code), {}).setdefault(task, []).append(_main(scores))
    return Standing(
        title=str(last.get("title") or last.get("system")),
        sparsity=size,
        mean=_over_tasks(means),
        tasks=tuple(means),
        failed=sum(bool(line.get("failed")) for line in lines),
        languages={code: _over_tasks(own) for code, own in languages.items()},
    )


def _over_tasks(tasks: Mapping[str, list[Value]]) -> Value:
    return mean(mean(seeds) for seeds in tasks.values())


def _main(scores: Any) -> Value:
    return number(main_score(_mapping(scores)))


def _mapping(anything: Any) -> Mapping[str, Any]:
    return anything if isinstance(anything, dict) else {}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return
    for each in text.splitlines():
        try:
            line = json.loads(each)
        except ValueError:
            continue
        if isinstance(line, dict):
            yield line
