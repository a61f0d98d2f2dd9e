"""What was found, in one or two sentences and a few numbers."""

from dataclasses import dataclass

from ..display import SPACE, language_name, millions, percent, system_title, task_title
from ..results import Results, System, SystemSize, Value, main_score, mean

HALF = 0.5
"""The size that is told of where there are several: the nearest to it."""

Cell = tuple[str, str]
"""A regime and a task."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The best of what was cut to about a half, beside what it was cut from."""

    system: System
    dense: System
    before: float
    after: float
    """Points, the mean over those tasks that both were tried on."""
    tasks: tuple[str, ...]
    worst: str | None
    """The language that lost most."""
    lost: float


def reference(results: Results, system: System) -> System | None:
    """What a system is compared with: its own uncut size, or the dense model."""
    others = results.systems
    uncut = [each for each in others if each.sparsity == 0]
    own = [each for each in uncut if each.name == system.name]
    dense = [each for each in others if each.name == "dense" and not each.sparsity]
    return next(iter(own or dense or (uncut if len(uncut) == 1 else [])), None)


def headline(results: Results) -> Headline | None:
    """The best of those that are cut to about a half and that most is known of."""
    found = [each for system in results.systems if (each := _headline(results, system))]
    cut = [each for each in found if each.system.sparsity is not None] or found
    nearest = min((_from_half(each.system) for each in cut), default=0.0)
    half = [each for each in cut if _from_half(each.system) <= nearest + 1e-9]
    return max(half, key=lambda each: (len(each.tasks), each.after), default=None)


def _from_half(system: System) -> float:
    return 0.0 if system.sparsity is None else abs(system.sparsity - HALF)


def _headline(results: Results, system: System) -> Headline | None:
    dense = reference(results, system)
    if dense is None or dense == system:
        return None
    before, after = _means(results, dense), _means(results, system)
    both = [cell for cell in before if cell in after]
    regimes = [regime for regime, _ in both]
    # Means over two regimes would mix what was trained on one language with what was on all.
    regime = max(dict.fromkeys(regimes), key=regimes.count, default="")
    both = [cell for cell in both if cell[0] == regime]
    if not both:
        return None
    worst, lost = _worst(results, dense, system, regime)
    return Headline(
        system,
        dense,
        sum(before[cell] for cell in both) / len(both),
        sum(after[cell] for cell in both) / len(both),
        tuple(task for _, task in both),
        worst,
        lost,
    )


def _means(results: Results, system: System) -> dict[Cell, float]:
    """Over seeds, by regime and task; only what is known."""
    found: dict[Cell, list[Value]] = {}
    for score in results.scores:
        if score.system == system:
            found.setdefault((score.regime, score.task), []).append(main_score(score.mean))
    means = {cell: mean(values) for cell, values in found.items()}
    return {cell: value for cell, value in means.items() if value is not None}


def _worst(
    results: Results, dense: System, system: System, regime: str
) -> tuple[str | None, float]:
    """The language that lost most, as the mean over its tasks, and how much."""
    before, after = (_by_language(results, each, regime) for each in (dense, system))
    losses: dict[str, list[float]] = {}
    for key, value in before.items():
        if key in after:
            losses.setdefault(key[1], []).append(value - after[key])
    means = {code: sum(own) / len(own) for code, own in losses.items()}
    worst = max(means, key=lambda code: means[code], default=None)
    return (None, 0.0) if worst is None or means[worst] <= 0 else (worst, means[worst])


def _by_language(results: Results, system: System, regime: str) -> dict[tuple[str, str], float]:
    """By task and language."""
    found: dict[tuple[str, str], list[Value]] = {}
    for score in results.scores:
        if score.system == system and score.regime == regime:
            for code, own in score.languages.items():
                found.setdefault((score.task, code), []).append(main_score(own))
    means = {key: mean(values) for key, values in found.items()}
    return {key: value for key, value in means.items() if value is not None}


def summary(results: Results) -> str:
    """What there is, and what it comes to, in plain words."""
    counted = counts(results)
    if not counted:
        return "There are no results here yet."
    model = results.about.get("model")
    first = f"{', '.join(counted[:-1])} and {counted[-1]}" if counted[1:] else counted[0]
    told = f"{model}: {first}." if model else f"{first[0].upper()}{first[1:]}."
    found = headline(results)
    return told if found is None else f"{told} {_told(results, found)}"


def counts(results: Results) -> list[str]:
    """How much of everything there is."""
    systems = results.systems
    names = {each.name for each in systems}
    sizes = {each.sparsity for each in systems if each.sparsity}
    tasks = {score.task for score in results.scores}
    told = (
        _count(len(names), "system"),
        _count(len(sizes), "size") if sizes else "",
        _count(len(results.languages), "language"),
        _count(len(tasks), "task"),
    )
    return [each for each in told if each and not each.startswith("0")]


def _count(count: int, what: str) -> str:
    return f"{count}{SPACE}{what}{'' if count == 1 else 's'}"


def _told(results: Results, found: Headline) -> str:
    size = size_of(results, found.system)
    interval = ""
    if size and size.low is not None and size.high is not None:
        interval = f" (95{SPACE}% interval {size.low:.2f}–{size.high:.2f})"
    faster = ""
    if size and size.faster is not None:
        faster = f", and is {size.faster:.2f} times as fast{interval}"
    told = (
        f"{system_title(found.system)}, keeps {found.after:.1f} of {found.before:.1f}{SPACE}points "
        f"({averaged_over(results, found.tasks)}){faster}."
    )
    if found.worst is None:
        return told
    return f"{told} {language_name(found.worst)} lost most: {found.lost:.1f}{SPACE}points."


def averaged_over(results: Results, tasks: tuple[str, ...]) -> str:
    """What a number is the mean of."""
    return task_title(results, tasks[0]) if len(tasks) == 1 else f"mean of {len(tasks)} tasks"


def size_of(results: Results, system: System) -> SystemSize | None:
    """How large and fast a system is, if anybody measured."""
    return next((each for each in results.sizes if each.system == system), None)


def key_figures(results: Results) -> list[tuple[str, str]]:
    """The numbers that people look for first, each with what it is."""
    found = headline(results)
    if found is None:
        return []
    cut, dense = size_of(results, found.system), size_of(results, found.dense)
    told = [
        (
            f"{found.after:.1f} of {found.before:.1f}",
            f"points kept, {averaged_over(results, found.tasks)}",
        )
    ]
    if found.system.sparsity is not None:
        told.insert(0, (percent(found.system.sparsity), "of the encoder cut out"))
    if cut and cut.faster is not None:
        told.append((f"{cut.faster:.2f}×", "as fast as the uncut model"))
    told += _smaller(cut, dense)
    if found.worst is not None:
        told.append(
            (f"−{found.lost:.1f}", f"points for {language_name(found.worst)}, which lost most")
        )
    return told


def _smaller(cut: SystemSize | None, dense: SystemSize | None) -> list[tuple[str, str]]:
    for name, what in (("layer_parameters", "in the layers"), ("parameters", "in all")):
        before, after = getattr(dense, name, None), getattr(cut, name, None)
        if before is not None and after is not None:
            return [(f"{millions(before)} → {millions(after)} M", f"parameters {what}")]
    return []
