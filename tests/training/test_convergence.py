"""Whether gates have converged is read from the log, and told in a sentence."""

import pytest

from polyprune.training.convergence import gate_convergence


def line(step, undecided, settled=None, **more):
    gates = {"open": 0.5, "at_zero": (1 - undecided) / 2, "at_one": (1 - undecided) / 2}
    if settled is not None:
        gates |= {"settled": settled, "folded": False}
    return {"step": step, "expected_density": 0.5, "gates": gates | more}


def test_a_run_without_learned_gates_has_nothing_to_tell():
    assert gate_convergence([{"step": 1, "gates": {}}, {"step": 2}]) is None


def test_gates_that_are_0_or_1_have_converged():
    found = gate_convergence([line(10, 0.5), line(20, 0.02, settled=0.004)])
    assert found is not None
    assert found.converged
    assert found.missing_steps == 0
    assert "98.0% were 0 or 1" in found.describe()
    assert "not converged" not in found.describe()


def test_others_are_told_how_many_steps_are_missing():
    """Halved every 50 steps, 40 % are 5 % after three times 50."""
    log = [line(step, 0.8 * 0.5 ** (step / 50)) for step in range(1, 50)]
    found = gate_convergence([*log, line(50, 0.4, settled=0.2)])
    assert found is not None
    assert not found.converged
    assert found.missing_steps == pytest.approx(150, abs=2)
    assert "about 150 more steps" in found.describe().replace("149", "150").replace("151", "150")


def test_gates_that_do_not_move_are_not_extrapolated():
    found = gate_convergence([*(line(step, 0.6) for step in range(1, 20)), line(20, 0.6, 0.3)])
    assert found is not None
    assert found.missing_steps is None
    assert "train the gates for longer" in found.describe()


def test_what_comes_after_the_gates_were_settled_does_not_count():
    log = [line(10, 0.03, settled=0.001), {"step": 20, "gates": {}}]
    found = gate_convergence(log)
    assert found is not None
    assert found.settled == 0.001
