"""The graph of a study: which cells there are, and what changes their addresses."""

from collections import Counter
from dataclasses import replace

import pytest

from polyprune.errors import ConfigError
from polyprune.studies.cell_work import make_model
from polyprune.studies.pool import Job
from polyprune.studies.study_cells import plan_cells
from polyprune.studies.study_config import Study, SystemConfig, TaskConfig, scored_combinations
from polyprune.studies.study_files import CellFiles
from polyprune.training.run_sections import FreshConfig, SavingConfig, StartConfig, TeacherConfig
from support.small_study import PLAIN, PRINTS, RUNS, STUDY, graph_of, with_system, with_task


def touched(study=STUDY, runs=RUNS, prints=PRINTS):
    """What of the new study is not in the old one: (kind, system) with how many cells."""
    old, new = graph_of(), graph_of(study, runs, prints)
    cells = [new.cells[address] for address in new.cells.keys() - old.cells.keys()]
    return Counter((cell.kind, cell.about["system"]) for cell in cells)


def test_cells_are_those_that_the_grid_needs():
    kinds = Counter((cell.kind, cell.about["system"]) for cell in graph_of().cells.values())
    assert kinds == {
        ("tuned", "dense"): 2, ("score", "dense"): 3, ("speed", "dense"): 1,
        ("model", "small"): 2, ("tuned", "small"): 2, ("score", "small"): 4, ("speed", "small"): 1,
        ("model", "grad"): 4, ("tuned", "grad"): 4, ("score", "grad"): 8, ("speed", "grad"): 2,
        ("model", "ds"): 2, ("tuned", "ds"): 2, ("score", "ds"): 8, ("speed", "ds"): 2,
    }  # fmt: skip


def test_cells_come_after_those_they_are_built_on_and_seeds_before_systems():
    graph = graph_of()
    order = list(graph.cells)
    for address, cell in graph.cells.items():
        assert all(order.index(need) < order.index(address) for need in cell.needs)
    seeds = [graph.cells[address].about.get("seed") for address in order]
    assert seeds[: seeds.index(2)].count(1) == seeds.count(1)


@pytest.mark.parametrize(
    ("study", "expected"),
    [
        (STUDY, {}),
        (replace(STUDY, name="other"), {}),
        (with_system("grad", title="Another title"), {}),
        (with_task("xnli", test_limit=5), {("score", n): 2 * (1 + (n in ("grad", "ds")))
                                          for n in ("dense", "small", "grad", "ds")}),
        (with_system("small", steps=3),
         {("model", "small"): 2, ("tuned", "small"): 2, ("score", "small"): 4,
          ("speed", "small"): 1}),
        (with_system("grad", sizes=(0.3, 0.5, 0.7)),
         {("model", "grad"): 2, ("tuned", "grad"): 2, ("score", "grad"): 4, ("speed", "grad"): 1}),
        (with_system("ds", sizes=(0.3, 0.5, 0.7)), {("score", "ds"): 4, ("speed", "ds"): 1}),
        (with_system("ds", cut_first=True), {("tuned", "ds"): 4, ("score", "ds"): 4}),
        (replace(STUDY, rounds=7), {("speed", "dense"): 1, ("speed", "small"): 1,
                                    ("speed", "grad"): 2, ("speed", "ds"): 2}),
        (replace(STUDY, rounds=0), {}),
        (replace(STUDY, seeds=(2, 1)), {("speed", n): 1 + (n in ("grad", "ds"))
                                       for n in ("small", "grad", "ds")}),
    ],
    ids=["same", "name", "title", "test limit", "steps", "size", "ds size", "cut", "rounds",
         "no speed", "order of seeds"],
)  # fmt: skip
def test_a_change_touches_what_is_above_it_and_nothing_else(study, expected):
    assert touched(study) == expected


def test_every_setting_of_a_task_touches_its_own_cells():
    for change in ({"epochs": 2}, {"learning_rate": 1e-3}, {"batch": 8}, {"words": False}):
        found = touched(with_task("xnli", **change))
        assert {kind for kind, _ in found} == {"tuned", "score"}
        assert sum(found.values()) == 10 + 12


def test_files_touch_what_reads_them():
    everything = len(graph_of().cells)
    assert sum(touched(prints=replace(PRINTS, model="other")).values()) == everything
    on_data = touched(prints=replace(PRINTS, data="other"))
    assert {kind for kind, _ in on_data} == {"tuned", "score"}
    assert not any(system == "dense" for _, system in touched(prints=replace(PRINTS, corpus="o")))


def test_how_a_run_is_saved_is_not_what_it_makes():
    saved = replace(PLAIN, saving=SavingConfig(every=3, held_out_every=2))
    assert not touched(runs=RUNS | {"small": saved})
    chosen = replace(saved, saving=replace(saved.saving, final="best"))
    assert {system for _, system in touched(runs=RUNS | {"small": chosen})} == {"small"}


def test_paths_are_not_part_of_an_address_but_of_the_work():
    here, there = (plan_cells(STUDY, RUNS, PRINTS, path) for path in ("here", "there"))
    assert here.cells.keys() == there.cells.keys()
    runs = [cell.payload for cell in there.cells.values() if cell.kind == "model"]
    assert {run.model.start for run in runs} == {"there"}


def test_fresh_students_get_the_tokenizer_and_the_teacher():
    fresh = StartConfig(fresh=FreshConfig(tokenizer="runs/x"))
    run = replace(PLAIN, model=fresh, teacher=TeacherConfig(start="runs/x"))
    graph = plan_cells(STUDY, RUNS | {"small": run}, PRINTS, "there")
    made = next(c.payload for c in graph.cells.values() if c.title.startswith("model small"))
    assert made.model.start == "fresh"
    assert (made.model.fresh.tokenizer, made.teacher.start) == ("there", "there")


def test_seeds_regimes_and_tasks_can_be_less_for_some():
    both = ("transfer", "translate-train-all")
    study = Study(
        model="m",
        systems=(
            SystemConfig("a"),
            SystemConfig("b", tasks=("xnli",), regimes=("transfer",), seeds=(1, 2)),
        ),
        tasks=(
            TaskConfig("xnli", regimes=both[:1]),
            TaskConfig("xnli", regimes=both[1:], seeds=(1,)),
            TaskConfig("udpos", seeds=(3,)),
        ),
        seeds=(1, 2, 3),
        regimes=both,
    )
    found = {
        s.name: [(p.name, r, n) for p, r, n in scored_combinations(study, s)] for s in study.systems
    }
    assert found["b"] == [("xnli", "transfer", 1), ("xnli", "transfer", 2)]
    assert found["a"] == [
        *(("xnli", "transfer", seed) for seed in (1, 2, 3)),
        ("xnli", both[1], 1), ("udpos", both[0], 3), ("udpos", both[1], 3),
    ]  # fmt: skip


def runs_of(study=STUDY):
    """The runs of a study's trainings, by system and seed."""
    cells = [cell for cell in graph_of(study).cells.values() if cell.kind == "model"]
    return {(cell.about["system"], cell.about["seed"]): cell.payload for cell in cells}


def test_all_systems_get_the_steps_of_the_study_unless_they_have_their_own():
    runs = runs_of(with_system("small", replace(STUDY, steps=9), steps=3))
    assert {name: run.steps for (name, _), run in runs.items()} == {"small": 3, "grad": 9, "ds": 9}


def test_one_training_serves_all_seeds_if_asked():
    once = replace(STUDY, train_once=True)
    assert {seed for _, seed in runs_of(once)} == {1}
    graph = graph_of(once)
    tuned = [c for c in graph.cells.values() if c.kind == "tuned" and c.about["system"] == "small"]
    assert len(tuned) == 2
    assert len({cell.needs for cell in tuned}) == 1
    assert {s.seed for s in graph.scores if s.task == "tatoeba"} == {1}


def test_labels_and_grids_touch_what_depends_on_them():
    labelled = touched(prints=replace(PRINTS, labels="other"))
    assert {kind for kind, _ in labelled} == {"score"}
    found = touched(with_task("xnli", learning_rates=(1e-3, 2e-3)))
    assert {kind for kind, _ in found} == {"tuned", "score"}


def test_a_finished_run_is_taken_as_it_is(tmp_path):
    for size, seed in ((0.3, 1), (0.3, 2), (0.5, 1), (0.5, 2)):
        folder = tmp_path / f"{size}-{seed}"
        (folder / "model").mkdir(parents=True)
        (folder / "model" / "config.json").write_text(folder.name)
        (folder / "log.jsonl").write_text('{"step": 4, "held_out": {"sw": 2.5}}\n')
    graph = graph_of(with_system("grad", trained=f"{tmp_path}/{{size}}-{{seed}}"))
    cells = [c for c in graph.cells.values() if c.kind == "model" and c.about["system"] == "grad"]
    assert len({cell.address for cell in cells}) == 4
    cell = cells[0]
    job = Job(cell.address, "model", cell.settings, tmp_path / "cell", (), tmp_path, "",
              payload=cell.payload)  # fmt: skip
    result = make_model(job, lambda: False)
    assert result == {"steps": 4, "curve": [{"step": 4, "held_out": {"sw": 2.5}}]}
    text = (CellFiles(tmp_path / "cell").model / "config.json").read_text()
    assert text == f"{cell.about['size']}-{cell.about['seed']}"
    with pytest.raises(ConfigError, match="There is no finished run nowhere"):
        graph_of(with_system("grad", trained="nowhere"))
