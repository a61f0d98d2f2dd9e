"""Progress: what is passed on, what is drawn, and when nothing is."""

import io

import pytest
from rich.console import Console

from polyprune.progress import SILENT, Bars, Progress, Silent, progress_of


def a_terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=120, color_system=None)


def shown(console: Console) -> str:
    return console.file.getvalue()  # pyright: ignore


@pytest.mark.parametrize("progress", [SILENT, Bars(), Bars(console=a_terminal())])
def test_items_are_passed_on_in_any_stage_and_in_none(progress):
    assert isinstance(progress, Progress)
    assert list(progress.track("outside", range(3))) == [0, 1, 2]
    with progress.stage("Outer", 2), progress.stage("Inner"):
        assert list(progress.track("sw", "abc")) == ["a", "b", "c"]
        progress.update(2, "loss 1")
    assert not progress.should_stop()


def test_a_terminal_shows_the_stage_what_is_done_and_what_is_said():
    console = a_terminal()
    progress = Bars(console=console)
    with progress.stage("Scoring", 2):
        progress._drawn = float("-inf")
        for _ in progress.track("sw", range(2)):
            progress.message("a [line] that stays")
        progress._drawn = float("-inf")
        progress.update(2, "loss 3.14")
    text = shown(console)
    assert "Scoring sw" in text
    assert "2/2" in text
    assert "loss 3.14" in text
    assert "a [line] that stays\n" in text


def test_stages_nest_and_leave_nothing_open():
    console = a_terminal()
    progress = Bars(console=console)
    with pytest.raises(KeyError), progress.stage("Outer"), progress.stage("Inner", 5):
        raise KeyError
    assert console._live_stack == []
    with progress.stage("Again", 1):
        assert list(progress.track("", [1])) == [1]


def test_nothing_is_drawn_where_nobody_watches(monkeypatch):
    assert progress_of(None) is SILENT  # pytest's stderr is no terminal
    assert progress_of(False) is SILENT
    file = Console(file=io.StringIO())
    with Bars(console=file).stage("Scoring", 2):
        pass
    assert shown(file) == ""
    monkeypatch.setenv("RANK", "1")
    second = Bars(console=a_terminal())
    with second.stage("Scoring", 2):
        second.message("a line")
    assert shown(second.console) == ""


def test_messages_reach_a_log_file():
    file = Console(file=io.StringIO())
    Bars(console=file).message("Step 4: held-out loss 2.5")
    assert shown(file) == "Step 4: held-out loss 2.5\n"


def test_a_progress_is_taken_as_it_is_and_may_ask_to_stop():
    progress = Silent(should_stop=lambda: True)
    assert progress_of(progress) is progress
    assert progress.should_stop()
