"""`task.toml`."""

import pytest

from polyprune.errors import ConfigError, UnknownName
from polyprune.evaluation.own_tasks.task_file import TaskFile, read_task_file
from polyprune.evaluation.own_tasks.task_folder import open_task_folder
from support.own_tasks import write_file

WHOLE = """
name = "reviews"
kind = "classification"
labels = ["bad", "good"]
metric = "macro-f1"
columns = { text = "body", label = "stars" }
separator = ";"
files = "{language}.csv"
longest = 64
"""


def test_everything_can_be_said(tmp_path):
    path = write_file(tmp_path / "task.toml", WHOLE)
    assert read_task_file(path) == TaskFile(
        "reviews", "classification", ("bad", "good"), "macro-f1",
        {"text": "body", "label": "stars"}, ";", "{language}.csv", 64,
    )  # fmt: skip


def test_it_is_found_in_its_folder_and_by_its_name(tmp_path):
    write_file(tmp_path / "sw.csv", "body;stars\nchai;good\n")
    path = write_file(tmp_path / "task.toml", WHOLE)
    for given in (tmp_path, path):
        found = open_task_folder(str(given))
        assert (found.name, found.languages) == ("reviews", ("sw",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "task.toml is not TOML"),
        ("labls = []", r"task\.toml: Unknown key 'labls'\. Did you mean 'labels'\?"),
        ('labels = "a"', r"labels is a list: \[\"no\", \"yes\"\], not 'a'"),
        ('labels = ["a", "a"]', "Each label is there once, not a, a"),
        ('kind = "classfication"', r"Unknown kind of task .* Did you mean 'classification'\?"),
        ('columns = { txt = "a" }', r"Unknown column 'txt'\. Did you mean 'text'\?"),
        ('files = "data.tsv"', r"Names of files have a \{language\} in them"),
        ("longest = 3", "Inputs have 8 tokens or more, not 3"),
    ],
)
def test_mistakes_are_told_with_the_file(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        read_task_file(write_file(tmp_path / "task.toml", text))


def test_a_description_checks_itself():
    with pytest.raises(UnknownName, match="Unknown kind of task 'ner'"):
        TaskFile(kind="ner")
