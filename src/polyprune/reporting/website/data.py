"""Results as the page carries them: in columns, with indices instead of names."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any

from ...averages import Scores, Value, complete_scores
from ...evaluation.task_names import TASK_NAMES
from ..display import NO_FAMILY, language_family, language_name, task_title
from ..figures.figure import Figure, Matrix
from ..results import (
    DENSE,
    Curve,
    Distances,
    KeptComponents,
    Results,
    Score,
    System,
    SystemSize,
    table_scores,
)
from ..similarity import positions
from .escape import json_value, round_for_page, visible_text
from .figure_data import figure_data

HUES = 8
"""The number of colours for families; small families share the last."""

SIZE_FIELDS = (
    "parameters", "layer_parameters", "bytes", "multiply_adds", "sentences_per_second",
    "gpu_sentences_per_second", "faster", "low", "high",
)  # fmt: skip


class NameIndex:
    """The index of each name, so that every name is written out once."""

    def __init__(self, names: Sequence[Any]) -> None:
        self.names = list(dict.fromkeys(names))
        self._of = {name: i for i, name in enumerate(self.names)}

    def __getitem__(self, name: Any) -> int:
        return self._of[name]


def page_data(results: Results, figures: Sequence[Figure]) -> dict[str, Any]:
    """Return all that the page draws, sorts and offers for download."""
    systems, languages = NameIndex(results.systems), NameIndex(results.languages)
    tasks = NameIndex(sorted((score.task for score in results.scores), key=_place))
    regimes = NameIndex([score.regime for score in results.scores])
    served = {found for each in results.systems if (found := results.baseline(each))}
    baselines = [_baseline(results, each, served) for each in results.systems]
    names = [visible_text(task_title(results, task)) for task in tasks.names]

    def key(score: Score) -> dict[str, int]:
        return {"s": systems[score.system], "t": tasks[score.task], "r": regimes[score.regime]}

    def own(parts: Iterable[Any], columns: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
        return [{"s": systems[each.system]} | columns(each, languages) for each in parts]

    return {
        "title": visible_text(results.title),
        "systems": [_system(each) for each in systems.names],
        "baselines": [None if each is None else systems[each] for each in baselines],
        "languages": [_language(code) for code in languages.names],
        "hues": family_hues(results, figures),
        "tasks": [
            [visible_text(task), name] for task, name in zip(tasks.names, names, strict=True)
        ],
        "regimes": [visible_text(each) for each in regimes.names],
        "scores": [key(each) | _score(each, languages) for each in results.scores],
        "means": [key(each) | _mean(results, each, languages) for each in _repeated(results)],
        "sizes": [{"s": systems[each.system]} | _size(each) for each in results.sizes],
        "measured": [_measured(results, each) for each in systems.names],
        "kept": own(results.kept, _kept),
        "distances": own(results.distances, _distances),
        "curves": own(results.curves, _curve),
        "failures": [list(map(visible_text, (each.what, each.why))) for each in results.failures],
        "about": json_value(results.about),
        "figures": [figure_data(each) for each in figures],
    }


def _place(task: str) -> int:
    """Return a task's place: the nine in the paper's order, then others as they come."""
    return [*TASK_NAMES, task].index(task)


def family_hues(results: Results, figures: Sequence[Figure]) -> dict[str, int]:
    """Return the number of each family's colour; small families share the last."""
    named = [language_family(code) for code in results.languages]
    for figure in figures:
        for panel in figure.panels:
            if isinstance(panel, Matrix):
                named += panel.groups
    counted = Counter(visible_text(family) for family in named if family != NO_FAMILY)
    ranked = sorted(counted, key=lambda family: (-counted[family], family))
    hues = {family: min(i, HUES - 1) for i, family in enumerate(ranked)}
    return hues | ({NO_FAMILY: HUES - 1} if NO_FAMILY in named else {})


def _language(code: str) -> list[str]:
    return [visible_text(code), visible_text(language_name(code)), language_family(code)]


def _system(system: System) -> list[Any]:
    return [
        visible_text(system.name),
        visible_text(system.title),
        round_for_page(system.sparsity),
        visible_text(system.setting),
    ]


def _score(score: Score, languages: NameIndex) -> dict[str, Any]:
    """Return one column per measure: the mean, and the languages."""
    names = list(
        dict.fromkeys([*score.mean, *(n for own in score.languages.values() for n in own)])
    )
    return {
        "seed": score.seed,
        "failed": visible_text(score.failed),
        **_columns(names, score.mean, score.languages, languages),
    }


def _columns(
    names: Sequence[str], mean: Scores, own: Mapping[str, Scores], languages: NameIndex
) -> dict[str, Any]:
    codes = sorted(own, key=languages.__getitem__)
    return {
        "names": [visible_text(name) for name in names],
        "mean": [_percent(mean.get(name)) for name in names],
        "l": [languages[code] for code in codes],
        "v": [[_percent(own[code].get(name)) for code in codes] for name in names],
    }


def _baseline(results: Results, system: System, served: Set[System]) -> System | None:
    """Return a system's baseline: itself if it is known to be uncut or serves others as one."""
    is_one = system.name == DENSE or system.sparsity == 0 or system in served
    return results.baseline(system) or (system if is_one else None)


def _repeated(results: Results) -> list[Score]:
    """Return the first score of everything that was tried with several seeds."""
    runs = [results.runs(s, *tried).values() for s in results.systems for tried in results.tried(s)]
    return [next(iter(own)) for own in runs if len(own) > 1]


def _mean(results: Results, score: Score, languages: NameIndex) -> dict[str, Any]:
    """Return the means over seeds in the columns of a score."""
    tried = (score.system, score.task, score.regime)
    runs = results.runs(*tried).values()
    mean, codes = results.over_seeds(*tried), results.by_language(*tried)
    own = {code: results.over_seeds(*tried, code) for code in codes}
    names = list(dict.fromkeys([*mean, *(name for scores in own.values() for name in scores)]))
    return {
        "seeds": sum(bool(complete_scores(table_scores(each.mean))) for each in runs),
        "failed": [visible_text(each.failed) for each in runs if each.failed],
        **_columns(names, mean, own, languages),
    }


def _measured(results: Results, system: System) -> int | None:
    """Return which of the sizes is a system's."""
    size = results.size(system)
    return None if size is None else results.sizes.index(size)


def _percent(value: Value) -> int | float | None:
    known = round_for_page(value, 12)
    return None if known is None else round_for_page(round(known, 3))


def _size(size: SystemSize) -> dict[str, Any]:
    known = {name: round_for_page(getattr(size, name), 10) for name in SIZE_FIELDS}
    return {name: value for name, value in known.items() if value is not None}


def _kept(kept: KeptComponents, languages: NameIndex) -> dict[str, Any]:
    return {
        "l": None if kept.language is None else languages[kept.language],
        "kept": [[*kept.kept.heads], [*kept.kept.units], kept.kept.rank],
        "whole": [[*kept.whole.heads], [*kept.whole.units], kept.whole.rank],
    }


def _distances(each: Distances, languages: NameIndex) -> dict[str, Any]:
    """Return the matrix below its diagonal, and where each language is on a map of it."""
    rows = each.matrix
    return {
        "l": [languages[code] for code in each.languages],
        "m": [_percent(rows[i][j]) for i in range(len(rows)) for j in range(i)],
        "p": [[round_for_page(value, 4) for value in place] for place in positions(rows)],
    }


def _curve(curve: Curve, languages: NameIndex) -> dict[str, Any]:
    return {
        "l": None if curve.language is None else languages[curve.language],
        "x": [step for step, _ in curve.points],
        "y": [round_for_page(loss) for _, loss in curve.points],
    }
