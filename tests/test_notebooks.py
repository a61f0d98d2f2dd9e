"""The notebooks in docs/ go through all the verbs, and run."""

import re

import pytest

from support.paths import REPOSITORY

NOTEBOOK = REPOSITORY / "docs" / "notebooks" / "prune-your-own.ipynb"
VERBS = ["score", "prune", "recover", "evaluate", "measure", "export", "report"]


def read(path):
    import nbformat

    return nbformat.read(path, as_version=4)


def cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_notebook_goes_through_the_verbs_in_their_order_and_keeps_no_output():
    notebook = read(NOTEBOOK)
    code = "\n".join(cell.source for cell in cells(notebook))
    called = [name for name in re.findall(r"pp\.(\w+)\(", code) if name in VERBS]
    assert called == VERBS
    assert not any(cell.outputs for cell in cells(notebook))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_notebook_runs(tmp_path):
    from nbclient import NotebookClient

    notebook = read(NOTEBOOK)
    place = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, resources=place).execute()
    assert all(cell.outputs for cell in cells(notebook))
    shown = [cell.outputs[-1] for cell in cells(notebook)]
    tables = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert len(tables) == len(VERBS) - 1
    assert all("<table>" in table for table in tables)
