"""A model's card once its scores and its speed are known."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import CheckpointError, ConfigError
from ..model.network.folder import CARD, update_checksum
from ..provenance.card import card, written_into
from ..provenance.card_facts import CardFacts, SpeedGain, TaskComparison, facts_of
from ..storage import atomic_file
from .display import language_name, system_title, task_title
from .results import Results, System

USUAL = "transfer"
"""The regime that is not named."""


def fill_card(folder: Path, results: Results, system: System | None = None) -> None:
    """Write the card of a model folder again, with what each language lost and how fast it is.

    Whatever a person wrote outside of polyprune's part stays. If there are several systems, give
    the one that is meant, unless only one is this folder, or is pruned.
    """
    own = find_system(folder, results, system)
    facts = facts_of(folder, folder.resolve().name)
    dense = results.baseline(own, facts.history.base)
    filled = replace(
        facts,
        compared=compared(results, own, dense),
        speed=speed_of(results, own),
        names={code: language_name(code) for code in _codes(facts, results)},
    )
    if not filled.compared and filled.speed is None:
        raise ConfigError(f"These results hold neither scores nor a speed of {system_title(own)}.")
    text = written_into(folder, card(filled))
    if text is None:
        raise CheckpointError(
            f"{folder / CARD} was written by somebody else, and is left alone. Move it away, or "
            "leave `card` out."
        )
    with atomic_file(folder / CARD, force=True) as path:
        path.write_text(text, encoding="utf-8")
    update_checksum(folder, CARD)


def find_system(folder: Path, results: Results, system: System | None) -> System:
    """Return the system of a folder: the one given, the one of its name, or the only pruned one."""
    known = results.systems
    if system is not None:
        if system in known:
            return system
        raise _which(folder, known)
    same = [each for each in known if Path(each.name).resolve() == folder.resolve()]
    pruned = [each for each in known if each.sparsity]
    for candidates in (same, pruned):
        if len(candidates) == 1:
            return candidates[0]
    raise _which(folder, known)


def compared(results: Results, own: System, dense: System | None) -> tuple[TaskComparison, ...]:
    """Return every task that a system was tried on, beside its baseline."""
    found = [_compared(results, own, dense, *each) for each in results.tried(own)]
    return tuple(each for each in found if each is not None)


def _compared(
    results: Results, own: System, dense: System | None, task: str, regime: str
) -> TaskComparison | None:
    """Return one task; None if all attempts at it failed."""
    metrics = [name for each in results.runs(own, task, regime).values() for name in each.mean]
    if not metrics:
        return None
    ours = results.by_language(own, task, regime)
    theirs = results.by_language(dense, task, regime) if dense else {}
    before = results.mean(dense, task, regime) if dense else None
    return TaskComparison(
        task=task,
        title=task_title(results, task) + ("" if regime == USUAL else f", {regime}"),
        metric="f1" if "f1" in metrics else metrics[0],
        mean=(before, results.mean(own, task, regime)),
        languages={c: (theirs.get(c), ours.get(c)) for c in dict.fromkeys((*theirs, *ours))},
    )


def speed_of(results: Results, own: System) -> SpeedGain | None:
    """Return how fast a system was, and where; None if nobody measured it."""
    size = results.size(own)
    if size is None or size.faster is None:
        return None
    return SpeedGain(size.faster, size.low, size.high, _where(results.about))


def _where(about: Mapping[str, Any]) -> str:
    """Describe the machine and the batches of a measurement in a few words."""
    machine = about.get("machine")
    words = [machine] if isinstance(machine, str) else []
    if isinstance(machine, Mapping):
        threads = machine.get("threads")
        words = [machine.get("gpu") or machine.get("cpu") or ""]
        words += [f"{threads} thread{'' if threads == 1 else 's'}"] if threads else []
    measured = about.get("measured")
    if isinstance(measured, Mapping) and measured.get("batch"):
        words.append(f"batches of {measured['batch']}")
        words += [f"{measured['tokens']} tokens per sentence"] if measured.get("tokens") else []
    return ", ".join(str(word) for word in words if word)


def _codes(facts: CardFacts, results: Results) -> set[str]:
    history = facts.history
    return {*results.languages, *history.languages, *history.cut_for, *facts.differences}


def _which(folder: Path, known: tuple[System, ...]) -> ConfigError:
    listed = ", ".join(dict.fromkeys(system_title(each) for each in known)) or "none"
    return ConfigError(f"Which system of these results is {folder}? There are: {listed}. Name one.")
