"""`polyprune study` as a user types it."""

import json

import pytest

from support.commands import answer, polyprune, refused
from support.paths import REPOSITORY, SHARED
from support.xtreme import without_labels, xtreme_folder

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


def test_tests_without_labels_are_refused_before_anything_is_written(config, tmp_path):
    without_labels(tmp_path / "xtreme", tmp_path / "labels")
    command = ("study", config, "--out", tmp_path / "out")
    told = refused(tmp_path, *command)
    assert "cannot be scored: XNLI: there are no labels in the test files" in told
    assert "--labels" in told
    assert "--leave-out" in told
    assert "There is no folder nowhere" in refused(tmp_path, *command, "--labels", "nowhere")
    whole = answer(*command, "--labels", tmp_path / "labels", "--plan")["plan"]
    assert whole["score"]["cells"] == 8
    left = answer(*command, "--leave-out", "--plan")["plan"]
    assert (left["tuned"]["cells"], left["score"]["cells"]) == (0, 4)


OWN = """
from polyprune.pruning.criteria.criterion import RULES
from dataclasses import replace
mine = replace(RULES["fisher"], name="mine", by_weight=False)
"""


@pytest.mark.slow
def test_all_rules_and_ones_own_are_compared_from_one_config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_rules_of_study.py").write_text(OWN)
    text = (REPOSITORY / "configs/miniature/rules.toml").read_text(encoding="utf-8")
    mine = '[[systems]]\nname = "mine"\nrule = "own_rules_of_study:mine"\nsizes = [0.5]\n'
    (tmp_path / "rules.toml").write_text(text.replace("[[tasks]]", f"{mine}[[tasks]]", 1))
    told = answer("study", "rules.toml", "--out", "rules", "--quick")
    assert not told["failed"]
    rows = columns(told["tables"]["main"])
    assert len(rows) == 9
    assert all(row["POS"]["values"][0] is not None for row in rows)


CLAIM = """
[[claims]]
title = "Cutting costs something"
better = "dense"
worse = "grad"
"""


def columns(table):
    """The cells of each row by the titles of their columns."""
    return [dict(zip(table["columns"], row["cells"], strict=True)) for row in table["rows"]]


@pytest.mark.slow
def test_labels_a_grid_of_learning_rates_and_a_claim(config, tmp_path):
    without_labels(tmp_path / "xtreme", tmp_path / "labels")
    text = config.read_text().replace('[[systems]]\nname = "ds"\nconfig = "ds.toml"', "#")
    text = text.replace("sizes = [0.3, 0.7]", "")
    text = text.replace("epochs = 1", "epochs = 1\nlearning_rates = [1e-4, 1e-3]")
    config.write_text(f"rounds = 0\n{text}{CLAIM}")
    out = tmp_path / "out"
    told = answer("study", config, "--out", out, "--labels", tmp_path / "labels")["tables"]
    rows = columns(told["main"])
    assert [row["system"]["text"] for row in rows] == ["dense", "Grad"]
    assert all(row["XNLI"]["values"][0] is not None for row in rows)
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    tuned = [line for line in lines if line["task"] == "xnli"]
    assert len(tuned) == 2
    for line in tuned:
        tried = {each["learning_rate"]: each["dev"] for each in line["tuning"]["tried"]}
        assert tried.keys() == {1e-4, 1e-3}
        assert tried[line["tuning"]["learning_rate"]] == max(tried.values())
        assert line["baseline"].keys() == line["languages"].keys() == {"en", "ru", "sw"}
    assert all(row["XNLI"]["text"].count("×1") == 1 for row in columns(told["tuning"]))
    assert told["claims"]["notes"][-1].startswith("Of 1 claim, ")
    assert "Not trained alike: dense (not trained)" in told["training"]["notes"][0]
    assert "Of 1 claim, " in (out / "tables.md").read_text()
    again = answer("report", out)["tables"]
    assert again["claims"] == told["claims"]


REAL = SHARED / "data" / "xtreme"


@pytest.fixture
def real(tmp_path):
    """A few real examples as XTREME leaves them: test files without labels, which are elsewhere."""
    if not REAL.is_dir():
        pytest.skip(f"needs real files in {REAL}")
    data, labels = tmp_path / "real", tmp_path / "labels"
    for task, between in (("xnli", "\n"), ("udpos", "\n\n")):
        (data / task).mkdir(parents=True)
        (labels / task).mkdir(parents=True)
        for code in ("en", "de", "zh"):
            path = REAL / task / f"dev-{code}.tsv"
            known = path.read_text(encoding="utf-8").strip("\n").split(between)
            rows = [[line.split("\t") for line in each.split("\n")] for each in known[:60]]
            parts = {"train": rows[:30], "dev": rows[30:40]}
            for split, some in parts.items():
                lines = ("\n".join("\t".join(row) for row in each) for each in some)
                (data / task / f"{split}-{code}.tsv").write_text(between.join(lines) + between)
            for folder, part in ((data, slice(-1)), (labels, slice(-1, None))):
                lines = ("\n".join("\t".join(row[part]) for row in each) for each in rows[40:])
                (folder / task / f"test-{code}.tsv").write_text(between.join(lines) + between)
    return data


@pytest.mark.slow
def test_real_files_in_xtremes_layout_fill_the_tables_if_there_are_labels(real, tmp_path):
    config = tmp_path / "real.toml"
    config.write_text(
        f'data = "{real}"\nmodel = "sprout"\nrounds = 0\n[[systems]]\nname = "dense"\n'
        '[[tasks]]\nname = "xnli"\nepochs = 1\n[[tasks]]\nname = "udpos"\nepochs = 1\n'
        'regimes = ["transfer"]\n'
    )
    both = ("--set", 'regimes=["transfer", "translate-train-all"]')
    command = ("study", config, "--out", tmp_path / "out", *both)
    assert "XNLI: there are no labels in the test files; POS: there" in refused(tmp_path, *command)
    main = answer(*command, "--labels", tmp_path / "labels")["tables"]["main"]
    english, every = columns(main)
    assert all(0 <= english[task]["values"][0] <= 100 for task in ("XNLI", "POS"))
    assert every["XNLI"]["values"][0] is not None
    lines = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    assert all(set(json.loads(line)["languages"]) == {"en", "de", "zh"} for line in lines)


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
    assert [row["Tatoeba"]["values"] == [None] for row in rows] == [False] * 4 + [True]
    # Eight examples teach nobody anything, so there is nothing to take the mean of.
    assert all(row["average"]["values"] == [None] for row in rows)
    parameters = [row["cells"][2]["values"][0] for row in sizes["rows"]]
    assert parameters[0] > parameters[2] > parameters[1] > parameters[3]
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert {line["study"] for line in lines} == {"mine-quick"}
    failed = [line for line in lines if "failed" in line]
    assert [(line["system"], line["mean"]) for line in failed] == [("bad", None)]
    assert all(line["languages"] or line in failed for line in lines)
    assert all(line["versions"] for line in lines)
    tables = (out / "tables.md").read_text()
    assert "| *failed* |" in tables  # in italics, as all of a task that is not learned
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
