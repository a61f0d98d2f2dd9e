"""Calls in turns, on a clock that only the calls move."""

import pytest

from polyprune.errors import ConfigError
from polyprune.measuring.turns import in_turns, take_turns
from support.clocks import Time


@pytest.fixture(autouse=True)
def without_a_second_for_garbage(monkeypatch):
    """A test process has a lot of it, and nothing here is really timed."""
    monkeypatch.setattr("polyprune.measuring.turns.gc.collect", lambda: 0)


def test_every_round_calls_all_in_an_order_drawn_anew():
    time = Time()
    calls = [time.takes("a", 1.0), time.takes("b", 2.0), time.takes("c", 4.0)]
    seconds = in_turns(calls, 60, warmup=1, clock=time)
    assert seconds.tolist() == [[1.0, 2.0, 4.0]] * 60
    called = "".join(time.called)
    rounds = [called[i : i + 3] for i in range(0, len(called), 3)]
    assert rounds[0] == "abc"  # the warm-up
    assert {"".join(sorted(each)) for each in rounds} == {"abc"}
    assert len(set(rounds[1:])) == 6
    followers = [called[i + 1] for i in range(3, len(called) - 1) if called[i] == "a"]
    assert all(followers.count(each) >= 15 for each in "bc")


def test_the_order_is_the_same_every_time():
    orders = []
    for _ in range(2):
        time = Time()
        in_turns([time.takes("a", 1.0), time.takes("b", 1.0)], range(9), clock=time)
        orders.append(time.called)
    assert orders[0] == orders[1]


def test_short_calls_are_repeated_within_a_reading():
    time = Time()
    calls = [time.takes("a", 2**-9), time.takes("b", 1.0)]  # about 2 ms, exactly
    turns = take_turns(calls, 2, warmup=1, clock=time)
    assert turns.seconds.tolist() == [[2**-9, 1.0]] * 2
    assert time.called.count("a") == 1 + 2 * 3
    assert time.called.count("b") == 1 + 2
    assert [len(each) for each in turns.singles] == [6, 2]


def test_without_a_warm_up_each_is_called_once_a_round():
    time = Time()
    in_turns([time.takes("a", 1e-6)], 3, warmup=0, clock=time)
    assert time.called == ["a"] * 3


def test_no_rounds_are_refused():
    with pytest.raises(ConfigError, match="one round or more"):
        in_turns([lambda: None], 0, warmup=0)
