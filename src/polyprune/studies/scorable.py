"""What of a study can be scored: labels of its tests, and data to fine-tune on.

It is looked at before the first cell runs: rather now than after days.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ..errors import ConfigError, DataError
from ..evaluation.data_checks import describe_data, locate_errors
from ..evaluation.eval_config import EvalConfig, label_file
from ..evaluation.finetune_config import FineTuneConfig
from ..evaluation.training_data import check_languages, check_selection_data
from .study_config import Study, scored_combinations
from .study_parts import QuickConfig, TaskConfig

LOOKED_AT = 100
"""The examples of a file by which it is told whether it has labels."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why some scores of a task are impossible."""

    plan: TaskConfig
    why: str
    languages: tuple[str, ...] = ()
    """The languages that cannot be scored; all unless given."""
    regime: str | None = None
    """The regime that has nothing to train on; all unless given."""

    def __str__(self) -> str:
        where = f" ({self.regime})" if self.regime else ""
        which = f" for {', '.join(self.languages)}" if self.languages else ""
        return f"{self.plan.task.title}{which}{where}: {self.why}"


def with_scorable_only(study: Study, data: str) -> tuple[Study, tuple[str, ...]]:
    """Return what of a study can be scored, and what is left out of it, in sentences.

    Raise if there is something that cannot be scored, unless the study leaves it out.
    """
    found = list(obstacles(study, data))
    told = tuple(dict.fromkeys(map(str, found)))
    left = _without(study, found, data) if found else study
    if found and (left is None or not study.leave_out):
        what, leave = "Nothing of this study can", ""
        if left is not None:
            what, leave = "Some of this study cannot", ", or leave the rest out with `leave_out`"
        raise ConfigError(
            f"{what} be scored: {'; '.join(told)}. Give a folder of labels with `labels`, and the "
            f"data that is missing{leave}."
        )
    return left or study, tuple(f"Left out: {each}." for each in told)


def obstacles(study: Study, data: str) -> Iterator[Obstacle]:
    """Yield what cannot be scored."""
    used = [
        (plan, regime)
        for system in study.systems
        for plan, regime, _ in scored_combinations(study, system)
    ]
    for plan in study.tasks:
        regimes = dict.fromkeys(regime for own, regime in used if own is plan)
        untested = list(_untested(plan, study, data)) if regimes else []
        yield from untested
        if plan.is_retrieval or not all(each.languages for each in untested):
            continue
        for regime in regimes:
            yield from _untrained(plan, regime, data)


def _untested(plan: TaskConfig, study: Study, data: str) -> Iterator[Obstacle]:
    """Yield the languages without test data, and those without labels."""
    task, wanted = plan.task, plan.languages
    there = task.reader.languages(data, "test", wanted or task.languages)
    if not there:
        yield Obstacle(plan, f"there is no test data in {data}")
        return
    absent = tuple(code for code in wanted or () if code not in there)
    if absent:
        yield Obstacle(plan, f"there is no test data in {data}", absent)
    config = EvalConfig(data, labels=study.labels)
    bare = tuple(code for code in there if not _is_labelled(plan, config, code))
    where = "the test files" if study.labels is None else study.labels
    if bare:
        whole = len(bare) == len(there)
        yield Obstacle(plan, f"there are no labels in {where}", () if whole else bare)


def _is_labelled(plan: TaskConfig, config: EvalConfig, code: str) -> bool:
    """Return whether a language can be scored; raise if its labels do not fit its test file."""
    task = plan.task
    with locate_errors(describe_data(task, config.data, "test", code)):
        some = list(islice(task.reader.read(config.data, "test", code), LOOKED_AT))
        if task.kind.gold(some) is not None:
            return True
    if config.labels is None or not label_file(task, config.labels, code).is_file():
        return False
    config.read(task, code)
    return True


def _untrained(plan: TaskConfig, regime: str, data: str) -> Iterator[Obstacle]:
    """Yield the regime if there is nothing to fine-tune on."""
    setup = FineTuneConfig(model="", task=plan.tuned_for, data=data, regime=regime)
    try:
        check_languages(setup)
    except DataError as error:
        yield Obstacle(plan, str(error).rstrip("."), regime=regime)
        return
    if plan.chooses:
        check_selection_data(setup, "give one learning_rate and number of epochs")


def _without(study: Study, found: Sequence[Obstacle], data: str) -> Study | None:
    """Return the study without what cannot be scored; None if nothing is left of it."""
    plans = [left for plan in study.tasks if (left := _reduced(plan, study, found, data))]
    names = [plan.name for plan in plans]
    if not plans:
        return None
    systems = (
        replace(each, tasks=None if each.tasks is None else _kept(each.tasks, names))
        for each in study.systems
    )
    return replace(study, tasks=tuple(plans), systems=tuple(systems), quick=QuickConfig())


def _reduced(
    plan: TaskConfig, study: Study, found: Sequence[Obstacle], data: str
) -> TaskConfig | None:
    own = [each for each in found if each.plan is plan]
    if any(not each.languages and each.regime is None for each in own):
        return None
    lost = {each.regime for each in own if each.regime}
    regimes = tuple(r for r in plan.regimes or study.regimes if r not in lost)
    if not regimes:
        return None
    bare = {code for each in own for code in each.languages}
    if lost:
        plan = replace(plan, regimes=regimes)
    if bare:
        there = plan.task.reader.languages(data, "test", plan.languages or plan.task.languages)
        kept = tuple(code for code in there if code not in bare)
        return replace(plan, languages=kept) if kept else None
    return plan


def _kept(names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in known)
