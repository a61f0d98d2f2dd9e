"""A study is understood from its files at any time, by somebody who only reads."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from polyprune.studies.cell_store import CellStore
from polyprune.studies.schedule import ExecutionContext, ScheduleReport, run_cells
from polyprune.studies.standings import standings
from polyprune.studies.study_progress import StudyReader, is_study, write_plan
from support import fake_work
from support.run_folders import NOW, entry, touch, write_run
from support.small_study import graph_of


def read(folder, now=NOW):
    found = StudyReader(folder).read(now)
    assert found is not None
    return found


def kind_of(found, kind):
    return next(count for count in found.counts if count.kind == kind)


@pytest.fixture
def planned(tmp_path):
    """A study whose cells are known, and none of them begun."""
    graph = graph_of()
    write_plan(graph, tmp_path)
    touch(tmp_path / "cells" / "plan.json", 5)
    return graph, CellStore(tmp_path)


def begin(store, address, ago=10.0):
    folder = store.folder(address)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "place.txt").write_text("here")
    touch(folder / "place.txt", ago)


def end(store, cell, status, ago=2.0, **more):
    begin(store, cell.address, ago + 5)
    store.write(cell, status, 5.0, **more)
    touch(store.folder(cell.address) / "cell.json", ago)


def cells_of(graph, kind):
    return [cell for cell in graph.cells.values() if cell.kind == kind]


def test_before_the_first_cell_all_is_to_do(planned):
    graph, store = planned
    found = read(store.out)
    assert found.state == "preparing"
    assert found.planned
    assert found.whole.to_do == found.whole.total == len(graph.cells)
    assert [count.kind for count in found.counts] == ["model", "tuned", "score", "speed"]


def test_cells_are_done_running_failed_left_out_or_to_do(planned):
    graph, store = planned
    done, failed, running = cells_of(graph, "model")[:3]
    end(store, done, "done", result={})
    end(store, failed, "failed", error="The text is\nnot there.")
    begin(store, running.address)
    found = read(store.out)
    models = kind_of(found, "model")
    assert (models.done, models.failed, models.running) == (1, 1, 1)
    assert models.total == len(cells_of(graph, "model"))
    above = [cell for cell in graph.cells.values() if failed.address in cell.needs]
    assert sum(count.left_out for count in found.counts) > len(above) > 0
    assert [(cell.title, cell.error) for cell in found.failed] == [
        (failed.title, "The text is\nnot there.")
    ]
    assert [cell.title for cell in found.running] == [running.title]
    assert found.whole.total == len(graph.cells)
    assert found.state == "running"


def test_one_that_is_tried_again_runs(planned):
    graph, store = planned
    failed = cells_of(graph, "model")[0]
    end(store, failed, "failed", ago=100, error="No.")
    assert read(store.out).whole.failed == 1
    begin(store, failed.address, ago=3)
    found = read(store.out)
    assert (found.whole.failed, found.whole.running, found.whole.left_out) == (0, 1, 0)


def test_what_is_being_trained_tells_its_loss(planned):
    graph, store = planned
    first, second = cells_of(graph, "model")[:2]
    for cell, last in ((first, 30), (second, 1)):
        begin(store, cell.address, ago=90)
        write_run(store.folder(cell.address) / "run", [entry(7, loss=2.5)], last=last)
    found = read(store.out)
    assert [run.name for run in found.training] == [second.title, first.title]
    assert found.training[0].losses["total"] == 2.5
    assert found.silent_seconds == pytest.approx(1)


def test_a_killed_one_says_for_how_long_nothing_was_written(planned):
    graph, store = planned
    begin(store, cells_of(graph, "model")[0].address, ago=720)
    touch(store.out / "cells" / "plan.json", 800)
    found = read(store.out)
    assert (found.state, found.silent_seconds) == ("silent", pytest.approx(720))


def test_cells_of_another_study_in_the_folder_are_not_counted(planned):
    graph, store = planned
    begin(store, "0" * 20)
    assert read(store.out).whole.total == len(graph.cells)
    assert read(store.out).whole.running == 0


def test_without_a_plan_it_says_what_there_is(planned):
    graph, store = planned
    end(store, cells_of(graph, "speed")[0], "done", result={})
    begin(store, "0" * 20)
    (store.out / "cells" / "plan.json").unlink()
    found = read(store.out)
    assert not found.planned
    assert (found.whole.done, found.whole.running, found.whole.to_do) == (1, 1, 0)
    assert found.running[0].title == "0" * 20


def test_a_damaged_record_is_one_of_a_cell_that_is_not_done(planned):
    graph, store = planned
    cell = cells_of(graph, "model")[0]
    end(store, cell, "done", result={})
    (store.folder(cell.address) / "cell.json").write_text("{")
    assert read(store.out).whole.running == 1


def test_records_are_read_again_only_when_they_change(planned, monkeypatch):
    graph, store = planned
    cells = cells_of(graph, "model")
    end(store, cells[0], "done", result={})
    reader = StudyReader(store.out)
    reader.read(NOW)
    read_names = []
    was = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda self, *a, **k: read_names.append(self.name) or was(self, *a, **k)
    )
    reader.read(NOW)
    assert "cell.json" not in read_names
    end(store, cells[1], "done", ago=1, result={})
    assert reader.read(NOW).whole.done == 2
    assert read_names.count("cell.json") == 1


def test_a_folder_without_cells_is_no_study(tmp_path):
    assert not is_study(tmp_path)
    assert StudyReader(tmp_path).read(NOW) is None
    assert StudyReader(tmp_path / "nowhere").read(NOW) is None


def line(system, task, seed=1, sparsity=None, **languages):
    scores = {code: {"f1": value} for code, value in languages.items()}
    known = [value for value in languages.values() if value is not None]
    mean = {"f1": sum(known) / len(known)} if known else None
    head = {"study": "study", "system": system, "title": system.title(), "sparsity": sparsity}
    return head | {"task": task, "seed": seed, "mean": mean, "languages": scores}


def test_systems_stand_where_their_scores_put_them(tmp_path):
    lines = [
        line("dense", "xnli", seed=1, en=80.0, sw=60.0),
        line("dense", "xnli", seed=2, en=84.0, sw=64.0),
        line("dense", "udpos", en=90.0, ur=50.0),
        line("grad", "xnli", sparsity=0.5, en=70.0, sw=None),
        line("grad", "xnli", sparsity=0.7) | {"failed": "The text is not there."},
    ]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines) + '{"half')
    dense, half, most = standings(path)
    assert dense.mean == pytest.approx((72 + 70) / 2)
    assert dense.languages == pytest.approx({"en": 86.0, "sw": 62.0, "ur": 50.0})
    assert dense.tasks == ("xnli", "udpos")
    assert (half.sparsity, half.mean, half.languages) == (0.5, 70.0, {"en": 70.0, "sw": None})
    assert (most.mean, most.failed, most.tasks) == (None, 1, ())


def test_a_real_study_is_followed_to_its_end_without_a_trace(tmp_path):
    (tmp_path / "wishes").mkdir()
    graph, store = graph_of(), CellStore(tmp_path / "study")
    cells = {address: replace(cell, payload=None) for address, cell in graph.cells.items()}
    graph = replace(graph, cells=cells)
    place = ExecutionContext(store, tmp_path / "start", str(tmp_path / "wishes"), 1, fake_work.work)
    reader, done = StudyReader(store.out), []
    for _ in run_cells(graph, place, ScheduleReport()):
        done.append(reader.read(time.time()).whole.done)
    assert done == sorted(done)
    before = sorted(store.out.rglob("*"))
    found = reader.read(time.time())
    assert sorted(store.out.rglob("*")) == before
    assert (found.state, found.whole.done) == ("finished", len(graph.cells))
