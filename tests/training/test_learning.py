"""Training does what the paper says that it does, on a model small enough to watch."""

from itertools import pairwise
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator

import polyprune as pp
from polyprune.config import make_run
from polyprune.corpora.languages import language
from polyprune.jsonl import read_log
from polyprune.model.network.source import ModelSource
from polyprune.pruning.gates.dynamic import TENTHS
from polyprune.pruning.selection.ranking import density_of
from polyprune.pruning.subnetworks import by_family, hamming
from polyprune.training.held_out_loss import (
    held_out_examples,
    held_out_losses,
    held_out_micro_batches,
)
from polyprune.training.step_batches import Collator
from polyprune.training.text_material import stream_config
from polyprune.training.training_module import TrainingModule
from support.runs import train

pytestmark = pytest.mark.slow

LANGUAGES = ["en", "de", "sw", "tr", "vi"]
KNOWN = [language(code) for code in LANGUAGES]


def plan(start: dict, steps: int, **sections):
    table = {
        "model": start,
        "corpus": {"source": "sample", "languages": LANGUAGES, "block": 64, "held_out": 32},
        "objective": {"mlm": 1.0},
        "batch": {"size": 16, "micro_batch_size": 16},
        "phases": [{"steps": steps, "train": "weights", "learning_rate": 2e-3, "warmup": 20}],
        "saving": {"every": 500, "held_out_every": 500, "trackers": []},
    }
    return make_run(table | sections)


def done(run, out: Path) -> Path:
    for _ in train(run, out):
        pass
    return out


@pytest.fixture(scope="module")
def dense(tmp_path_factory) -> Path:
    """The folder of a run that trained two layers, as wide in proportion as XLM-R's."""
    fresh = {"layers": 2, "width": 64, "heads": 4, "units": 256, "vocabulary": 2000, "dropout": 0}
    out = tmp_path_factory.mktemp("runs") / "dense"
    return done(plan({"start": "fresh", "fresh": fresh}, 800), out)


def l0(dense: Path, out: Path, **penalties) -> tuple[pp.Gates, dict]:
    """The gates of an L0 run, and the last line of its log."""
    phases = [
        {"steps": 200, "train": "gates", "gates_learning_rate": 0.5},
        {"steps": 200, "train": "all", "learning_rate": 5e-4, "gates_learning_rate": 0.2},
    ]
    run = plan(
        {"start": str(dense / "model")},
        20,
        gating={"kind": "learned", "setting": "non-shared"},
        penalties=penalties,
        phases=phases,
    )
    model = pp.load(done(run, out) / "model")
    assert model.elastic.rows == tuple(LANGUAGES)
    with torch.no_grad():
        return model.elastic.gating(), read_log(out / "log.jsonl")[-1]


def hard_sizes(gates: pp.Gates, model: Path) -> torch.Tensor:
    opened = gates.map(lambda gate: (gate > 0).float())
    return density_of(opened, pp.ComponentWeights.of(pp.load(model).shape))


def test_improved_l0_reaches_its_target_in_every_language(dense, tmp_path):
    gates, last = l0(dense, tmp_path / "run", sparsity=8.0, diversity=1.0)
    assert last["expected_density"] == pytest.approx(0.5, abs=0.02)
    assert hard_sizes(gates, tmp_path / "run" / "model").tolist() == pytest.approx(
        [0.5] * 5, abs=0.02
    )


def test_native_l0_drifts_wherever_its_weight_takes_it(dense, tmp_path):
    sizes = {}
    for weight in (0.1, 1.0):
        gates, _ = l0(dense, tmp_path / str(weight), kind="native", sparsity=weight)
        sizes[weight] = hard_sizes(gates, tmp_path / str(weight) / "model")
    assert sizes[0.1].mean() - sizes[1.0].mean() > 0.1  # the weight says nothing about the size
    assert sizes[0.1].max() - sizes[0.1].min() > 0.05  # and languages go where they like
    assert all((own - 0.5).abs().mean() > 0.05 for own in sizes.values())


def test_diversity_sets_families_apart_and_the_prior_spares_kin(dense, tmp_path):
    apart = {}
    for name, penalties in {
        "alike": {},
        "diverse": {"diversity": 25.0},
        "no prior": {"diversity": 25.0, "prior": "none"},
    }.items():
        gates, _ = l0(dense, tmp_path / name, sparsity=8.0, **penalties)
        apart[name] = by_family(hamming(gates), KNOWN)
    (_, strangers), (spared, diverse) = apart["alike"], apart["diverse"]
    assert diverse > strangers + 0.03
    assert apart["no prior"][0] > spared + 0.05


def test_dynamic_sparsification_trains_every_size_at_once(tmp_path):
    gating = {"kind": "dynamic", "rule": "fisher", "sentences": 32}
    phases = [{"steps": 200, "train": "weights", "learning_rate": 5e-4, "warmup": 20}]
    run = plan({"start": "sprout"}, 200, gating=gating, phases=phases)  # it has words to lose
    out = done(run, tmp_path / "dynamic")
    trained, before = pp.load(out / "model"), pp.load(out / "prepared")
    tokenizer = ModelSource.at(out / "model").tokenizer()
    examples = held_out_examples(out / "held-out", tokenizer, stream_config(run, out, 1))
    batches = held_out_micro_batches(examples, Collator(tokenizer, 16, masked=True))

    def loss(model, size: float) -> float:
        small = model.at(sparsity=1 - size)
        losses = held_out_losses(TrainingModule(small, run.objective), batches, Accelerator())
        return sum(losses.values()) / len(losses)

    sizes = [size for size in TENTHS if size >= 0.1]
    curve = [loss(trained, size) for size in sizes]
    # From 70 % on, sizes are much alike: see benchmarks/masked_recovery.py, which has more text.
    told = dict(zip(sizes, curve, strict=True))
    assert all(larger < smaller for smaller, larger in pairwise(curve[: sizes.index(0.7)])), told
    assert max(curve[sizes.index(0.7) :]) < min(curve) + 0.1, told
    assert curve[-1] < curve[0] - 0.2
    for size in (0.1, 0.2, 0.3, 0.4, 0.5):
        assert loss(trained, size) < loss(before, size)
