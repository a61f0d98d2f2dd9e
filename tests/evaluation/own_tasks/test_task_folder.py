"""Which split and language each file of a folder holds."""

import pytest

from polyprune.errors import DataError
from polyprune.evaluation.own_tasks.task_file import TaskFile
from polyprune.evaluation.own_tasks.task_folder import Translations, holds_task, open_task_folder
from support.own_tasks import write_file


def folder_of(tmp_path, *names):
    for name in names:
        write_file(tmp_path / name, "chai\tgood\n")
    return str(tmp_path)


def languages(data, about=None):
    found = open_task_folder(data, about)
    return {split: list(own) for split, own in found.splits.items()}


@pytest.mark.parametrize(
    ("names", "splits"),
    [
        (["sw.tsv", "en.tsv", "README.md", ".hidden.tsv"], {"test": ["en", "sw"]}),
        (["sw.csv", "zh-Hans.csv", "zh.csv"], {"test": ["sw", "zh", "zh-Hans"]}),
        (["train-en.tsv", "dev-en.tsv", "test-sw.tsv.gz"],
         {"train": ["en"], "dev": ["en"], "test": ["sw"]}),
        (["train/en.jsonl", "validation/en.jsonl", "test/sw.jsonl"],
         {"train": ["en"], "dev": ["en"], "test": ["sw"]}),
        (["train_en.conll", "valid.en.conll"], {"train": ["en"], "dev": ["en"]}),
        (["test-yo.json"], {"test": ["yo"]}),
    ],
)  # fmt: skip
def test_names_of_files_say_what_they_hold(tmp_path, names, splits):
    data = folder_of(tmp_path, *names)
    assert languages(data) == splits
    assert holds_task(tmp_path)
    assert open_task_folder(data).name == tmp_path.name


def test_translations_are_called_by_two_languages(tmp_path):
    found = open_task_folder(folder_of(tmp_path, "en-sw.tsv", "de-en.tsv", "zh-Hans.tsv"))
    test = found.splits["test"]
    assert list(test) == ["de", "sw", "zh-Hans"]
    assert test["sw"] == Translations(tmp_path / "en-sw.tsv", "en", "sw")
    assert test["de"] == Translations(tmp_path / "de-en.tsv", "de", "en")
    assert test["zh-Hans"] == tmp_path / "zh-Hans.tsv"


def test_a_task_file_says_where_files_are(tmp_path):
    data = folder_of(tmp_path, "data/reviews.sw.test.csv", "data/reviews.en.train.csv", "x.csv")
    about = TaskFile(files="data/reviews.{language}.{split}.csv")
    assert languages(data, about) == {"train": ["en"], "test": ["sw"]}
    about = TaskFile(files={"test": "data/reviews.{language}.test.csv"})
    assert languages(data, about) == {"test": ["sw"]}
    with pytest.raises(DataError, match="'tset' is no split"):
        languages(data, TaskFile(files={"tset": "{language}.csv"}))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["swa.tsv"], r"swa\.tsv is not called by a language: Unknown language 'swa'\. Did"),
        (["Swahili.tsv"], r"Did you mean 'sw'\?"),
        (["train.tsv"], r"train\.tsv does not say its language: call it train-en\.tsv"),
        (["sw.tsv", "test-sw.csv"], r"two files for 'sw': .*sw\.tsv and .*test-sw\.csv\. Keep one"),
        (["sw.xlsx"], r"sw\.xlsx is of no known format\. Tables are \.tsv, \.csv"),
        (["notes.md"], r"There are no files of a task in .*: call them sw\.tsv"),
        (["xnli/test-sw.tsv"], r"holds tasks of XTREME: say which, such as `task='xnli'`"),
        (["mine/sw.tsv"], r"holds several tasks: give the folder of one, such as .*mine"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_told(tmp_path, names, message):
    with pytest.raises(DataError, match=message):
        open_task_folder(folder_of(tmp_path, *names))


def test_a_split_without_files_is_told(tmp_path):
    folder_of(tmp_path, "train/en.tsv")
    (tmp_path / "test").mkdir()
    with pytest.raises(DataError, match=r"test is empty\. Put a file of each language into it"):
        open_task_folder(str(tmp_path))
    (tmp_path / "train" / "en.tsv").unlink()
    assert not holds_task(tmp_path)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"There is no folder .*nowhere with the files of a task"):
        open_task_folder(str(tmp_path / "nowhere"))
    assert not holds_task(tmp_path / "nowhere")


def test_model_folders_are_no_tasks(tmp_path):
    folder_of(tmp_path, "config.json", "tokenizer.json")
    assert not holds_task(tmp_path)
