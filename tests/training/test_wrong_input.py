"""What users get wrong, told in a sentence, with nothing lost."""

import lzma
import os

import pytest

from polyprune.errors import ConfigError, DataError, UnknownName
from polyprune.training.loop import Diverged
from support.models import speaking_model
from support.runs import finished, tiny_run, train


def first(run, out):
    return next(train(run, out))


@pytest.fixture
def damaged(text):
    """The text with a Swahili file that breaks off."""
    lines = "".join(f"Maji {os.urandom(8).hex()}\n" for _ in range(100))
    packed = lzma.compress(lines.encode())
    (text / "sw.txt").unlink()
    (text / "sw.txt.xz").write_bytes(packed[: len(packed) // 2])
    return text


def test_a_damaged_file_stops_the_run_and_is_named(speaking, damaged, tmp_path):
    run = tiny_run(speaking, damaged, phases=[{"steps": 100}])
    with pytest.raises(DataError, match=r"sw.txt.xz is damaged or cut off after line \d+"):
        list(train(run, tmp_path / "run"))


def test_or_is_left_out_from_there_on(speaking, damaged, tmp_path, caplog):
    corpus = {"source": str(damaged), "block": 24, "damaged": "skip", "held_out": 4}
    run = tiny_run(speaking, damaged, corpus=corpus)
    assert len(finished(run, tmp_path / "run")) == 6


def test_text_that_is_not_utf_8(speaking, text, tmp_path):
    run = tiny_run(speaking, text)
    (text / "ru.txt").write_bytes("Вода\n".encode() + "Мы живём\n".encode("koi8-r"))
    with pytest.raises(DataError, match=r"Line 2 of .*ru.txt is not UTF-8"):
        list(train(run, tmp_path / "run"))


def test_a_language_with_three_lines_is_trained_on(speaking, text, tmp_path):
    (text / "sw.txt").write_text("Maji.\nMti.\nNyumba.\n")
    run = tiny_run(speaking, text, corpus={"source": str(text), "block": 24, "lanes": 4})
    assert len(finished(run, tmp_path / "run")) == 6


def test_an_empty_corpus(speaking, text, tmp_path):
    (text / "sw.txt").write_text("\n\n")
    corpus = {"source": str(text), "languages": ["sw"], "block": 24}
    with pytest.raises(DataError, match="no text"):
        first(tiny_run(speaking, text, corpus=corpus), tmp_path / "run")


def test_a_language_that_is_not_there(speaking, text, tmp_path):
    corpus = {"source": str(text), "languages": ["sw", "ur"]}
    with pytest.raises(UnknownName, match=r"'ur'.*There are: en, hi, ru, sw"):
        first(tiny_run(speaking, text, corpus=corpus), tmp_path / "run")


def test_a_tokenizer_that_does_not_belong_to_the_model(speaking, text, tmp_path):
    tokenizer = speaking_model(tmp_path / "other")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tokenizer / name).rename(speaking / name)
    path = speaking / "tokenizer.json"
    letters = path.read_text(encoding="utf-8")
    path.write_text(letters.replace('"z": ', '"zebra": 70, "z": '), encoding="utf-8")
    with pytest.raises(ConfigError, match="do not belong together"):
        first(tiny_run(speaking, text), tmp_path / "run")


def test_blocks_longer_than_the_model_has_positions_for(speaking, text, tmp_path):
    corpus = {"source": str(text), "block": 512}
    with pytest.raises(ConfigError, match="positions for 32"):
        first(tiny_run(speaking, text, corpus=corpus), tmp_path / "run")


def test_a_batch_that_cannot_be_divided(speaking, text, tmp_path):
    corpus = {"source": str(text), "block": 24, "lanes": 3}
    with pytest.raises(ConfigError, match="multiple of 3, such as 9"):
        first(tiny_run(speaking, text, corpus=corpus), tmp_path / "run")


def test_a_fresh_model_has_no_teacher(speaking, text, tmp_path):
    run = tiny_run(
        speaking,
        text,
        model={"start": "fresh", "fresh": {"tokenizer": str(speaking), "width": 8, "units": 8}},
        objective={"soft": 1.0},
    )
    with pytest.raises(ConfigError, match=r"set teacher.start"):
        first(run, tmp_path / "run")


def test_a_tracker_that_does_not_exist(speaking, text, tmp_path):
    saving = {"trackers": ["tensorbord"]}
    with pytest.raises(UnknownName, match="Did you mean 'tensorboard'"):
        first(tiny_run(speaking, text, saving=saving), tmp_path / "run")


def test_a_loss_that_explodes_stops_the_run_and_keeps_what_was_saved(speaking, text, tmp_path):
    saving = {"every": 1, "trackers": []}
    phases = [{"steps": 50, "learning_rate": 1e30}]
    told = r"smaller learning rate: --set phases.0.learning_rate"
    with pytest.raises(Diverged, match=told) as stopped:
        list(train(tiny_run(speaking, text, phases=phases, saving=saving), tmp_path / "run"))
    assert f"loss of step {stopped.value.step} is" in str(stopped.value)
    assert list((tmp_path / "run" / "checkpoints").glob("step-*"))


@pytest.mark.slow
def test_a_full_disk_loses_nothing(speaking, text, tmp_path, monkeypatch):
    from polyprune.training import checkpoints

    run = tiny_run(speaking, text)
    whole, calls = checkpoints.save_file, []

    def full(tensors, path):
        calls.append(path)
        if len(calls) == 2:
            path.write_bytes(b"half of it")
            raise OSError(28, "No space left on device", str(path))
        whole(tensors, path)

    monkeypatch.setattr(checkpoints, "save_file", full)
    with pytest.raises(OSError, match="No space left"):
        list(train(run, tmp_path / "run"))
    kept = [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()]
    assert kept == ["step-0000002"]
    assert len(finished(run, tmp_path / "run")) == 4
