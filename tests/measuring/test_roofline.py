"""Roofs of GPUs, against what data sheets and a pocket calculator say."""

from dataclasses import replace

import pytest

from polyprune.errors import ConfigError, UnknownName
from polyprune.measuring.roofline import GPUS, bound, break_even_tokens, kernels
from polyprune.model.network.shape import EncoderShape

BASE = EncoderShape(250002, 514, 1, 768, 64, (12,) * 12, (3072,) * 12, 768)
"""XLM-R base."""

HALF_AS_WIDE = BASE.keeping((6,) * 12, (1536,) * 12, 768)
HALF_AS_DEEP = BASE.keeping((12,) * 6, (3072,) * 6, 768)

# 22.35 GFLOP at 1 × 128; 85 M parameters in 2 bytes; 128 kernels of 8 µs. In milliseconds.
SHEET = {
    "T4": (0.34, 0.53, 390),
    "V100": (0.18, 0.19, 750),
    "A100": (0.07, 0.11, 1870),
    "L4": (0.18, 0.57, 730),
    "H100": (0.02, 0.05, 5930),
}


@pytest.mark.parametrize("gpu", SHEET)
def test_one_sentence_in_half_precision_waits_for_launches_on_every_gpu(gpu):
    compute, weights, tokens = SHEET[gpu]
    found = bound(BASE, gpu)
    assert 1e3 * found.compute == pytest.approx(compute, abs=0.006)
    assert 1e3 * found.weights == pytest.approx(weights, abs=0.006)
    assert 1e3 * found.launch == pytest.approx(1.024)
    assert found.binds == "launch"
    assert found.seconds == found.launch
    assert break_even_tokens(BASE, gpu) == pytest.approx(tokens, rel=0.01)


def test_an_old_gpu_in_single_precision_computes():
    found = bound(BASE, "T4", precision="float32")
    assert found.binds == "compute"
    assert 1e3 * found.compute == pytest.approx(2.76, abs=0.01)
    assert found.seconds >= found.compute


def test_a_new_one_waits_for_launches_even_at_32_times_64():
    found = bound(BASE, "H100", batch=32, tokens=64)
    assert found.binds == "launch"
    assert 1e3 * found.compute == pytest.approx(0.36, abs=0.01)


@pytest.mark.parametrize("gpu", GPUS)
def test_depth_shortens_launching_and_width_never_does(gpu):
    dense = bound(BASE, gpu)
    assert bound(HALF_AS_WIDE, gpu).launch == dense.launch
    assert bound(HALF_AS_WIDE, gpu).compute < 0.51 * dense.compute
    deep = bound(HALF_AS_DEEP, gpu)
    around = 8 / 128
    assert deep.launch / dense.launch == pytest.approx((1 - around) / 2 + around)
    assert break_even_tokens(HALF_AS_WIDE, gpu) == pytest.approx(
        2 * break_even_tokens(BASE, gpu), rel=0.01
    )


def test_emptied_sublayers_are_not_launched():
    emptied = replace(BASE, heads=(0,) * 12)
    assert len(kernels(BASE, 1, 128)) == 128
    assert len(kernels(emptied, 1, 128)) == 128 - 12 * 3
    assert bound(emptied, "T4").launch < bound(BASE, "T4").launch


def test_graphs_launch_faster():
    assert bound(BASE, "T4", graphs=True).launch == pytest.approx(bound(BASE, "T4").launch / 4)
    assert bound(BASE, "T4", graphs=True).binds == "memory"


def test_large_batches_are_bound_by_products_or_bytes():
    for gpu in GPUS:
        found = bound(BASE, gpu, batch=512)
        assert found.binds != "launch"
        assert found.seconds >= max(found.compute, found.memory)


def test_a_gpu_is_found_however_it_is_spelt():
    assert bound(BASE, "t4") == bound(BASE, "T4")
    with pytest.raises(UnknownName, match="Unknown GPU 'T5'"):
        bound(BASE, "T5")
    with pytest.raises(ConfigError, match="A V100 does not compute in bfloat16"):
        bound(BASE, "V100", precision="bfloat16")
