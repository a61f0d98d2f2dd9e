"""Batch in, losses out: Eq. 13, whatever it is made of."""

import pytest
import torch

from polyprune.corpora.languages import language
from polyprune.model.network.components import sizes
from polyprune.model.network.modeling_polyprune import PolypruneForMaskedLM
from polyprune.pruning.criteria.losses import masked_lm_loss
from polyprune.pruning.gates.gatings import FixedGating, LearnedGating
from polyprune.pruning.gates.penalties import (
    diversity,
    expected_density,
    family_prior,
    lagrangian,
    native_l0,
    sparsity_constraint,
)
from polyprune.pruning.selection.ranking import ComponentWeights
from polyprune.training.objectives import LOSSES, Objective
from polyprune.training.regularizer import GateRegularizer, PenaltyConfig
from polyprune.training.training_module import TrainingModule
from support.runs import finished, tiny_run

ROWS = ("en", "de", "sw")


@pytest.fixture
def batch(inputs):
    """Five examples in three languages."""
    names = ("input_ids", "attention_mask", "labels")
    return {name: inputs[name] for name in names} | {"rows": torch.tensor([0, 1, 2, 1, 0])}


def flat_weights(model) -> torch.Tensor:
    return torch.cat(ComponentWeights.of(model.shape).spread(sizes(model.shape)).leaves()).float()


def gated(model, penalties: PenaltyConfig, **objective) -> TrainingModule:
    gating = LearnedGating(sizes(model.shape), len(ROWS), init_std=1.0)
    regularizer = GateRegularizer(penalties, flat_weights(model), ROWS)
    return TrainingModule(model, Objective(**objective or {"mlm": 1.0}), gating, regularizer)


def test_the_loss_is_the_printed_sum(model, batch):
    system = gated(model, PenaltyConfig(sparsity=8.0, diversity=2.0))
    noise = torch.rand(3, system.gating.alpha.shape[1])
    losses = system(batch, 0.3, noise)
    gates, weights = system.gating.flat(noise=noise), flat_weights(model)
    expected = system.gating.expected_open()
    prior = family_prior([language(code) for code in ROWS])
    assert prior.tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    by_hand = {
        "mlm": masked_lm_loss(model, batch, system.gating(batch["rows"], noise=noise)).mean(),
        "sparsity": sparsity_constraint(expected, weights, 0.3),
        "diversity": diversity(gates, prior),
        "density": expected_density(expected, weights).mean(),
    }
    assert set(losses) == set(by_hand)
    for name, loss in by_hand.items():
        torch.testing.assert_close(losses[name], loss)
    assert system.weights == {"mlm": 1.0, "sparsity": 8.0, "diversity": 2.0}


@pytest.mark.parametrize("kind", ["native", "lagrangian"])
def test_other_penalties_take_the_place_of_the_constraint(model, batch, kind):
    system = gated(model, PenaltyConfig(sparsity=1.0, kind=kind))
    expected, weights = system.gating.expected_open(), flat_weights(model)
    if kind == "native":
        by_hand = native_l0(expected, weights) / weights.sum()
    else:
        with torch.no_grad():
            system.regularizer.multipliers += torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.0, 1.0]])
        by_hand = lagrangian(expected, weights, 0.3, *system.regularizer.multipliers)
    torch.testing.assert_close(system(batch, 0.3)["sparsity"], by_hand)


def test_a_mixed_batch_is_a_batch_a_language(model, batch):
    system = gated(model.eval(), PenaltyConfig())
    whole = system(batch)["mlm"]
    parts = []
    for row in range(3):
        own = {name: tensor[batch["rows"] == row] for name, tensor in batch.items()}
        parts += [system(own)["mlm"]] * len(own["rows"])
    torch.testing.assert_close(whole, torch.stack(parts).mean())


@pytest.mark.parametrize("name", sorted(set(LOSSES) - {"mlm", "outputs", "labels"}))
def test_nothing_is_left_to_learn_from_oneself(model, batch, name):
    pair = {f"pair_{each}": batch[each] for each in ("input_ids", "attention_mask")}
    system = TrainingModule(model.eval(), Objective(**{name: 1.0}), teacher=model)
    assert float(system(batch | pair)[name].detach()) == pytest.approx(0, abs=1e-5)


def test_the_teacher_is_neither_trained_nor_saved(model, batch):
    teacher = PolypruneForMaskedLM(model.config).requires_grad_(False)
    system = TrainingModule(model, Objective(mlm=2.0, soft=5.0, cosine=1.0), teacher=teacher)
    assert not any(name.startswith("_teacher") for name in system.state_dict())
    assert {id(p) for p in system.parameters()}.isdisjoint(id(p) for p in teacher.parameters())
    sum(system(batch).values()).backward()
    assert all(parameter.grad is None for parameter in teacher.parameters())
    assert model.encoder.embedding.words.weight.grad is not None


def test_gates_stay_precise_when_the_model_is_not(model, batch):
    system = gated(model, PenaltyConfig(sparsity=8.0, diversity=1.0))
    precise = system(batch, 0.5)
    with torch.autocast("cpu", torch.bfloat16):
        rough = system(batch, 0.5)
    for name in ("sparsity", "diversity", "density"):
        assert rough[name].dtype == torch.float32
        assert torch.equal(rough[name], precise[name])
    assert rough["mlm"] != precise["mlm"]


def test_fixed_gates_need_no_regularizer(model, batch):
    gating = FixedGating(sizes(model.shape).map(lambda n: torch.ones(1, n)))
    system = TrainingModule(model.eval(), Objective(mlm=1.0), gating)
    assert set(system(batch)) == {"mlm"}
    torch.testing.assert_close(
        system(batch)["mlm"], TrainingModule(model, Objective(mlm=1.0))(batch)["mlm"]
    )


STILL = {"dropout": 0.0}


@pytest.mark.slow
def test_passes_are_a_matter_of_memory_alone(speaking, text, tmp_path):
    model = {"start": str(speaking), **STILL}
    runs = [
        finished(
            tiny_run(speaking, text, model=model, batch={"size": 8, "micro_batch_size": n}),
            tmp_path / str(n),
        )
        for n in (1, 3, 8)
    ]
    for few, some, all_at_once in zip(*runs, strict=True):
        assert few.checksum == some.checksum == all_at_once.checksum
        assert few.losses == pytest.approx(all_at_once.losses, rel=1e-4)
        assert some.losses == pytest.approx(all_at_once.losses, rel=1e-4)


@pytest.mark.slow
def test_so_is_checkpointing_and_half_precision_trains(speaking, text, tmp_path):
    model = {"start": str(speaking), **STILL}
    plain = finished(tiny_run(speaking, text, model=model), tmp_path / "plain")
    engine = {"checkpointing": True}
    again = finished(tiny_run(speaking, text, model=model, engine=engine), tmp_path / "again")
    for a, b in zip(again, plain, strict=True):
        assert a.losses == pytest.approx(b.losses, rel=1e-4)
    engine = {"precision": "bf16"}
    half = finished(tiny_run(speaking, text, model=model, engine=engine), tmp_path / "half")
    assert half[-1].losses["total"] == pytest.approx(plain[-1].losses["total"], rel=0.05)
