"""What sentence-transformers wrote beside a model is understood; anything else is no obstacle."""

import copy
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import polyprune as pp
from polyprune.model.network.modeling_polyprune import PolypruneForMaskedLM
from polyprune.model.network.source import ModelSource

POOLING = "1_Pooling/config.json"
PROMPTS = "config_sentence_transformers.json"
READ = {
    POOLING: lambda folder: ModelSource.at(folder).pooling,
    PROMPTS: lambda folder: ModelSource.at(folder).prompt,
}
DEFAULT = {POOLING: "mean", PROMPTS: ""}


def write(folder: Path, name: str, config: Any) -> Path:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(config), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "first"),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode": "cls"}, "first"),
        ({"pooling_mode": "mean"}, "mean"),
        ({"word_embedding_dimension": 384}, "mean"),
        ({}, "mean"),
    ],
)
def test_pooling_is_written_in_either_of_two_ways(tmp_path, config: dict, pooling: str):
    assert ModelSource.at(write(tmp_path, POOLING, config)).pooling == pooling


@pytest.mark.parametrize(
    ("config", "prompt"),
    [
        ({"prompts": {"query": "query: ", "passage": "passage: "}}, "query: "),
        (
            {"prompts": {"query": "query: ", "STS": "same: "}, "default_prompt_name": "STS"},
            "same: ",
        ),
        ({"prompts": {"query": "query: "}, "default_prompt_name": None}, "query: "),
        ({"prompts": {"query": "سوال: "}}, "سوال: "),
        ({"prompts": {"query": "query: "}, "default_prompt_name": "STS"}, ""),
        ({"prompts": {"passage": "passage: "}}, ""),
        ({"prompts": {"query": ""}}, ""),
        ({"prompts": {"query": None}}, ""),
        ({"prompts": {}}, ""),
        ({"prompts": None}, ""),
        ({"prompts": ["query: "]}, ""),
        ({}, ""),
    ],
)
def test_the_prompt_is_the_default_one_or_that_of_a_query(tmp_path, config: dict, prompt: str):
    assert ModelSource.at(write(tmp_path, PROMPTS, config)).prompt == prompt


@pytest.mark.parametrize("name", READ)
def test_a_model_that_sentence_transformers_did_not_write(tmp_path, name: str):
    for folder in (tmp_path, tmp_path / "missing", str(tmp_path), "", None):
        assert READ[name](folder) == DEFAULT[name]


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[1]", b"null", b'"cls"'])
def test_a_file_that_cannot_be_understood_is_as_good_as_none(tmp_path, name: str, content: bytes):
    write(tmp_path, name, {})
    (tmp_path / name).write_bytes(content)
    assert READ[name](tmp_path) == DEFAULT[name]


def test_a_folder_may_be_given_as_text(tmp_path):
    write(tmp_path, POOLING, {"pooling_mode": "cls"})
    write(tmp_path, PROMPTS, {"prompts": {"query": "query: "}})
    assert ModelSource.at(str(tmp_path)).pooling == "first"
    assert ModelSource.at(str(tmp_path)).prompt == "query: "


def test_whatever_is_made_of_a_model_knows_where_it_came_from(speaking, tmp_path, monkeypatch):
    model = pp.load(speaking)
    monkeypatch.chdir(tmp_path)
    small = pp.shrink(model, pp.open_gates(model.shape))
    made = (small, pp.factorize(model), pp.drop_layers(model, [0]), copy.deepcopy(model))
    for each in (*made, model.sharing_weights()):
        assert each.source == ModelSource(speaking.resolve())
        assert each.source.tokenizer().get_vocab() == model.source.tokenizer().get_vocab()


def test_a_model_of_transformers_own_loader_has_a_source_too(speaking):
    assert PolypruneForMaskedLM.from_pretrained(_saved(speaking)).source.has_tokenizer


def _saved(speaking: Path) -> Path:
    folder = speaking.parent / "ours"
    pp.load(speaking).save_pretrained(folder)
    return folder


def test_a_model_without_a_folder_has_a_source_that_is_empty():
    source = ModelSource.at(None)
    assert (source.folder, source.tokenizer(), source.prompt, source.pools) == (
        None,
        None,
        "",
        False,
    )
    assert str(source) == "This model"


def test_a_second_model_over_the_same_weights_has_a_config_of_its_own(speaking):
    model = pp.load(speaking)
    second = model.sharing_weights()
    second.config.num_labels = 7
    second.elastic = SimpleNamespace()
    assert model.config.num_labels != 7
    assert model.elastic is None
    assert second.encoder is model.encoder
