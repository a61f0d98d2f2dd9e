"""`polyprune study` as a user types it."""

import json

import pytest

from support.commands import answer, polyprune, refused
from support.xtreme import xtreme_folder

SYSTEMS = """
model = "sprout"
corpus = "sample"
[[systems]]
name = "dense"
[[systems]]
name = "grad"
title = "Grad"
config = "grad.toml"
sizes = [0.5]
[[systems]]
name = "ds"
config = "ds.toml"
sizes = [0.3, 0.7]
[[tasks]]
name = "xnli"
epochs = 1
limit = 8
test_limit = 4
[[tasks]]
name = "tatoeba"
[quick]
rounds = 3
"""
RUN = """
[model]
start = "elsewhere"
[corpus]
block = 32
held_out = 4
[gating]
kind = "{}"
sentences = 2
[[phases]]
steps = 2
train = "weights"
[batch]
size = 2
micro_batch_size = 2
"""


@pytest.fixture
def config(tmp_path):
    (tmp_path / "grad.toml").write_text(RUN.format("fixed"))
    (tmp_path / "ds.toml").write_text(RUN.format("dynamic"))
    path = tmp_path / "mine.toml"
    path.write_text(f'data = "{xtreme_folder(tmp_path / "xtreme")}"\n{SYSTEMS}')
    return path


def test_a_plan_says_how_much_there_is_to_do(config, tmp_path):
    told = answer("study", config, "--out", tmp_path / "out", "--plan")
    assert told["plan"] == {
        "model": {"cells": 2, "to do": 2},
        "tuned": {"cells": 3, "to do": 3},
        "score": {"cells": 8, "to do": 8},
        "speed": {"cells": 4, "to do": 4},
    }
    table = polyprune("study", config, "--out", tmp_path / "out", "--plan")[1]
    assert "to do" in table
    assert not (tmp_path / "out").exists()


def test_mistakes_are_told_before_anything_is_written(config, tmp_path):
    told = refused(tmp_path, "study", config, "--out", tmp_path / "xtreme")
    assert "is not a study" in told
    wrong = ("study", config, "--out", tmp_path / "out", "--set")
    assert "There is no folder nowhere" in refused(tmp_path, *wrong, "data=nowhere")
    assert "Did you mean systems.0.title?" in refused(tmp_path, *wrong, "systems.0.titel=x")


@pytest.mark.slow
def test_a_study_runs_to_its_end_and_tells_what_failed(config, tmp_path):
    out = tmp_path / "out"
    bad = '[[systems]]\nname = "bad"\nconfig = "bad.toml"\ntasks = ["tatoeba"]\n'
    (tmp_path / "bad.toml").write_text(
        RUN.format("none").replace("[corpus]", "layers = 9\n[corpus]")
    )
    config.write_text(config.read_text().replace("[[tasks]]", f"{bad}[[tasks]]", 1))
    command = ("study", config, "--out", out, "--quick")
    status, stdout, error = polyprune(*command, "--workers", "1", "--json")
    assert status == 1
    assert "Failed: model bad seed 1" in error
    assert "1 cell failed, and 2 above were left out" in error
    told = json.loads(stdout)
    main, sizes = told["tables"]["main"], told["tables"]["sizes"]
    rows = [dict(zip(main["columns"], row["cells"], strict=True)) for row in main["rows"]]
    assert [(row["system"]["text"], row["cut %"]["values"]) for row in rows] == [
        ("dense", [None]), ("Grad", [50]), ("ds", [30]), ("ds", [70]), ("bad", [None]),
    ]  # fmt: skip
    assert [row["average"]["values"] == [None] for row in rows] == [False] * 4 + [True]
    parameters = [row["cells"][2]["values"][0] for row in sizes["rows"]]
    assert parameters[0] > parameters[2] > parameters[1] > parameters[3]
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert {line["study"] for line in lines} == {"mine-quick"}
    failed = [line for line in lines if "failed" in line]
    assert [(line["system"], line["mean"]) for line in failed] == [("bad", None)]
    assert all(line["languages"] or line in failed for line in lines)
    assert all(line["versions"] for line in lines)
    tables = (out / "tables.md").read_text()
    assert "| failed |" in tables
    assert "page.html" in {path.name for path in out.iterdir()}
    curves = [json.loads(line) for line in (out / "curves.jsonl").read_text().splitlines()]
    assert {line["system"] for line in curves} <= {"grad", "ds"}
    sizes = [json.loads(line) for line in (out / "sizes.jsonl").read_text().splitlines()]
    assert all(line["kept"] and line["whole"]["heads"] for line in sizes)
    left = answer(*command, "--plan")["to do"]
    assert left == ["model bad seed 1", "score bad tatoeba seed 1", "speed bad"]
    config.write_text(config.read_text().replace(bad, ""))
    status, table, _ = polyprune(*command)  # nothing is left to do
    assert status == 0
    assert "Grad" in table
    assert "times as fast" in table
    whole = answer("study", config, "--out", out, "--plan")  # only its speeds differ
    assert all(title.startswith("speed") for title in whole["to do"])
