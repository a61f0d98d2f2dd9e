"""What was kept of the uncut model, as a table and two sentences."""

from collections.abc import Iterator

from ..model.fidelity import Fidelity, LanguageFidelity
from ..reporting.tables.table import Table
from .result import make_table, wrapped

NOT_COMPARED = (
    "Nothing was compared with the uncut model: give `corpus`, with a folder of text, and not "
    "`compare=0`."
)

HEADINGS = {
    "agreement": "agreement",
    "neighbours": "neighbours\nkept",
    "cosine": "cosine",
    "correlation": "correlation",
    "loss": "loss",
}


def describe_fidelity(fidelity: Fidelity | None) -> Iterator[Table | str]:
    """Yield what each language kept, the worst first, and on which sentences."""
    if fidelity is None:
        yield NOT_COMPARED
        return
    worst, several = fidelity.worst, len(fidelity.languages) > 1
    order = sorted(fidelity.languages, key=lambda code: code != worst)
    rows = [
        [f"{code} (worst)" if several and code == worst else code, *_cells(each)]
        for code, each in ((code, fidelity.languages[code]) for code in order)
    ]
    if several:
        rows.append(["all", *_cells(fidelity.overall)])
    columns = ["language"]
    for measure in fidelity.overall.measures:
        columns += [HEADINGS.get(measure.name, measure.name), "95 % interval"]
    yield make_table(columns, rows, title="What was kept of the uncut model")
    yield wrapped(f"{fidelity.about_text()} {_meaning(fidelity)}")


def _cells(row: LanguageFidelity) -> list[str]:
    return [cell for measure in row.measures for cell in measure.shown()]


def _meaning(fidelity: Fidelity) -> str:
    """Say what the measures are, for whoever meets them for the first time."""
    names = {measure.name for measure in fidelity.overall.measures}
    if "neighbours" in names:
        return "Kept is a neighbour if the nearest other sentence is the same."
    if "loss" in names:
        return "Agreement is the same first guess for a masked word; the loss is that of guessing."
    if "correlation" in names:
        return "Correlation is that of both models' outputs."
    if "agreement" in names:
        return "Agreement is the same answer, right or wrong."
    return "Scores are by labels."
