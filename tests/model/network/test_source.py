"""What sentence-transformers wrote beside a model is understood; anything else is no obstacle."""

import json
from pathlib import Path
from typing import Any

import pytest

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
