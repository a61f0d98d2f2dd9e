"""`polyprune report`, as a user types it."""

import csv
import io
import json

import pytest

from support.commands import polyprune

LINES = [
    {"study": "mine", "system": name, "title": title, "sparsity": sparsity, "task": "xnli",
     "regime": "transfer", "seed": 1, "mean": {"accuracy": score},
     "languages": {"sw": {"accuracy": score - 10}, "fr": {"accuracy": score + 10}}}
    for name, title, sparsity, score in (
        ("dense", "Dense", None, 60.0), ("grad", "Grad", 0.5, 50.0),
    )
]  # fmt: skip


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    text = "".join(f"{json.dumps(line)}\n" for line in LINES)
    (folder / "results.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_tables_are_printed_and_fit_a_terminal(results, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, told, _ = polyprune("report", results)
    assert status == 0
    assert "Dense" in told
    assert "60.0" in told
    assert max(map(len, told.splitlines())) <= 80


def test_a_page_tables_and_figures_are_written_and_told_of(results, tmp_path):
    places = {name: tmp_path / name for name in ("page.html", "tables", "figures")}
    words = ("--out", places["page.html"], "--tables", places["tables"], "--figures",
             places["figures"], "--formats", "svg")  # fmt: skip
    status, told, _ = polyprune("report", results, *words)
    assert status == 0
    assert "page.html" in told.replace("\n", "")
    assert places["page.html"].read_text().startswith("<!doctype html>")
    assert {path.suffix for path in places["tables"].iterdir()} == {".md", ".tex", ".csv"}
    assert {path.suffix for path in places["figures"].iterdir()} == {".svg"}
    status, _, error = polyprune("report", results, *words)
    assert status == 2
    assert "page.html exists already" in error.replace("\n", " ")
    assert polyprune("report", results, *words, "--force")[0] == 0


def test_nothing_is_overwritten_unless_told(results, tmp_path):
    (tmp_path / "main.tex").write_text("mine")
    status, _, error = polyprune("report", results, "--tables", tmp_path)
    assert status == 2
    assert "main.tex exists already" in error.replace("\n", "")
    assert (tmp_path / "main.tex").read_text() == "mine"
    assert not (tmp_path / "main.md").exists()


def test_one_table_in_another_form(results):
    status, told, _ = polyprune("report", results, "--only", "main", "--as", "csv")
    assert status == 0
    rows = list(csv.reader(io.StringIO(told)))
    assert len(rows) == 3
    assert len({len(row) for row in rows}) == 1


def test_everything_as_json(results):
    answer = json.loads(polyprune("report", results, "--json")[1])
    assert answer["title"] == "mine"
    cells = answer["tables"]["main"]["rows"][1]["cells"]
    assert {"text": "Grad"} in cells
    assert 50.0 in [value for cell in cells for value in cell.get("values", [])]
    assert answer["written"] == {}


def test_every_table_and_figure_of_the_paper_is_a_command():
    answer = json.loads(polyprune("report", "paper", "--json")[1])
    assert {"main", "improved-l0", "dynamic", "languages-xnli", "sizes"} <= set(answer["tables"])
    assert {"loss-by-corpus-size", "layer-sparsity", "by-sparsity", "component-sparsity",
            "layers-by-sparsity"} <= set(answer["figures"])  # fmt: skip


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("nowhere",), "There is no nowhere. Give the folder of a study"),
        (("paper", "--only", "mian"), "Unknown table or figure 'mian'. Did you mean 'main'?"),
        (("paper", "--as", "latx"), "Unknown form of a table 'latx'. Did you mean 'latex'?"),
        (("paper", "--figures", "f", "--formats", "svg,pgn"), "Unknown format 'pgn'"),
        (("paper", "--system", "dense"), "--system says whose results a card gets"),
    ],
)
def test_mistakes_get_one_sentence(words, why):
    status, told, error = polyprune("report", *words)
    assert (status, told) == (2, "")
    assert why in error.replace("\n", " ")


def test_a_damaged_line_is_named(results):
    (results / "sizes.jsonl").write_text('{"parameters": 1\n{"a": 1}\n')
    status, _, error = polyprune("report", results)
    assert status == 2
    assert "Line 1 of" in error


def test_of_several_studies_one_is_named(results):
    path = results / "results.jsonl"
    other = [line | {"study": "other", "mean": {"accuracy": 12.5}} for line in LINES]
    path.write_text(path.read_text() + "".join(f"{json.dumps(line)}\n" for line in other))
    status, _, error = polyprune("report", results)
    assert status == 2
    assert "holds several studies: mine, other. Say which with --study." in error.replace("\n", " ")
    told = polyprune("report", results, "--study", "other", "--only", "main")[1]
    assert "12.5" in told
    assert "60.0" not in told
    status, _, error = polyprune("report", results, "--study", "othre")
    assert (status, "Did you mean 'other'?" in error) == (2, True)


def test_what_failed_says_so_where_its_number_would_be(results):
    path = results / "results.jsonl"
    failed = LINES[1] | {"system": "l0", "title": "L0", "mean": None, "languages": {}}
    line = json.dumps(failed | {"failed": "The loss is no number."})
    path.write_text(path.read_text() + line + "\n")
    told = polyprune("report", results)[1]
    row = next(line for line in told.splitlines() if line.startswith("L0"))
    assert row.split()[-1] == "failed"
    assert "Failed: L0 50%, xnli, transfer, seed 1: The loss is no number." in told
