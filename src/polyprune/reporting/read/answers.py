"""Read what `polyprune evaluate --json` and `polyprune measure --json` print."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from ...averages import number
from ..results import Results, Score, System
from .lines import parse_kept, parse_languages, parse_scores, parse_size


def parse_answer(answer: Mapping[str, Any], title: str) -> Results | None:
    """Return the results of a printed object; None if it is of another kind."""
    if isinstance(answer.get("systems"), list) and "task" in answer:
        return _evaluated(answer, title)
    if isinstance(answer.get("models"), list):
        return _measured(answer["models"], answer, title)
    if "model" in answer and "parameters" in answer:
        return _measured([answer], answer, title)
    return None


def with_sparsities(results: Results) -> Results:
    """Give the models that were evaluated the sizes that were measured of them.

    Of a folder that somebody made nobody knows how much was cut; the parameters of its layers
    beside those of the first that was measured do tell.
    """
    first = next((each.layer_parameters for each in results.sizes if each.layer_parameters), None)
    cut = {
        each.system.name: round(1 - each.layer_parameters / first, 2)
        for each in results.sizes
        if first and each.layer_parameters and each.system.sparsity is None
    }

    def sized(each: Any) -> Any:
        sparsity = cut.get(each.system.name, 0)
        if each.system.sparsity is not None or sparsity <= 0:
            return each
        return replace(each, system=replace(each.system, sparsity=sparsity))

    def side(name: str, sparsity: float | None) -> tuple[str, float | None]:
        return name, cut[name] if sparsity is None and cut.get(name, 0) > 0 else sparsity

    return replace(
        results,
        scores=tuple(map(sized, results.scores)),
        sizes=tuple(map(sized, results.sizes)),
        kept=tuple(map(sized, results.kept)),
        distances=tuple(map(sized, results.distances)),
        curves=tuple(map(sized, results.curves)),
        trainings=tuple(map(sized, results.trainings)),
        claims=tuple(
            replace(each, better=side(*each.better), worse=side(*each.worse))
            for each in results.claims
        ),
    )


def _evaluated(answer: Mapping[str, Any], title: str) -> Results:
    scores = []
    for system in (each for each in answer["systems"] if isinstance(each, Mapping)):
        found = system.get("languages")
        languages = found if isinstance(found, Mapping) else {}
        own = {c: e.get("scores") for c, e in languages.items() if isinstance(e, Mapping)}
        scores.append(
            Score(
                _system(system, number(system.get("sparsity"))),
                str(answer["task"]),
                parse_scores(system.get("mean")),
                parse_languages(own),
                str(system.get("regime") or "transfer"),
            )
        )
    # A task of one's own may be called like another spelling of XTREME's: `pos`.
    titles = {str(answer["task"]): str(answer["title"])} if "title" in answer else {}
    return Results(title, tuple(scores), about=_about(answer), tasks=titles)


def _measured(models: list[Any], answer: Mapping[str, Any], title: str) -> Results:
    named = [each for each in models if isinstance(each, Mapping)]
    sizes, kept = [], []
    for model in named:
        system = _system(model, None)
        sizes.append(replace(parse_size(model), system=system))
        kept += [replace(each, system=system) for each in parse_kept(model, named[0])]
    return Results(title, sizes=tuple(sizes), kept=tuple(kept), about=_about(answer))


def _system(found: Mapping[str, Any], sparsity: float | None) -> System:
    name = str(found.get("model", "?"))
    return System(name, PurePath(name).name or name, sparsity)


def _about(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {name: answer[name] for name in ("machine", "versions", "measured") if name in answer}
