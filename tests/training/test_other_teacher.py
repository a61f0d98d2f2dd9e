"""A student may learn what sentences mean from a teacher that reads other words, and is wider."""

import pytest
import torch
from safetensors.torch import load_file

import polyprune as pp
from polyprune.errors import ConfigError
from polyprune.model.network.source import ModelSource
from polyprune.pruning.criteria.losses import pooled
from polyprune.training.teacher_targets import reduce_width
from support.models import speaking_model
from support.runs import tiny_run, train

FRESH = {"layers": 1, "width": 8, "heads": 2, "units": 8, "positions": 40, "vocabulary": 120}


def taught(speaking, text, tmp_path, **teacher):
    folder = speaking_model(tmp_path / "teacher", "hidden-states")
    return tiny_run(
        speaking,
        text,
        model={"start": "fresh", "fresh": FRESH},
        objective={"mlm": 1.0, "embeddings": 1.0},
        teacher={"start": str(folder), **teacher},
    )


def test_words_and_sentences_are_learned_in_one_pass(speaking, text, tmp_path):
    run = taught(speaking, text, tmp_path, cache=True)
    reports = list(train(run, tmp_path / "run"))
    assert {"mlm", "embeddings"} <= set(reports[-1].losses)
    assert reports[-1].held_out  # of masked words: no teacher has seen that text
    assert pp.load(tmp_path / "run" / "model").shape.width == 8


def test_the_teacher_reads_the_text_in_its_own_tokens(speaking, text, tmp_path):
    run = taught(speaking, text, tmp_path, cache=True)
    steps = train(run, tmp_path / "run")
    next(steps)
    steps.close()
    made = load_file(tmp_path / "run" / "targets.safetensors")["embeddings"].float()
    folder = tmp_path / "teacher"
    teacher, tokenizer = pp.load(folder), ModelSource.at(folder).tokenizer()
    line = (text / "en.txt").read_text(encoding="utf-8").splitlines()[-1]
    own = tokenizer([line], return_tensors="pt")
    with torch.no_grad():
        expected = pooled(teacher, own["input_ids"], own["attention_mask"], None, "mean")
    nearest = (made - expected).abs().amax(1).min()
    assert nearest < 2e-3  # kept in half precision


def test_without_a_cache_they_have_to_share_a_tokenizer(speaking, text, tmp_path):
    with pytest.raises(ConfigError, match=r"share a tokenizer.*teacher.cache = true"):
        next(train(taught(speaking, text, tmp_path), tmp_path / "run"))


def test_only_masked_words_go_with_embeddings(speaking, text):
    with pytest.raises(ConfigError, match="only mlm goes with embeddings"):
        tiny_run(speaking, text, objective={"soft": 1.0, "embeddings": 1.0})


def test_narrowing_keeps_distances_that_fit():
    random = torch.Generator().manual_seed(0)
    flat = torch.randn(50, 3, generator=random) @ torch.randn(3, 9, generator=random) + 5
    made = reduce_width(flat, 3)
    assert made.shape == (50, 3)
    torch.testing.assert_close(torch.cdist(made, made), torch.cdist(flat, flat), atol=0.02, rtol=0)
    assert made.mean(0).abs().max() < 1e-4
    assert reduce_width(flat, 9) is flat
