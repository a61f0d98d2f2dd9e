"""The standings of a study before all is scored, from its `results.jsonl`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..averages import Value, mean
from ..jsonl import read_objects
from ..reporting.learned import is_learned
from ..reporting.read.lines import parse_results
from ..reporting.results import Results, System


@dataclass(frozen=True, slots=True)
class Standing:
    """A system in one size, over all that it has been scored on so far."""

    title: str
    sparsity: Value
    mean: Value
    """The mean over its tasks that the dense model has learned, in percent."""
    tasks: tuple[str, ...]
    """The tasks that have a score."""
    failed: int = 0
    """How many scores failed."""
    languages: Mapping[str, Value] = field(default_factory=dict)
    """The mean over its tasks in each language."""


def standings(path: Path) -> tuple[Standing, ...]:
    """Return the standing of every system in a file of results."""
    results = parse_results(read_objects(path), path.stem)
    return tuple(_standing(results, system) for system in results.systems)


def _standing(results: Results, system: System) -> Standing:
    tried = results.tried(system)
    means = {each: results.mean(system, *each) for each in tried}
    languages = [results.by_language(system, *each) for each in tried]
    return Standing(
        title=system.title,
        sparsity=system.sparsity,
        mean=mean(value for each, value in means.items() if is_learned(results, *each)),
        tasks=tuple(dict.fromkeys(task for (task, _), value in means.items() if value is not None)),
        failed=sum(bool(each.failed) for each in results.scores if each.system == system),
        languages={
            code: mean(own.get(code) for own in languages)
            for code in dict.fromkeys(code for own in languages for code in own)
        },
    )
