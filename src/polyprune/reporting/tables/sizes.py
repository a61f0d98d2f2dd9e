"""The table of sizes and speeds."""

import math
from collections.abc import Sequence

from ...averages import Value, number
from ..results import Results, SystemSize
from .layout import paper_cells, row_order, system_cells
from .paper_values import PaperValues
from .table import Table, TableCell, TableRow

COLUMNS = {
    "parameters, M": ("parameters", 1e6),
    "in layers, M": ("layer_parameters", 1e6),
    "MB": ("bytes", 1e6),
    "multiply–adds, M": ("multiply_adds", 1e6),
    "sentences/s": ("sentences_per_second", 1.0),
    "on a GPU": ("gpu_sentences_per_second", 1.0),
    "times as fast": ("faster", 1.0),
    "at least": ("low", 1.0),
    "at most": ("high", 1.0),
}
"""The field of each column, and its divisor."""

RATIO = 2
"""The digits of ratios of speeds."""


def sizes_table(results: Results, paper: PaperValues) -> Table | None:
    """Show how large and how fast each system is, without columns that have no numbers."""
    systems = row_order(each.system for each in results.sizes)
    # A system that was measured twice has two rows.
    sizes = [each for system in systems for each in results.sizes if each.system == system]
    systems = [each.system for each in sizes]
    columns = {title: _column(sizes, *how) for title, how in COLUMNS.items()}
    columns = {
        title: cells
        for title, cells in columns.items()
        if any(cell.values != (None,) for cell in cells)
    }
    if not columns:
        return None
    lines = list(zip(*columns.values(), strict=True))
    fields = [COLUMNS[title][0] for title in columns]
    touched = set()
    for system, line in zip(systems, lines, strict=True):
        touched |= paper_cells(paper, system, fields, line)
    caption = ""
    if "at least" in columns or "at most" in columns:
        caption = "At least and at most: the 95 % interval of how many times as fast."
    rows = (TableRow((*system_cells(s), *line)) for s, line in zip(systems, lines, strict=True))
    return Table(
        "sizes",
        "Size and speed",
        ("system", "cut %", *columns),
        tuple(rows),
        caption,
        naming=2,
        paper_notes=paper.notes("sizes", touched),
    )


def _column(sizes: Sequence[SystemSize], field: str, unit: float) -> list[TableCell]:
    values = [number(getattr(each, field)) for each in sizes]
    scaled = [None if value is None else value / unit for value in values]
    digits = RATIO if field in ("faster", "low", "high") else _digits(scaled)
    return [TableCell((value,), digits=digits) for value in scaled]


def _digits(values: Sequence[Value]) -> int:
    """Return as many digits as the smallest value needs: 0.031 is not shown as 0.0."""
    known = [abs(value) for value in values if value]
    if all(value == round(value) for value in known):
        return 0
    size = math.floor(math.log10(min(known)))
    return 0 if size > 1 else min(6, max(1, 1 - size))
