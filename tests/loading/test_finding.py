"""Where a model is, given what people call it."""

import json

import pytest

from polyprune.loading.finding import find


def test_what_a_run_left_is_found_in_its_folder(tmp_path):
    assert find(tmp_path) == tmp_path
    (tmp_path / "model").mkdir()
    assert find(tmp_path) == tmp_path  # a folder like any other
    (tmp_path / "model" / "config.json").write_text(json.dumps({}))
    assert find(tmp_path) == tmp_path / "model"
    (tmp_path / "config.json").write_text(json.dumps({}))
    assert find(tmp_path) == tmp_path


@pytest.mark.parametrize("name", ["./nowhere", "/no/where/at/all"])
def test_folders_that_are_not_there_are_told(name):
    with pytest.raises(Exception, match="There is no folder"):
        find(name)
