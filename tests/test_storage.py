"""Files and folders appear whole or not at all."""

import pytest

from polyprune.errors import ConfigError
from polyprune.storage import atomic_file, atomic_folder


class Interrupted(Exception):
    pass


def interrupted():
    return pytest.raises(Interrupted)


def test_an_interrupted_folder_leaves_the_old_one(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "config.json").write_text("old")
    with interrupted(), atomic_folder(tmp_path / "out", force=True) as new:
        (new / "half").write_text("half")
        raise Interrupted
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "config.json"]


def test_a_folder_of_something_else_is_not_replaced(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "summer.jpg").write_text("sun")
    with (
        pytest.raises(ConfigError, match="is a folder of something else"),
        atomic_folder(tmp_path / "photos", force=True),
    ):
        pass
    assert (tmp_path / "photos" / "summer.jpg").exists()


def test_force_replaces_the_whole_folder(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "config.json").write_text("old")
    with atomic_folder(tmp_path / "out", force=True) as new:
        (new / "new").write_text("new")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["new", "out"]


def test_a_file_is_not_overwritten_unless_forced(tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(ConfigError, match="exists already"), atomic_file(tmp_path / "file"):
        pass
    with interrupted(), atomic_file(tmp_path / "file", force=True) as new:
        new.write_text("half")
        raise Interrupted
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "old")]
