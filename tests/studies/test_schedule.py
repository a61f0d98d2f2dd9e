"""A study goes on after failures, deaths and interruptions, and does nothing twice."""

from collections import Counter
from dataclasses import replace

import pytest

from polyprune.errors import ConfigError
from polyprune.studies.cell_store import CellStore
from polyprune.studies.schedule import (
    ExecutionContext,
    ScheduleReport,
    next_cell,
    run_cells,
    time_left,
)
from support.fake_work import work
from support.small_study import STUDY, with_system
from support.small_study import graph_of as whole_graph


def graph_of(study=STUDY):
    """A graph whose workers need not import torch to read what they are to train."""
    graph = whole_graph(study)
    return replace(graph, cells={a: replace(c, payload=None) for a, c in graph.cells.items()})


@pytest.fixture
def place(tmp_path):
    (tmp_path / "wishes").mkdir()
    return ExecutionContext(
        CellStore(tmp_path / "out"), tmp_path / "start", str(tmp_path / "wishes"), 1, work
    )


def run(graph, place):
    """Conduct to the end: the report, and how many cells of each kind were begun."""
    report, log = ScheduleReport(), place.store.out.parent / "wishes" / "done.txt"
    log.write_text("")
    states = list(run_cells(graph, place, report))
    return report, Counter(line.split()[1] for line in log.read_text().splitlines()), states


def test_all_is_done_once_models_that_were_scored_are_gone_and_speeds_come_last(place):
    graph, store = graph_of(), place.store
    report, begun, states = run(graph, place)
    assert not report.failed
    assert begun == Counter(cell.kind for cell in graph.cells.values())
    assert states[-1].done == states[-1].total == len(graph.cells)
    for cell in graph.cells.values():
        assert store.record(cell.address)["status"] == "done"
        assert store.model(cell.address).is_dir() == (cell.kind == "model")
    order = [line.split()[1] for line in (place.store.out.parent / "wishes" / "done.txt")
             .read_text().splitlines()]  # fmt: skip
    assert set(order[-6:]) == {"speed"}
    assert (store.folder(cell.address) / "output.txt").read_text() == "chatter\n"
    assert not run(graph, place)[1]
    more = graph_of(with_system("ds", sizes=(0.3, 0.5, 0.7)))
    assert run(more, place)[1] == {"tuned": 2, "score": 4, "speed": 1}


@pytest.mark.parametrize(
    ("wish", "told"), [("fail", "The text is not there."), ("kill", "killed (SIGKILL)")]
)
def test_what_fails_or_is_killed_is_told_and_tried_again(place, wish, told):
    few = replace(STUDY, systems=STUDY.systems[:2], seeds=(1,), rounds=0)
    graph, path = graph_of(few), place.store.out.parent / "wishes" / wish
    path.touch()
    report, begun, states = run(graph, place)
    assert begun == {"tuned": 1, "score": 2, "model": 1}
    ((address, why),) = report.failed.items()
    assert told in why
    assert len(report.skipped) == 3
    assert set(report.skipped.values()) == {address}
    assert (states[-1].done, states[-1].total) == (3, 7)
    assert place.store.record(address)["status"] == "failed"
    path.unlink()
    report, begun, _ = run(graph, place)
    assert not report.failed
    assert begun == {"model": 1, "tuned": 1, "score": 2}


def test_stopped_it_goes_on(place):
    few = replace(STUDY, systems=STUDY.systems[:2], seeds=(1,), rounds=0)
    graph, wishes = graph_of(few), place.store.out.parent / "wishes"
    (wishes / "wait").touch()
    log = wishes / "done.txt"
    stopping = replace(place, stop=log.is_file)
    report = ScheduleReport()
    states = list(run_cells(graph, stopping, report))
    assert report.stopped
    assert not report.failed
    assert not any(state.ended for state in states)
    assert (states[-1].done, states[-1].total) == (0, 7)
    (wishes / "wait").unlink()
    assert sum(run(graph, place)[1].values()) == len(graph.cells)


def test_scores_come_first_and_speeds_alone():
    graph = graph_of(replace(STUDY, tasks=STUDY.tasks[:1]))
    pending = dict(graph.cells)
    tuned = next(cell for cell in pending.values() if cell.kind == "tuned")
    assert next_cell(pending, {}) is tuned
    del pending[tuned.address]
    following = next_cell(pending, {})
    assert following is not None
    assert (following.kind, following.needs) == ("score", (tuned.address,))
    speeds = {address: cell for address, cell in pending.items() if cell.kind == "speed"}
    first = next_cell(speeds, {})
    assert first is not None
    rest = {address: cell for address, cell in speeds.items() if cell is not first}
    assert next_cell(rest, {first.address: first}) is None
    assert next_cell(speeds, {tuned.address: tuned}) is None


def test_the_time_left_is_guessed_by_kind():
    assert time_left(["score"], {}, 2) is None
    assert time_left(["score", "score", "model"], {"score": [1.0, 3.0], "model": [10.0]}, 2) == 7
    assert time_left(["speed", "tuned"], {"score": [4.0]}, 2) == 6
    assert time_left([], {"score": [4.0]}, 2) == 0


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(ConfigError, match="is not a study"):
        CellStore(tmp_path).check()
    with pytest.raises(ConfigError, match="is a file"):
        CellStore(tmp_path / "thesis.txt").check()
    CellStore(tmp_path / "new").check()


def test_two_studies_do_not_work_in_one_folder_at_once(tmp_path):
    store = CellStore(tmp_path / "out")
    with store.alone(), pytest.raises(ConfigError, match="Another study is at work"):
        store.alone().__enter__()
    with store.alone():
        pass


def test_a_damaged_record_is_no_record(place):
    cell = next(iter(graph_of().cells.values()))
    place.store.write(cell, "done", 1.0)
    (place.store.folder(cell.address) / "cell.json").write_text("[")
    assert not place.store.is_done(cell)
