"""`polyprune.check`: what is right is called right."""

import pytest

import polyprune as pp
from support.paths import REPOSITORY

CONFIGS = sorted((REPOSITORY / "configs").rglob("*.toml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_config_that_is_shipped_is_right_be_it_a_run_or_a_study(path):
    result = pp.check(path)
    assert result.right, result
    assert result.as_dict() == {"path": str(path), "right": True, "problems": [], "changed": []}
    assert repr(result) == f"{path} is right."


def test_a_wrong_study_is_wrong_as_a_study(tmp_path):
    text = (REPOSITORY / "configs/miniature/study.toml").read_text(encoding="utf-8")
    path = tmp_path / "study.toml"
    path.write_text(text.replace('model = "sprout"', "modell = 3"), encoding="utf-8")
    result = pp.check(path)
    assert not result.right
    assert result.exit_status == 2
    assert "modell: there is no such key. Did you mean model?" in repr(result)
