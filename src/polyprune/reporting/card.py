"""A model's card once its scores and its speed are known."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import CheckpointError, ConfigError
from ..model.history import CARD
from ..model.network.folder import update_checksum
from ..provenance.card import card, written_into
from ..provenance.card_facts import CardFacts, SpeedGain, TaskComparison, facts_of
from ..storage import atomic_file
from .display import language_name, system_title, task_title
from .results import Results, Score, System, Value, main_score, mean

USUAL = "transfer"
"""The regime that goes without saying."""


def fill_card(folder: Path, results: Results, system: System | None = None) -> None:
    """Write the card of a model folder again, with what each language lost and how fast it is.

    Whatever a person wrote outside of polyprune's part stays. Of several systems, the one that is
    meant has to be given, unless only one is this folder, or is pruned.
    """
    own = find_system(folder, results, system)
    facts = facts_of(folder, folder.resolve().name)
    dense = original_of(results, own, facts.story.base)
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
            "leave --card out."
        )
    with atomic_file(folder / CARD, force=True) as path:
        path.write_text(text, encoding="utf-8")
    update_checksum(folder, CARD)


def find_system(folder: Path, results: Results, system: System | None) -> System:
    """The system that a folder is: the one given, the one of its name, or the only pruned one."""
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


def original_of(results: Results, own: System, base: str) -> System | None:
    """What a system is compared with: the one called dense or like the original, or not pruned."""
    others = [each for each in results.systems if each != own]
    for test in (
        lambda each: each.name == "dense",
        lambda each: bool(base) and each.name in (base, base.rpartition("/")[2]),
        lambda each: not each.sparsity,
    ):
        found = [each for each in others if test(each)]
        if len(found) == 1:
            return found[0]
    return None


def compared(results: Results, own: System, dense: System | None) -> tuple[TaskComparison, ...]:
    """Every task that was asked, in the order of the results."""
    asked = dict.fromkeys((s.task, s.regime) for s in results.scores if s.system == own)
    found = [_compared(results, own, dense, *each) for each in asked]
    return tuple(each for each in found if each is not None)


def _compared(
    results: Results, own: System, dense: System | None, task: str, regime: str
) -> TaskComparison | None:
    """A task, the mean over seeds; None where all of it failed."""

    def of(system: System | None) -> list[Score]:
        wanted = (system, task, regime)
        return [s for s in results.scores if (s.system, s.task, s.regime) == wanted]

    ours, theirs = of(own), of(dense)
    metrics = [name for score in ours for name in score.mean]
    if not metrics:
        return None
    codes = dict.fromkeys(code for score in (*theirs, *ours) for code in score.languages)
    return TaskComparison(
        task=task,
        title=task_title(results, task) + ("" if regime == USUAL else f", {regime}"),
        metric="f1" if "f1" in metrics else metrics[0],
        mean=(_mean(theirs), _mean(ours)),
        languages={code: (_mean(theirs, code), _mean(ours, code)) for code in codes},
    )


def _mean(scores: list[Score], code: str | None = None) -> Value:
    """Over seeds."""
    return mean(main_score(s.mean if code is None else s.languages.get(code, {})) for s in scores)


def speed_of(results: Results, own: System) -> SpeedGain | None:
    """How fast a system was, and where; None where nobody looked."""
    for size in results.sizes:
        if size.system == own and size.faster is not None:
            return SpeedGain(size.faster, size.low, size.high, _where(results.about))
    return None


def _where(about: Mapping[str, Any]) -> str:
    """The machine in a few words, and what it was given to read."""
    machine = about.get("machine")
    words = [machine] if isinstance(machine, str) else []
    if isinstance(machine, Mapping):
        threads = machine.get("threads")
        words = [machine.get("gpu") or machine.get("cpu") or ""]
        words += [f"{threads} thread{'' if threads == 1 else 's'}"] if threads else []
    measured = about.get("measured")
    if isinstance(measured, Mapping) and measured.get("batch"):
        words.append(f"batches of {measured['batch']}")
        words += [f"{measured['tokens']} tokens a sentence"] if measured.get("tokens") else []
    return ", ".join(str(word) for word in words if word)


def _codes(facts: CardFacts, results: Results) -> set[str]:
    return {*results.languages, *facts.story.languages, *facts.story.cut_for, *facts.differences}


def _which(folder: Path, known: tuple[System, ...]) -> ConfigError:
    listed = ", ".join(dict.fromkeys(system_title(each) for each in known)) or "none"
    return ConfigError(f"Which system of these results is {folder}? There are: {listed}. Name one.")
