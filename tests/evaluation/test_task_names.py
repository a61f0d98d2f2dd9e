"""The names of tasks, known without a model."""

import subprocess
import sys

import pytest

from polyprune.errors import UnknownName
from polyprune.evaluation.task_names import TASK_NAMES, find_task_name
from polyprune.evaluation.tasks import TASKS


def test_names_are_those_of_the_tasks_in_their_order():
    assert list(TASK_NAMES) == list(TASKS)
    for name, task in TASKS.items():
        assert TASK_NAMES[name].fine_tuned == (task.defaults is not None)


@pytest.mark.parametrize("spelling", ["udpos", "POS", "Ud-Pos"])
def test_a_task_has_several_spellings(spelling):
    assert find_task_name(spelling) == "udpos"


def test_a_slip_is_told_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'xnli'"):
        find_task_name("xlni")


def test_reading_results_and_showing_them_takes_no_torch():
    code = "import sys, polyprune as pp; pp.report('paper'); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
