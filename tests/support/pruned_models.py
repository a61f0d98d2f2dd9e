"""Models of the shapes that pruning leaves."""

import torch

import polyprune as pp
from polyprune.model.network.source import ModelSource
from support.models import tiny_model

SHAPES = ("dense", "uneven", "emptied", "rank-pruned")


def pruned(folder, family: str, readout: str, shape: str):
    """A tiny model of a family, cut to a shape."""
    tiny_model(family, readout).save_pretrained(folder)
    model = pp.load(folder)
    if shape == "rank-pruned":
        model = pp.factorize(model)
    gates = pp.open_gates(model.shape)
    if shape == "uneven":
        gates.heads[0][:, 1:] = 0
        gates.heads[1][:, 2] = 0
        gates.units[0][:, ::3] = 0
    elif shape == "emptied":
        gates.heads[1].zero_()
        gates.units[0].zero_()
    elif shape == "rank-pruned":
        gates.rank[:, 7:] = 0
    small = model if shape == "dense" else pp.shrink(model, gates)
    small.source = ModelSource.at(folder)
    return small.eval()


def said(model, inputs) -> dict[str, torch.Tensor]:
    """What the model itself says."""
    with torch.inference_mode():
        return dict(model(**inputs).items())
