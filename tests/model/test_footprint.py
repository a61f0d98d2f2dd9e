"""Sizes follow from the shape, to the parameter, without loading anything."""

import json
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from torch.utils.flop_counter import FlopCounterMode

import polyprune as pp
from polyprune.model.footprint import (
    footprint,
    footprint_of,
    weight_bytes,
)
from polyprune.model.network.configuration_polyprune import PolypruneConfig
from polyprune.model.network.embedding import Embedding
from polyprune.model.network.modeling_polyprune import PolypruneForMaskedLM
from support.paths import VECTORS
from support.strategies import build, specs, tokens_for

PAPER = json.loads((VECTORS / "param_count.json").read_text())
XLM_R_BASE = pp.EncoderShape(
    vocab_size=250_002,
    positions=514,
    token_types=1,
    width=768,
    head_width=64,
    heads=(12,) * 12,
    units=(3072,) * 12,
    rank=768,
    factorized=True,
)


def without(pruned: dict[str, int]) -> pp.EncoderShape:
    """XLM-R base without so many components, taken from the first layers."""

    def take(widths: tuple[int, ...], count: int) -> tuple[int, ...]:
        left = []
        for width in widths:
            left.append(width - min(width, count))
            count -= min(width, count)
        return tuple(left)

    return replace(
        XLM_R_BASE,
        heads=take(XLM_R_BASE.heads, pruned["head"]),
        units=take(XLM_R_BASE.units, pruned["hidden"]),
        rank=768 - pruned["rank"],
    )


def test_xlm_r_base_has_as_many_parameters_as_the_paper_says():
    size = footprint(XLM_R_BASE)
    assert size.parameters == PAPER["total"] == 278_885_010
    parts = PAPER["full_parts"]
    assert size.embedding_parameters == sum(
        parts[name] for name in ("E_hat", "P", "position", "token_type", "emb_ln")
    )
    assert size.encoder_parameters == parts["attn"] + parts["ffn"] + parts["ln"]
    assert size.readout_parameters == parts["lm_head"]


@pytest.mark.parametrize("sparsity", PAPER["grad"])
def test_pruned_sizes_are_those_of_the_papers_figure(sparsity):
    row = PAPER["grad"][sparsity]
    parameters = footprint(without(row["pruned"])).parameters
    assert parameters == row["params"]
    assert -(-parameters // 1_000_000) == row["paper_M"]


def test_a_plain_table_is_what_transformers_counts():
    plain = replace(XLM_R_BASE, factorized=False)
    theirs = PAPER["reference_totals"]
    assert footprint(plain).parameters == theirs["hf_XLMRobertaForMaskedLM"]
    assert footprint(plain, "hidden-states", pooler=True).parameters == theirs["hf_XLMRobertaModel"]


def test_a_real_model_of_the_pruned_shape_has_that_many_parameters():
    row = PAPER["grad"]["70"]
    shape = without(row["pruned"])
    config = PolypruneConfig(
        vocab_size=250_002, max_position_embeddings=514, type_vocab_size=1, hidden_size=768,
        head_width=64, heads=list(shape.heads), units=list(shape.units), rank=shape.rank,
        factorized=True, layer_norm_eps=1e-5, hidden_act="gelu", readout_act="gelu", pad_token_id=1,
    )  # fmt: skip
    assert PolypruneForMaskedLM.empty(config).num_parameters() == row["params"] == 57_115_535


@given(specs())
def test_the_count_is_that_of_the_model(spec):
    model = build(spec)
    size = footprint_of(model.config, model.readout_kind)
    assert size.parameters == sum(p.numel() for p in model.parameters())
    assert (
        size.embedding_parameters
        == Embedding.parameter_count(model.shape, norm=not model.config.pre_norm)
        == sum(p.numel() for p in model.encoder.embedding.parameters())
    )
    assert size.readout_parameters == sum(
        p.numel() for p in (model.readout.parameters() if model.readout is not None else ())
    )


@given(specs())
def test_multiply_adds_are_what_torch_counts(spec):
    """torch counts two operations for a multiply–add, and attention only in the plain kernel."""
    model = build(spec)
    inputs = tokens_for(model.shape, examples=1)
    tokens = inputs["input_ids"].shape[1]
    counter = FlopCounterMode(display=False)
    kernel = torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)
    with torch.inference_mode(), kernel, counter:
        model(**inputs)
    size = footprint_of(model.config, model.readout_kind, tokens)
    assert size.multiply_adds + size.readout_multiply_adds == counter.get_total_flops() // 2


def test_bytes_follow_the_precision():
    config = PolypruneConfig(dtype=torch.float16)
    size = footprint(XLM_R_BASE)
    assert weight_bytes(config, size) == 2 * size.parameters
    assert weight_bytes(PolypruneConfig(), size) == 4 * size.parameters
