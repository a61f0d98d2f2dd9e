"""Checks of a study's config."""

from collections.abc import Sequence
from typing import Any

from ..errors import ConfigError, PolypruneError, UnknownName
from ..evaluation.task_names import REGIMES
from ..evaluation.tasks import find_task
from .own_study_task import find_study_task


def check_sizes(sizes: Sequence[float]) -> None:
    """Raise unless each size is a sparsity."""
    for size in sizes:
        if not 0 <= size < 1:
            raise ConfigError(f"A sparsity is from 0 to less than 1, not {size:g}.")


def check_seeds(seeds: Sequence[int] | None) -> None:
    """Raise unless the seeds are different numbers."""
    if seeds is None:
        return
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise ConfigError("Seeds are one number or more, from 0, each of them once.")


def check_choices(plan: Any) -> None:
    """Raise unless a task has one setting of each kind, or several to choose from."""
    if plan.learning_rate is not None and plan.learning_rates:
        raise ConfigError("Give learning_rate, or learning_rates to choose from, not both.")
    if plan.epochs is not None and plan.epochs_to_try:
        raise ConfigError("Give epochs, or epochs_to_try to choose from, not both.")
    for each in (plan.learning_rate, *plan.learning_rates):
        if each is not None and not each > 0:
            raise ConfigError(f"A learning rate is more than 0, not {each}.")


def check_regimes(regimes: Sequence[str] | None) -> None:
    """Raise unless all regimes exist."""
    for regime in regimes or ():
        if regime not in REGIMES:
            known = f"There are: {', '.join(REGIMES)}."
            raise ConfigError(str(UnknownName("regime", regime, REGIMES, known)))


def check_known(what: str, given: Sequence[str] | None, known: Sequence[str]) -> None:
    """Raise unless all given names are known."""
    for name in given or ():
        if name not in known:
            see = f"This study has: {', '.join(dict.fromkeys(known))}."
            raise ConfigError(str(UnknownName(what, name, known, see)))


def check_task(name: str, data: str | None = None) -> None:
    """Raise unless a task has this name, or is one of one's own with this data."""
    try:
        find_study_task(name, data)
    except PolypruneError as error:  # which pydantic would not collect
        raise ConfigError(str(error)) from error


def check_like(name: str, like: str | None, data: str | None = None) -> None:
    """Raise unless a model that is fine-tuned for one task can be scored on the other."""
    if like is None:
        return
    if data is not None:
        raise ConfigError(f"`like` is for XTREME's tasks: leave it out for {name}.")
    check_task(like)
    one, other = find_task(name), find_task(like)
    if other.defaults is None or (one.kind.readout, one.labels) != (
        other.kind.readout,
        other.labels,
    ):
        raise ConfigError(f"A model that is fine-tuned for {like} cannot be scored on {name}.")
