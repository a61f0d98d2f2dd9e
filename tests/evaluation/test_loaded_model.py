"""What the headers of models tell before any of them is loaded."""

import json

import pytest
import torch
from safetensors.torch import save_file

from polyprune.errors import CheckpointError, ConfigError, UnknownName
from polyprune.evaluation.loaded_model import LoadedModel, check_fallback, expand_sizes
from polyprune.evaluation.tasks import TASKS
from polyprune.model.files.gates_file import SHARED
from polyprune.model.files.gating_file import gating_header


@pytest.fixture
def folder(tmp_path):
    """Makes a folder with nothing but a gating of this kind for these rows, or without any."""

    def make(name: str, kind: str | None = None, *rows: str) -> str:
        (tmp_path / name).mkdir()
        if kind is not None:
            about = {"kind": kind, "rows": json.dumps(rows)}
            save_file({"gates": torch.zeros(1)}, tmp_path / name / "gating.safetensors", about)
        return str(tmp_path / name)

    return make


def test_a_model_of_one_size_is_asked_once(folder):
    dense, fixed = folder("dense"), folder("fixed", "fixed", "en", "ru")
    elastic = folder("elastic", "dynamic", SHARED)
    assert expand_sizes([dense, fixed], []) == [(None,), (None,)]
    found = expand_sizes([fixed, elastic, dense], [0.3, 0.5])
    assert found == [(None,), (0.3, 0.5), (None,)]


def test_sizes_are_asked_of_models_that_have_some_and_of_all_of_those(folder):
    dense, elastic = folder("dense"), folder("elastic", "dynamic", SHARED)
    with pytest.raises(ConfigError, match=f"{dense} has one size: leave `sparsity` out"):
        expand_sizes([dense, dense], [0.5])
    with pytest.raises(ConfigError, match=f"{elastic} holds every size: say which, such as `spar"):
        expand_sizes([dense, elastic], [])


def test_the_size_of_one_model_is_checked_when_it_is_loaded(speaking):
    with pytest.raises(ConfigError, match=f"{speaking} has one size: leave `sparsity` out"):
        LoadedModel.load(speaking, TASKS["tatoeba"], 0.5)


def test_a_fallback_is_a_row_of_one_of_the_models_if_a_language_needs_it(folder):
    own, other = folder("own", "fixed", "en", "ru"), folder("other", "fixed", "en", "vi")
    check_fallback([own, other], ["yo"], "vi")
    check_fallback([own], ["ru", "uk"], "vi")
    check_fallback([own], ["yo"], None)
    check_fallback([folder("dense"), folder("shared", "dynamic", SHARED)], ["yo"], "vi")
    with pytest.raises(UnknownName, match=f"Unknown fallback 'vi'. {own} has gates of: en, ru"):
        check_fallback([own], ["ru", "yo"], "vi")


def test_a_gating_that_does_not_say_what_it_is_is_refused(tmp_path):
    assert gating_header(tmp_path) is None
    path = tmp_path / "gating.safetensors"
    save_file({"gates": torch.zeros(1)}, path, {"kind": "fixed"})
    with pytest.raises(CheckpointError, match="has no right gating"):
        gating_header(tmp_path)
    path.write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"gating.safetensors is damaged"):
        gating_header(tmp_path)
