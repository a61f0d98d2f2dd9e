"""Figures of what pruning cuts: heads, units and ranks, layer by layer and size by size."""

from collections.abc import Callable, Mapping, Sequence

from ...averages import Value, mean
from ..display import SPACE
from ..results import HALF, KeptComponents, Results, System
from .comparison import sized_systems, sparsity_axis
from .figure import Axis, Figure, Plot, Point, Series

TOGETHER = 3
"""Up to so many systems share a frame; more have one frame per kind of component."""

PANELS = 3
LINES = 8
"""The largest number of frames in a figure, and of lines in a frame."""

SHARE = Axis("Cut (%)", low=0.0, high=100.0)
NETWORK = "Network sparsity (%)"

Values = Sequence[Value]


def layer_sparsity(results: Results) -> Figure | None:
    """Draw how much of the heads and units of each layer every system cuts."""
    kept = _by_system(results)
    systems = results.nearest(HALF, kept)
    heads = {s: _layers(kept[s], lambda k: _closed(k.kept.heads, k.whole.heads)) for s in systems}
    units = {s: _layers(kept[s], lambda k: _closed(k.kept.units, k.whole.units)) for s in systems}
    return layers_figure(heads, units)


def layers_figure(heads: Mapping[System, Values], units: Mapping[System, Values]) -> Figure | None:
    """Draw percentages by layer, as computed from results or printed in the paper."""
    solid = [_line(system, "heads", values) for system, values in heads.items()]
    dashed = [_line(system, "units", values, dashed=True) for system, values in units.items()]
    depth = max((len(values) for values in heads.values()), default=0)
    step = 1 if depth <= 8 else 2 if depth <= 16 else 4
    x = Axis("Layer", ticks=tuple(float(layer) for layer in range(step, depth + 1, step)))
    if len(heads) <= TOGETHER:
        panels = (Plot("", x, SHARE, (*solid, *dashed)),)
    else:
        panels = (
            Plot("Heads", x, SHARE, tuple(_named(each) for each in solid)),
            Plot("Units", x, SHARE, tuple(_named(each) for each in dashed)),
        )
    return Figure(
        "layer-sparsity",
        "What is cut of each layer, by method",
        f"Heads and units cut in each layer at the sparsity nearest to 50{SPACE}%, the mean over "
        "languages where they differ.",
        panels,
    )


def component_sparsity(results: Results) -> Figure | None:
    """Draw how much of each kind of component is cut, against the sparsity of the network."""
    kept = _by_system(results)
    sizes = sized_systems(kept)
    return components_figure(
        {
            kind: {
                systems[0]: [
                    (s.sparsity or 0, mean(percent_of(each) for each in kept[s])) for s in systems
                ]
                for systems in sizes.values()
            }
            for kind, percent_of in KINDS.items()
        }
    )


def components_figure(
    kinds: Mapping[str, Mapping[System, Sequence[tuple[float, Value]]]],
) -> Figure | None:
    """Draw pairs (sparsity, percent) for each kind of component and each system."""
    panels = []
    for kind, systems in kinds.items():
        series = tuple(_curve(system, own) for system, own in systems.items())
        panels.append(Plot(kind.capitalize(), sparsity_axis(NETWORK, series), SHARE, series))
    return Figure(
        "component-sparsity",
        "What kinds of components are cut, against sparsity",
        "Ranks of the word table, heads and units cut, against the sparsity of the network.",
        tuple(panels),
    )


def layers_by_sparsity(results: Results) -> Figure | None:
    """Draw how much of each layer is cut, heads and units together, against sparsity."""
    kept = _by_system(results)
    panels = []
    for systems in list(sized_systems(kept).values())[:PANELS]:
        by_size = [(s.sparsity or 0, _layers(kept[s], _layer_weights)) for s in systems]
        depth = len(by_size[0][1])
        step = -(-depth // LINES)
        lines = {
            layer + 1: [(size, values[layer]) for size, values in by_size if layer < len(values)]
            for layer in range(0, depth, step)
        }
        panels.append((systems[0].title, lines, depth))
    return layers_by_sparsity_figure(panels)


def layers_by_sparsity_figure(
    panels: Sequence[tuple[str, Mapping[int, Sequence[tuple[float, Value]]], int]],
) -> Figure | None:
    """Draw one panel per system from its title, its lines by layer, and its depth."""
    plots = []
    for title, lines, depth in panels:
        series = tuple(
            Series(f"Layer {layer}", _points(points), shade=(layer - 1) / max(depth - 1, 1))
            for layer, points in lines.items()
        )
        y = Axis("Layer cut (%)", low=0.0, high=100.0)
        plots.append(Plot(title, sparsity_axis(NETWORK, series), y, series))
    return Figure(
        "layers-by-sparsity",
        "How much of each layer is cut, against sparsity",
        "Heads and units cut in each layer, weighted as in App. B (a head four times its width, a "
        "unit two), against the sparsity of the network.",
        tuple(plots),
    )


def _by_system(results: Results) -> dict[System, list[KeptComponents]]:
    """Return what each cut system kept, except systems that lost whole layers."""
    found: dict[System, list[KeptComponents]] = {}
    for each in results.kept:
        same_depth = len(each.kept.heads) == len(each.whole.heads)
        if same_depth and each.kept != each.whole:
            found.setdefault(each.system, []).append(each)
    return found


def _closed(kept: Sequence[int], whole: Sequence[int]) -> Values:
    return [_percent(k, w) for k, w in zip(kept, whole, strict=True)]


def _percent(kept: int, whole: int) -> Value:
    return 100 * (whole - kept) / whole if whole else None


def _layer_weights(each: KeptComponents) -> Values:
    """Return the percentage of each layer's weight that is cut (App. B)."""
    head, unit = 4 * each.head_width, 2
    kept = zip(each.kept.heads, each.kept.units, strict=True)
    whole = zip(each.whole.heads, each.whole.units, strict=True)
    return _closed([head * h + unit * u for h, u in kept], [head * h + unit * u for h, u in whole])


KINDS: dict[str, Callable[[KeptComponents], Value]] = {
    "ranks": lambda each: _percent(each.kept.rank, each.whole.rank),
    "heads": lambda each: _percent(sum(each.kept.heads), sum(each.whole.heads)),
    "units": lambda each: _percent(sum(each.kept.units), sum(each.whole.units)),
}


def _layers(
    kept: Sequence[KeptComponents], percent_of: Callable[[KeptComponents], Values]
) -> Values:
    """Return one value per layer: the mean over languages."""
    return [mean(values) for values in zip(*(percent_of(each) for each in kept), strict=False)]


def _line(system: System, kind: str, values: Values, dashed: bool = False) -> Series:
    points = tuple(Point(float(i), value) for i, value in enumerate(values, 1))
    return Series(f"{system.title}, {kind}", points, colour=system.name, dashed=dashed)


def _named(series: Series) -> Series:
    """Return a series titled by its system alone, as the panel names the component."""
    title = series.title.rpartition(", ")[0]
    return Series(title, series.points, colour=series.colour)


def _curve(system: System, own: Sequence[tuple[float, Value]]) -> Series:
    return Series(system.title, _points(own), colour=system.name)


def _points(own: Sequence[tuple[float, Value]]) -> tuple[Point, ...]:
    return tuple(Point(100 * sparsity, value) for sparsity, value in own)
