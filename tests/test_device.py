"""Devices are found by their names, and models come back from them."""

import pytest
import torch
from torch import nn

from polyprune.device import device_named, move_to, on_device
from polyprune.errors import ConfigError


def test_auto_is_a_device_that_is_there():
    assert device_named("auto") == ("cuda" if torch.cuda.is_available() else "cpu")
    assert device_named("cuda:1") == "cuda:1"


@pytest.mark.parametrize("name", ["meta", "gpu", "cuda:", "CPU", ""])
def test_other_names_are_refused(name):
    with pytest.raises(ConfigError, match=f"auto, cpu, cuda, cuda:1 or mps, not '{name}'"):
        device_named(name)


@pytest.mark.skipif(torch.cuda.device_count() > 7, reason="has eight GPUs")
def test_a_device_that_is_not_there_says_so():
    with pytest.raises(ConfigError, match=r'`device="cuda:7"` cannot be used \(.+Try'):
        move_to(nn.Linear(1, 1), "cuda:7")


def test_a_model_is_where_it_was_afterwards():
    model = nn.Linear(1, 1)
    with pytest.raises(KeyError, match="anything"), on_device(model, "auto"):
        raise KeyError("anything")
    assert model.weight.device.type == "cpu"
