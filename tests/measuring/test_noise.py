"""A machine that is not quiet, from books that are made up."""

import pytest

from polyprune.measuring import noise
from polyprune.measuring.noise import Noise, TooNoisy, monitor_noise
from polyprune.measuring.speed import SpeedResult

QUIET = SpeedResult(1.0, 1.0, 0.99, 1.01, spread=0.01, calls=100)


@pytest.fixture
def books(tmp_path, monkeypatch):
    """Files as Linux keeps them, and a function that writes what they say."""
    monkeypatch.setattr(noise, "STAT", tmp_path / "stat")
    monkeypatch.setattr(noise, "PRESSURE", tmp_path / "pressure")
    monkeypatch.setattr(noise, "UPTIME", tmp_path / "uptime")

    def write(stolen: int, waited: float, up: float) -> None:
        busy = round(200 * up) - stolen  # a hundredth of a second on each of two processors
        (tmp_path / "stat").write_text(f"cpu  {busy} 0 0 0 0 0 0 {stolen} 0 0\ncpu0 1 2 3\n")
        (tmp_path / "pressure").write_text(
            f"some avg10=0.00 avg60=0.00 avg300=0.00 total={round(1e6 * waited)}\nfull total=0\n"
        )
        (tmp_path / "uptime").write_text(f"{up:.2f} 0.0\n")

    write(0, 5.0, 100.0)
    return write


def test_the_books_are_read_before_and_after(books):
    with monitor_noise() as watched:
        books(stolen=60, waited=6.0, up=110.0)  # of 10 seconds on two processors
    found = watched.noise([QUIET])
    assert found.steal == pytest.approx(60 / 2000)
    assert found.pressure == pytest.approx(0.1)
    assert found.spread == 0.01
    assert found.width == pytest.approx(0.01, abs=1e-3)
    assert found.warnings() == [
        "the host kept 3% of the processor for others",
        "threads waited for a processor 10% of the time",
    ]
    found.check()


def test_without_books_only_the_numbers_speak(tmp_path, monkeypatch):
    for name in ("STAT", "PRESSURE", "UPTIME"):
        monkeypatch.setattr(noise, name, tmp_path / "nowhere")
    with monitor_noise() as watched:
        pass
    found = watched.noise([QUIET])
    assert found.steal is None
    assert found.pressure is None
    assert found.record() | {"switches": 0} == {
        "spread": 0.01,
        "width": found.width,
        "steal": None,
        "pressure": None,
        "switches": 0,
        "warnings": found.warnings(),
        "too_noisy": False,
    }


@pytest.mark.parametrize(
    ("noisy", "told"),
    [
        (Noise(spread=0.4), "rounds of the same model lie 40% apart"),
        (Noise(width=0.2), "the interval of a ratio reaches 20% to either side"),
        (Noise(steal=0.3), "the host kept 30% of the processor"),
        (Noise(pressure=0.9), "threads waited for a processor 90% of the time"),
    ],
)
def test_a_machine_that_is_too_noisy_says_so_instead_of_a_number(noisy, told):
    with pytest.raises(TooNoisy, match=f"too noisy to measure on now: {told}.*allow_noisy"):
        noisy.check()
    assert noisy.record()["too_noisy"]


def test_interruptions_are_told_but_no_reason_to_stop():
    often = Noise(switches=3.0)
    assert often.warnings() == ["a call was interrupted 3.0 times on average"]
    often.check()
    assert Noise().warnings() == []
