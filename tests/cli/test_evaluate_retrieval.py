"""`polyprune evaluate` on tasks that need no fine-tuning, as a user types it."""

from pathlib import Path

import pytest

from support.commands import answer, polyprune, refused
from support.finetuning import gates_a_language
from support.xtreme import xtreme_folder


@pytest.fixture
def data(tmp_path) -> Path:
    return xtreme_folder(tmp_path / "xtreme")


def test_retrieval_takes_any_encoder(speaking, data):
    found = answer("evaluate", speaking, "--task", "tatoeba", "--data", data, "--layer", 1)
    (system,) = found["systems"]
    assert list(system["languages"]) == ["ru", "sw"]


def test_borrowed_gates_are_told(speaking, data, tmp_path):
    gated = gates_a_language(speaking, tmp_path / "gated")
    out = polyprune("evaluate", gated, "--task", "tatoeba", "--data", data)[1]
    assert f"{gated}: gates of other languages for sw (en)." in out


def test_a_fallback_has_to_be_among_the_gates_if_it_is_needed(speaking, data, tmp_path):
    gated = gates_a_language(speaking, tmp_path / "gated")
    command = ("evaluate", gated, "--task", "tatoeba", "--data", data, "--fallback")
    error = refused(tmp_path, *command, "vi")
    assert f"Unknown fallback 'vi'. {gated} has gates of: en, ru." in error
    assert answer(*command, "vi", "--languages", "ru")["fallback"] == "vi"  # nobody needs it
    (system,) = answer(*command, "ru")["systems"]
    assert system["languages"]["sw"]["gates"] == "ru"


def test_of_mining_sentences_are_counted_and_dev_files_are_needed(speaking, data, tmp_path):
    command = ("evaluate", speaking, "--task", "bucc2018", "--data", data)
    (system,) = answer(*command)["systems"]
    assert system["languages"]["ru"]["examples"] == 12
    dev = data / "bucc2018" / "ru-en.dev.gold"
    dev.unlink()
    error = refused(tmp_path, *command, "--predictions", tmp_path / "p")
    assert "dev pairs, which are missing: <lang>-en.dev.gold. This is the dev data of buc" in error
    dev.with_suffix(".ru").unlink()
    error = refused(tmp_path, *command, "--predictions", tmp_path / "p")
    assert "bucc2018/ru-en.dev.ru is missing" in error


def test_labels_may_be_as_the_official_script_writes_them(speaking, data, tmp_path):
    folder = data / "tatoeba"
    english = (folder / "sw-en.en").read_text(encoding="utf-8").splitlines()
    command = ("evaluate", speaking, "--task", "tatoeba", "--data", data, "--languages", "sw")
    before = answer(*command)["systems"]
    order = sorted(range(len(english)), key=english.__getitem__)
    (folder / "sw-en.en").write_text("".join(f"{english[i]}\n" for i in order), encoding="utf-8")
    assert answer(*command)["systems"][0]["mean"] is None
    (tmp_path / "labels" / "tatoeba").mkdir(parents=True)
    (tmp_path / "labels" / "tatoeba" / "test-sw.tsv").write_text("".join(f"[{i}]\n" for i in order))
    assert answer(*command, "--labels", tmp_path / "labels")["systems"] == before


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--layer", "99"], "There is no layer 99: this model has 2"),
        (["--limit", "3"], "leave --limit out"),
        (["--split", "dev"], "There is no dev data of tatoeba"),
    ],
)
def test_mistakes_of_retrieval_change_nothing(speaking, data, tmp_path, options, told):
    command = ("evaluate", speaking, "--task", "tatoeba", "--data", data)
    assert told in refused(tmp_path, *command, *options)


def test_a_model_without_a_tokenizer(speaking, data, tmp_path):
    for path in speaking.glob("tokenizer*"):
        path.unlink()
    command = ("evaluate", speaking, "--task", "tatoeba", "--data", data)
    assert "There is no tokenizer in" in refused(tmp_path, *command)
