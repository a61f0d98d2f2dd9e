"""What was found, as a table in Markdown and as a figure; both from the file of results alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from peers_labels import Named, place_names

from polyprune.parts import speed_ratio

DENSE = ("dense", 0.0)
BATCHES = ((1, 128), (32, 64))
MODELS = {
    "e5-small": "translations found, %",
    "sprout": "masked words guessed, %",
}
SAME_SHAPE = {
    "polyprune, second order + recovery": "polyprune, second order",
    "polyprune + recovery": "polyprune",
    "TextPruner + recovery": "TextPruner",
    "polyprune + recovery + int8": "polyprune + int8",
}
"""Methods whose models were not timed, and whose shapes they have."""


@dataclass(frozen=True)
class Line:
    """How a method is drawn: told apart by colour, by mark and by what is written beside it."""

    colour: str
    mark: str
    name: str
    width: float = 1.4


LINES = {
    "dense": Line("#111111", "*", "dense"),
    "transformers": Line("#111111", "P", "transformers"),
    "polyprune, second order": Line("#0072b2", "o", "polyprune", 2.2),
    "polyprune, second order + recovery": Line(
        "#004a75", "D", "polyprune,\n40 steps of recovery", 2.2
    ),
    "polyprune": Line("#56a5d8", "o", "polyprune,\nfrom a scores file"),
    "polyprune + recovery": Line("#4a7a99", "D", "from a scores file,\n40 steps of recovery"),
    "TextPruner": Line("#d55e00", "^", "TextPruner"),
    "TextPruner + recovery": Line("#993d00", "<", "TextPruner,\n40 steps of ours"),
    "Torch-Pruning, magnitude": Line("#8a6d00", "s", "Torch-Pruning\n(magnitude)"),
    "Torch-Pruning, taylor": Line("#00735a", "v", "Torch-Pruning\n(Taylor)"),
    "vocabulary": Line("#7f7f7f", "X", "vocabulary cut"),
    "ONNX": Line("#7f7f7f", "p", "ONNX"),
    "ONNX int8": Line("#a3387f", "h", "ONNX int8"),
    "polyprune + int8": Line("#c9649f", "h", "scores file, int8"),
    "polyprune + recovery + int8": Line("#8a1f66", "H", "scores file,\nrecovery, int8"),
}


Key = tuple[str, float]
Interval = tuple[float, float, float]


def quality(rows: Sequence[dict], model: str) -> dict[Key, dict]:
    """The last row of every model that was asked, failed ones too unless they did not later."""
    found: dict[Key, dict] = {}
    for row in rows:
        if row["stage"] == "quality" and row["model"] == model:
            key = row["method"], row["size"]
            if "error" not in row or "error" in found.get(key, row):
                found[key] = row
    return dict(sorted(found.items(), key=lambda item: (_place(item[0][0]), item[0][1])))


def _place(method: str) -> int:
    return list(LINES).index(method)


def faster(rows: Sequence[dict], model: str, batch: Sequence[int]) -> dict[Key, Interval]:
    """How many times faster than dense each is, with its interval, over all rounds there are."""
    seconds: dict[Key, list[float]] = {}
    dense: dict[Key, list[float]] = {}
    for row in rows:
        if (row["stage"], row["model"]) == ("speed", model) and row["batch"] == list(batch):
            columns = dict(zip(map(tuple, row["methods"]), zip(*row["seconds"], strict=True), strict=True))  # noqa: E501  # fmt: skip
            for key, column in columns.items():
                seconds.setdefault(key, []).extend(column)
                dense.setdefault(key, []).extend(columns[DENSE])
    found = {key: speed_ratio(np.array(dense[key]), np.array(seconds[key])) for key in seconds}
    for method, like in SAME_SHAPE.items():
        found |= {(method, size): found[m, size] for m, size in list(found) if m == like}
    return found


def table(rows: Sequence[dict]) -> str:
    """A table a model."""
    return "\n\n".join(_table(rows, model) for model in MODELS)


def _table(rows: Sequence[dict], model: str) -> str:
    speeds = [faster(rows, model, batch) for batch in BATCHES]
    heads = "".join(f" {examples} × {tokens} |" for examples, tokens in BATCHES)
    text = [
        f"**{model}**: {MODELS[model]}",
        "",
        f"| method | sparsity | layers, M | in all, M | MB | quality |{heads}",
        "|---|---|---|---|---|---|" + "---|" * len(BATCHES),
    ]
    for key, row in quality(rows, model).items():
        method, size = key
        if "error" in row:
            text.append(f"| {method} | {size:.0%} | failed: {row['error']} |" + " |" * 5)
            continue
        cells = [_faster(found.get(key)) for found in speeds]
        numbers = (
            f"{row['layer_parameters'] / 1e6:.2f} | {row['parameters'] / 1e6:.1f} | "
            f"{row['megabytes']:.0f} | {row['quality']:.1f}"
        )
        share = f"{size:.0%}" if size else ""
        text.append(f"| {method} | {share} | {numbers} | {' | '.join(cells)} |")
    return "\n".join(text)


def _faster(found: Interval | None) -> str:
    return "" if found is None else f"{found[0]:.2f}× ({found[1]:.2f}–{found[2]:.2f})"


def draw(rows: Sequence[dict], path: Path) -> None:
    """Quality against speed: a panel for every model and batch, a line for every method."""
    figure, panels = _panels(len(MODELS), len(BATCHES), figsize=(10, 8.4), sharey="row")
    names = []
    for panel_row, model in zip(panels, MODELS, strict=True):
        for panel, batch in zip(panel_row, BATCHES, strict=True):
            names.append((panel, _draw_panel(panel, rows, model, batch)))
        panel_row[0].set_ylabel(f"{model}: {MODELS[model]}")
    for panel in panels[-1]:
        panel.set_xlabel("times as fast as the dense model in PyTorch")
    _write(figure, names, path)


def draw_by_sparsity(rows: Sequence[dict], path: Path) -> None:
    """Quality against sparsity, whatever the speed: a panel for every model."""
    figure, panels = _panels(1, len(MODELS), figsize=(10, 4.6))
    names = []
    for panel, model in zip(panels[0], MODELS, strict=True):
        kept = quality(rows, model)
        _plain(panel, model)
        named = []
        for method, line in LINES.items():
            points = [
                (100 * size, row["quality"])
                for (name, size), row in kept.items()
                if name == method and size and "error" not in row
            ]
            if points and "int8" not in method:
                at = np.array([(0, kept[DENSE]["quality"]), *points])
                _line(panel, line, at[:, 0], at[:, 1])
                named.append(Named(line.name, line.colour, at[1:], at[1:, [0, 0]]))
        panel.axhline(kept[DENSE]["quality"], color="#111111", linewidth=0.8, linestyle=":")
        panel.set_xticks([0, 10, 30, 50, 70, 90], ["uncut", "10", "30", "50", "70", "90 %"])
        panel.set_xlim(-4, 110)
        panel.set_ylabel(MODELS[model])
        panel.set_xlabel("cut from the layers")
        names.append((panel, named))
    _write(figure, names, path)


def _panels(rows: int, columns: int, **how: Any) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("agg")
    # The same file each time; text as text, so that it can be searched and read aloud.
    matplotlib.rcParams |= {"svg.hashsalt": "polyprune", "svg.fonttype": "none", "font.size": 9}
    from matplotlib import pyplot

    return pyplot.subplots(rows, columns, layout="constrained", squeeze=False, **how)


def _write(figure: Any, names: Sequence[tuple[Any, list[Named]]], path: Path) -> None:
    """Put names beside lines, and write the figure."""
    from matplotlib import pyplot

    figure.canvas.draw()
    for panel, named in names:
        if named:  # else nothing of it was measured yet
            place_names(panel, named)
    path.parent.mkdir(exist_ok=True)
    for suffix in ("svg", "png"):
        extra: Any = {"metadata": {"Date": None}} if suffix == "svg" else {"dpi": 160}
        figure.savefig(path.with_suffix(f".{suffix}"), **extra)
    pyplot.close(figure)


def _plain(panel: Any, title: str) -> None:
    panel.grid(color="#d9d9d9", linewidth=0.5)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
    panel.set_title(title, loc="left", fontsize=10)


def _line(panel: Any, line: Line, x: Any, y: Any, **more: Any) -> None:
    look = {"markersize": 6, "zorder": 3, "elinewidth": 0.8} | more
    panel.errorbar(
        x, y, color=line.colour, marker=line.mark, linewidth=line.width,
        markeredgecolor="white", markeredgewidth=0.6, **look,
    )  # fmt: skip


def _draw_panel(panel: Any, rows: Sequence[dict], model: str, batch: Sequence[int]) -> list[Named]:
    examples, tokens = batch
    kept, speeds = quality(rows, model), faster(rows, model, batch)
    panel.set_xscale("log")
    _plain(panel, f"{model}, {examples} × {tokens} tokens")
    named = []
    for method, line in LINES.items():
        points = list(_points(method, kept, speeds))
        if not points:
            continue
        x, y, low, high = np.array(points).T
        star = {"markersize": 14, "zorder": 4} if method == "dense" else {}
        _line(panel, line, x, y, xerr=(x - low, high - x), **star)
        ends = np.stack([low, high], axis=1)
        named.append(Named(line.name, line.colour, np.stack([x, y], axis=1), ends))
    ticks = [0.75, 1, 1.5, 2, 3, 4, 6, 8, 12]
    panel.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    panel.minorticks_off()
    dense = kept[DENSE]["quality"]
    least = min(row["quality"] for row in kept.values() if "error" not in row)
    panel.set_ylim(0.7 * least, 1.2 * dense)  # room for the names of those that lose nothing
    step = 20 if dense > 50 else 5
    panel.set_yticks(np.arange(step * np.ceil(0.7 * least / step), 1.02 * dense, step))
    panel.set_xlim(0.55, 16)
    return named


def _points(method: str, kept: dict, speeds: dict) -> Iterator[tuple[float, float, float, float]]:
    """Speed, quality and the ends of the interval of speed, from the largest model on."""
    for (name, size), row in kept.items():
        if name == method and "error" not in row and (name, size) in speeds:
            middle, low, high = speeds[name, size]
            yield middle, row["quality"], low, high
