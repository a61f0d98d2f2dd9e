"""The headline of a page: what was found, in one or two sentences and a few numbers."""

from dataclasses import dataclass

from ...averages import mean
from ..display import SPACE, language_name, millions, percent, system_title, task_title
from ..learned import is_learned
from ..results import HALF, Results, System, SystemSize, distance


@dataclass(frozen=True, slots=True)
class Headline:
    """The best system that was cut to about a half, beside its baseline."""

    system: System
    dense: System
    before: float
    after: float
    """Points of the baseline and of the system: means over the tasks that both were tried on."""
    tasks: tuple[str, ...]
    worst: str | None
    """The language that lost most."""
    lost: float


def headline(results: Results) -> Headline | None:
    """Return the best of the systems that are cut to about a half and that most is known of."""
    found = [each for system in results.systems if (each := _headline(results, system))]
    cut = [each for each in found if each.system.sparsity is not None] or found
    nearest = min((distance(each.system, HALF) for each in cut), default=0.0)
    half = [each for each in cut if distance(each.system, HALF) <= nearest + 1e-9]
    return max(half, key=lambda each: (len(each.tasks), each.after), default=None)


def _headline(results: Results, system: System) -> Headline | None:
    dense = results.baseline(system)
    if dense is None:
        return None
    counted = [cell for cell in results.tried(dense) if is_learned(results, *cell)]
    points = {cell: (results.mean(dense, *cell), results.mean(system, *cell)) for cell in counted}
    both = [cell for cell, pair in points.items() if None not in pair]
    regimes = [regime for _, regime in both]
    # Means over two regimes would mix what was trained on one language with what was on all.
    regime = max(dict.fromkeys(regimes), key=regimes.count, default="")
    both = [cell for cell in both if cell[1] == regime]
    before, after = (mean(points[cell][side] for cell in both) for side in (0, 1))
    if before is None or after is None:
        return None
    tasks = tuple(task for task, _ in both)
    worst, lost = _worst(results, dense, system, regime)
    return Headline(system, dense, before, after, tasks, worst, lost)


def _worst(
    results: Results, dense: System, system: System, regime: str
) -> tuple[str | None, float]:
    """Return the language that lost most, and how much: the mean over its tasks."""
    losses: dict[str, list[float]] = {}
    tried = [task for task, own in results.tried(dense) if own == regime]
    for task in (task for task in tried if is_learned(results, task, regime)):
        after = results.by_language(system, task, regime)
        for code, before in results.by_language(dense, task, regime).items():
            now = after.get(code)
            if before is not None and now is not None:
                losses.setdefault(code, []).append(before - now)
    means = {code: mean(own) or 0.0 for code, own in losses.items()}
    worst = max(means, key=lambda code: means[code], default=None)
    return (None, 0.0) if worst is None or means[worst] <= 0 else (worst, means[worst])


def summary(results: Results) -> str:
    """Say how much there is and what was found, in plain words."""
    counted = counts(results)
    if not counted:
        return "There are no results here yet."
    model = results.about.get("model")
    first = f"{', '.join(counted[:-1])} and {counted[-1]}" if counted[1:] else counted[0]
    sentence = f"{model}: {first}." if model else f"{first[0].upper()}{first[1:]}."
    found = headline(results)
    return sentence if found is None else f"{sentence} {_sentence(results, found)}"


def counts(results: Results) -> list[str]:
    """Return the numbers of systems, sizes, languages and tasks, in words."""
    systems = results.systems
    names = {each.name for each in systems}
    sizes = {each.sparsity for each in systems if each.sparsity}
    tasks = {score.task for score in results.scores}
    counted = (
        _count(len(names), "system"),
        _count(len(sizes), "size") if sizes else "",
        _count(len(results.languages), "language"),
        _count(len(tasks), "task"),
    )
    return [each for each in counted if each and not each.startswith("0")]


def _count(count: int, what: str) -> str:
    return f"{count}{SPACE}{what}{'' if count == 1 else 's'}"


def _sentence(results: Results, found: Headline) -> str:
    size = results.size(found.system)
    interval = ""
    if size and size.low is not None and size.high is not None:
        interval = f" (95{SPACE}% interval {size.low:.2f}–{size.high:.2f})"
    faster = ""
    if size and size.faster is not None:
        faster = f", and is {size.faster:.2f} times as fast{interval}"
    sentence = (
        f"{system_title(found.system)}, keeps {found.after:.1f} of {found.before:.1f}{SPACE}points "
        f"({averaged_over(results, found.tasks)}){faster}."
    )
    if found.worst is None:
        return sentence
    return f"{sentence} {language_name(found.worst)} lost most: {found.lost:.1f}{SPACE}points."


def averaged_over(results: Results, tasks: tuple[str, ...]) -> str:
    """Say which task, or how many tasks, a number is the mean over."""
    return task_title(results, tasks[0]) if len(tasks) == 1 else f"mean of {len(tasks)} tasks"


def key_figures(results: Results) -> list[tuple[str, str]]:
    """Return the numbers that people look for first, each with its meaning."""
    found = headline(results)
    if found is None:
        return []
    cut, dense = results.size(found.system), results.size(found.dense)
    shown = [
        (
            f"{found.after:.1f} of {found.before:.1f}",
            f"points kept, {averaged_over(results, found.tasks)}",
        )
    ]
    if found.system.sparsity is not None:
        shown.insert(0, (percent(found.system.sparsity), "of the encoder cut out"))
    if cut and cut.faster is not None:
        shown.append((f"{cut.faster:.2f}×", "as fast as the uncut model"))
    shown += _smaller(cut, dense)
    if found.worst is not None:
        shown.append(
            (f"−{found.lost:.1f}", f"points for {language_name(found.worst)}, which lost most")
        )
    return shown


def _smaller(cut: SystemSize | None, dense: SystemSize | None) -> list[tuple[str, str]]:
    for name, what in (("layer_parameters", "in the layers"), ("parameters", "in all")):
        before, after = getattr(dense, name, None), getattr(cut, name, None)
        if before is not None and after is not None:
            return [(f"{millions(before)} → {millions(after)} M", f"parameters {what}")]
    return []
