"""A data set as a task of one's own; here it is a folder, not the hub."""

import json

import pytest

from polyprune.errors import DataError
from polyprune.evaluation.examples import SentencePair
from polyprune.evaluation.own_tasks.own_task import ModelFacts, scored_task, trained_task
from polyprune.evaluation.own_tasks.task_folder import open_task_folder
from polyprune.model.network.readouts import SENTENCE_CLASSIFICATION
from support.own_tasks import as_jsonl, write_file

FEELINGS = ModelFacts(
    "feelings", SENTENCE_CLASSIFICATION, ("bad", "good"), "single_label_classification"
)


def data_set(folder, *configurations):
    """A folder whose card lists a configuration for each language."""
    card = "---\nconfigs:\n"
    for name in configurations:
        card += f"- config_name: {name}\n  data_files:\n"
        for split in ("train", "validation", "test"):
            card += f"  - split: {split}\n    path: {name}/{split}.jsonl\n"
            rows = [{"review": f"{name} {i}", "label": i % 2, "more": 1} for i in range(4)]
            write_file(folder / name / f"{split}.jsonl", as_jsonl(rows))
    write_file(folder / "README.md", f"{card}---\n# {json.dumps('mine')}\n")
    return str(folder)


def test_configurations_that_are_languages_are_read(tmp_path):
    folder = open_task_folder(data_set(tmp_path / "mine", "en", "sw", "default"))
    assert folder.told() == "train (en, sw) and dev (en, sw) and test (en, sw)"
    task = scored_task(folder, FEELINGS)
    assert next(task.reader.read("", "test", "sw")) == SentencePair("sw 0", None, "bad")
    assert trained_task(folder).labels == ("0", "1")
    assert trained_task(folder, FEELINGS).labels == ("bad", "good")


def test_a_data_set_without_languages_is_told(tmp_path):
    with pytest.raises(
        DataError, match=r"No configuration of .* is called like a language: it has"
    ):
        open_task_folder(data_set(tmp_path / "mine", "default"))
