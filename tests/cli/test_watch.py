"""`polyprune watch` shows any moment of a run or a study, in any terminal, and changes nothing."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from dataclasses import replace
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console, Group

from polyprune.cli.render.bars import ago, bar, curve
from polyprune.cli.render.watch_run import training_lines
from polyprune.cli.render.watch_study import study_lines
from polyprune.corpora.languages import languages
from polyprune.studies.standings import Standing
from polyprune.studies.study_progress import CellCount, CellState, StudyProgress
from polyprune.training.run_progress import RunProgress, RunSummary
from support.commands import answer, polyprune, refused
from support.run_folders import entry, record, write_run

HOSTILE = "[red]not red[/red] [/] \x1b[2J\n\r\t名前"


def rendered(lines, width=80):
    """What a terminal shows of lines, checked to be no wider than it is."""
    console = Console(file=StringIO(), width=width, force_terminal=False, highlight=False)
    console.print(Group(*lines))
    shown = console.file.getvalue().splitlines()
    assert len(shown) == len(lines)
    assert all(cell_len(each) <= width for each in shown)
    return "\n".join(shown)


def progress_of(held_out, dense=None, **changes):
    changes = {"losses": {"mlm": 3.0, "sparsity": 0.5, "total": 3.5}} | changes
    traces = {name: (9.0, 5.0, value) for name, value in changes["losses"].items()}
    return RunProgress(
        name="run",
        state="training",
        plan=RunSummary(
            "sprout", "sample", ("alpha-only", "joint"), 400, "learned", "non-shared", 0.5
        ),
        step=123,
        phase="joint",
        traces=traces,
        held_out=held_out,
        held_out_step=120 if held_out else None,
        dense=dense or {},
        **changes,
    )


CODES = list(languages())


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize("height", [5, 10, 24, 60])
@pytest.mark.parametrize("dense", [True, False])
def test_a_hundred_languages_fit_any_terminal(width, height, dense):
    losses = {code: 4 + i / 50 for i, code in enumerate(CODES)}
    progress = progress_of(losses, dict.fromkeys(CODES, 4.0) if dense else {})
    assert len(losses) == 100
    lines = training_lines(progress, width, height)
    assert len(lines) <= height
    rendered(lines, width)


def test_the_worst_of_a_hundred_are_shown_and_the_rest_is_counted():
    losses = {code: 4 + i / 50 for i, code in enumerate(CODES)}
    shown = rendered(training_lines(progress_of(losses), 80, 24))
    assert len(shown.splitlines()) == 24
    there = [code for code in CODES if f"{code} " in shown.split("held-out")[1]]
    assert CODES[-1] in there
    assert CODES[0] not in there
    assert f"and {100 - 3 * 14} more" in shown


def test_where_there_is_no_end_of_the_page_all_languages_are_shown():
    shown = rendered(training_lines(progress_of(dict.fromkeys(CODES, 4.0)), 80))
    assert all(f"{code} " in shown for code in CODES)
    assert "more" not in shown


def test_languages_that_lag_are_marked_and_the_worst_comes_first():
    held_out = {"en": 4.1, "sw": 4.1, "ur": 6.0}
    progress = progress_of(held_out, dict.fromkeys(held_out, 4.0), lagging=("ur",))
    shown = rendered(training_lines(progress, 80, 24))
    first, second, third = shown.splitlines()[-3:]
    assert first.startswith("ur ")
    assert "▼" in first
    assert "+50%" in first
    assert "▼" not in second + third
    assert all("│" in each for each in (first, second, third))
    assert "▼ lags behind dense" in shown


def test_one_language_an_unknown_one_and_one_that_is_no_number():
    assert "en " in rendered(training_lines(progress_of({"en": 3.0}), 80, 24))
    shown = rendered(training_lines(progress_of({"xx-unheard-of": 3.0, "en": None}), 80, 24))
    assert "xx-unh…" in shown
    worst = shown.splitlines()[-2]
    assert worst.startswith("en ")
    assert "–" in worst
    assert "█" not in worst
    assert rendered(training_lines(progress_of({"en": None}), 80, 24)).count("–") == 1


def test_losses_that_are_no_numbers_are_dashes():
    progress = progress_of({}, losses={"mlm": None, "total": None})
    progress = replace(progress, traces={"total": (None, None), "mlm": (None, None)})
    shown = rendered(training_lines(progress, 80, 24))
    assert "loss                 –" in shown
    assert "nothing held out was measured so far" in shown


def test_zero_losses_have_no_bars():
    shown = rendered(training_lines(progress_of({"en": 0.0, "sw": 0.0}, {"en": 0.0}), 80, 24))
    assert "0.000" in shown


def test_a_run_says_where_it_is_and_how_long_it_takes():
    progress = progress_of(
        {}, elapsed_seconds=61.0, left_seconds=3600.0, tokens_per_second=1234.0, density=0.5,
        expected_density=0.62, sizes={"en": 0.4, "sw": 0.6},
    )  # fmt: skip
    shown = rendered(training_lines(progress, 80, 24))
    for words in (
        "sprout · on sample · learned gates, non-shared, 50% cut",
        "step 123 of 400 · 31%",
        "joint, phase 2 of 2 · 1:01 elapsed · about 1:00:00 left · 1,234 tokens/s",
        "aims at 50% · 62% expected · 40% to 60% open in 2 rows",
    ):
        assert words in shown


def test_silence_is_told():
    progress = replace(progress_of({}), state="silent", silent_seconds=745.0)
    assert "nothing written for 12 min" in rendered(training_lines(progress, 80, 24))
    study = StudyProgress("study", "silent", planned=True, silent_seconds=7300.0)
    assert "nothing written for 2 h" in rendered(study_lines(study, 80, 24))


def test_names_are_shown_as_they_are_and_do_nothing():
    hostile = replace(
        progress_of({HOSTILE: 3.0, "[bold]": 2.0}),
        name=HOSTILE,
        phase=HOSTILE,
        losses={HOSTILE: 1.0, "total": 1.0, "[/x]": 2.0},
        plan=RunSummary(HOSTILE, HOSTILE, (HOSTILE,), 10, HOSTILE, HOSTILE, 0.5),
    )
    study = study_of([Standing(HOSTILE, 0.5, 50.0, ("xnli",), languages={HOSTILE: 50.0})])
    failed = CellState("model", HOSTILE, "failed", HOSTILE)
    study = replace(study, failed=(failed,), running=(failed,), training=(hostile,))
    for lines in (training_lines(hostile, 80, 24), study_lines(study, 80, 24)):
        shown = rendered(lines)
        assert "[red]not red[/red] [/]" in shown
        assert "\x1b" not in shown


def study_of(standings=(), **changes):
    counts = (CellCount("model", 3, 1, 1, 0, 4), CellCount("score", 2, 0, 0, 3, 20))
    return StudyProgress("study", "running", True, counts, standings=tuple(standings), **changes)


def test_a_study_says_what_is_done_runs_failed_and_is_to_do():
    failed = CellState("model", "model grad 50% seed 1", "failed", "The text is\nnot there.")
    running = CellState("score", "score dense xnli", "running")
    training = replace(progress_of({}), name="model l0 50% seed 1")
    study = study_of(failed=(failed,), running=(running,), training=(training,))
    shown = rendered(study_lines(study, 80, 24))
    for words in (
        "5 of 34 cells done · running",
        "3 of 9 · 1 running · 1 failed · 4 to do",
        "2 of 25 · 3 left out · 20 to do",
        "model grad 50% seed 1: The text is not there.",
        "model l0 50% seed 1",
        "step 123 of 400 · joint · loss 3.5",
        "score dense xnli",
    ):
        assert words in shown


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize("height", [5, 10, 24, 60])
def test_a_study_of_everything_fits_any_terminal(width, height):
    scores = {code: i / 2 for i, code in enumerate(CODES)} | {"xx": None}
    systems = [Standing(f"System {i}", i / 20, 50.0, ("xnli",), 0, scores) for i in range(20)]
    systems.append(Standing("Broken", None, None, (), 3))
    failed = CellState("tuned", "tuned " + 30 * "long ", "failed", "why " * 60)
    runs = tuple(replace(progress_of({}), name=f"model {i}") for i in range(9))
    study = study_of(systems, failed=(failed,) * 12, running=(failed,) * 9, training=runs)
    lines = study_lines(study, width, height)
    assert len(lines) <= height
    rendered(lines, width)
    whole = rendered(study_lines(study, width), width)
    assert whole.count("System") >= 20 or width < 40


def test_systems_have_their_means_and_those_that_failed_say_so():
    scored = Standing("Dense", None, 71.3, ("xnli", "udpos"), 0, {"en": 80.0, "sw": None})
    broken = Standing("Grad, shared", 0.5, None, (), 2)
    shown = rendered(study_lines(study_of([scored, broken]), 80, 24))
    dense, grad = (
        next(each for each in shown.splitlines() if each.startswith(name))
        for name in ("Dense  ", "Grad, shared, 50% cut")
    )
    assert "71.3" in dense
    assert "2 tasks" in dense
    assert "80" in dense
    assert "–" in dense
    assert "failed" in grad
    assert "–" in grad
    assert "█" not in grad


def test_bars_and_curves():
    assert bar(0.5, 8, "cyan").plain == "████    "
    assert bar(1.5, 4, "cyan").plain == "████"
    assert bar(None, 4, "cyan").plain == "    "
    assert bar(0.5, 8, "cyan", tick=0.8).plain == "████  │ "
    assert bar(0.5, 8, "cyan", tick=1.0).plain == "████   │"
    assert curve([float(each) for each in range(8)], 8) == "▁▂▃▄▅▆▇█"
    assert curve([1.0, None, 1.0], 8) == "▁ ▁"
    assert curve([None], 8) == ""
    assert len(curve([each / 7 for each in range(1000)], 30)) == 30
    assert [ago(each) for each in (5.0, 65.0, 7300.0, 200_000.0)] == [
        "5 s",
        "1 min",
        "2 h",
        "2 days",
    ]


def test_without_a_terminal_it_looks_once(tmp_path):
    run = write_run(tmp_path / "run", [entry(1), entry(2, held_out={"en": 3.0})])
    status, shown, _ = polyprune("watch", run)
    assert status == 0
    assert "step 2 of 40" in shown
    assert polyprune("watch", run, "--once")[1].splitlines()[1:2] == shown.splitlines()[1:2]


def test_the_state_is_one_json_object(tmp_path):
    run = write_run(tmp_path / "run", [entry(2, loss=None, held_out={"en": 3.0})], {"en": 2.0})
    found = answer("watch", run)
    assert (found["step"], found["plan"]["steps"]) == (2, 40)
    assert found["losses"] == {"mlm": None, "sparsity": 0.5, "total": None}
    assert (found["held_out"], found["dense"]) == ({"en": 3.0}, {"en": 2.0})


def test_a_study_is_told_from_a_run(tmp_path):
    (tmp_path / "study" / "cells").mkdir(parents=True)
    found = answer("watch", tmp_path / "study")
    assert (found["state"], found["counts"], found["planned"]) == ("preparing", [], False)


def test_what_cannot_be_watched_is_told_in_a_sentence(tmp_path):
    assert "does not exist. Give the folder of a polyprune train, finetune" in refused(
        tmp_path, "watch", tmp_path / "nowhere"
    )
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.json").write_text("[]")
    for path in (tmp_path / "other", tmp_path / "other" / "run.json"):
        assert "is neither a run nor a study" in refused(tmp_path, "watch", path)
    (tmp_path / "other" / "run.json").write_text(json.dumps(record())[:-5])
    assert "run.json is damaged" in refused(tmp_path, "watch", tmp_path / "other")


def test_looking_does_not_import_torch(tmp_path):
    run = write_run(tmp_path / "run", [entry(1)])
    (tmp_path / "study" / "cells").mkdir(parents=True)
    script = (
        "import sys; from pathlib import Path; from polyprune.cli.watch import watch\n"
        f"watch(Path({str(run)!r})); watch(Path({str(tmp_path / 'study')!r}))\n"
        "assert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True).returncode == 0


def watched_in_a_terminal(folder, until, then):
    """Watch in a terminal until a text appears, do something then; exit status and output."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "polyprune", "watch", str(folder), "--every", "0.1"]
    environment = os.environ | {"COLUMNS": "80", "LINES": "24", "TERM": "xterm"}
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
        # A shell that starts tests in the background lets them ignore Ctrl-C, and so would this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    os.close(theirs)
    seen, end = b"", time.monotonic() + 60
    acted = False
    while time.monotonic() < end:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                seen += os.read(ours, 65536)
            except OSError:  # it has closed its side
                break
        if not acted and until in seen.decode(errors="replace"):
            acted = True
            then(process)
    os.close(ours)
    try:
        return process.wait(10), seen.decode()
    finally:
        process.kill()
        process.wait()


def test_ctrl_c_ends_it_quietly(tmp_path):
    run = write_run(tmp_path / "run", [entry(1)])
    status, seen = watched_in_a_terminal(
        run, "step 1 of 40", lambda process: process.send_signal(signal.SIGINT)
    )
    assert status == 0
    assert "Traceback" not in seen
    assert "Aborted" not in seen


def test_it_follows_a_run_and_ends_when_that_does(tmp_path):
    run = write_run(tmp_path / "run", [entry(1)])

    def finish(_):
        with (run / "log.jsonl").open("a") as file:
            file.write(json.dumps(entry(40)) + "\n")
        (run / "model").mkdir()
        (run / "model" / "config.json").write_text("{}")

    status, seen = watched_in_a_terminal(run, "step 1 of 40", finish)
    assert status == 0
    assert "step 40 of 40 · 100%" in seen
    assert "finished" in seen
