"""Every readout × every kind of model: dense, shrunk, of every size, with gates a language.

A pruned model is fine-tuned and evaluated by the same code as a dense one.
"""

import pytest
import torch

import polyprune as pp
from polyprune.evaluation.evaluator import EvalConfig, LoadedModel, evaluate, evaluate_system
from polyprune.evaluation.finetune_config import FineTuneConfig, SearchSpace, Trial
from polyprune.evaluation.finetuning import TaskMaterial, finetuning_run
from polyprune.evaluation.hyperparameter_search import HyperparameterSearch
from polyprune.evaluation.task_types import Predictor
from polyprune.evaluation.tasks import TASKS
from polyprune.evaluation.training_data import encode_training
from polyprune.model.files.gates_file import SHARED
from polyprune.model.network.components import Gates, sizes
from polyprune.model.network.source import ModelSource
from polyprune.model.surgery.shrink import shrink
from polyprune.pruning.gates.dynamic import boundaries
from polyprune.pruning.gates.elastic import Elastic, stack_rows
from polyprune.pruning.gates.gatings import DynamicGating, FixedGating
from polyprune.pruning.selection.ranking import ComponentWeights, unflatten
from polyprune.training.run import train
from support.xtreme import languages_of, xtreme_folder

TASK = {
    "sentence-classification": "xnli",
    "token-classification": "udpos",
    "span": "xquad",
    "hidden-states": "tatoeba",
}
"""One of each readout."""

ROWS = ("en", "ru", "sw")


def random_gates(model, seed: int) -> Gates:
    generator = torch.Generator().manual_seed(seed)
    counts = sizes(model.shape)
    flat = (torch.rand(1, sum(counts.leaves()), generator=generator) < 0.6).float()
    gates = unflatten(flat, counts)
    gates.rank[:, 0] = 1.0  # words need a rank
    return gates


def make(kind: str, speaking, folder):
    """A model folder of a kind, and the sparsity to ask it at."""
    model = pp.load(speaking)
    weights = ComponentWeights.of(model.shape)
    if kind == "dense":
        return speaking, None
    if kind == "shrunk":
        model = shrink(model, random_gates(model, 0))
    elif kind == "every size":
        generator = torch.Generator().manual_seed(0)
        counts = sizes(model.shape)
        scores = unflatten(torch.rand(1, sum(counts.leaves()), generator=generator), counts)
        model.elastic = Elastic(DynamicGating(*boundaries(scores, weights)), (SHARED,), weights)
    else:
        gates = stack_rows([random_gates(model, seed) for seed in range(len(ROWS))])
        model.elastic = Elastic(FixedGating(gates), ROWS, weights)
    model.source = ModelSource.at(speaking)
    model.save_pretrained(folder)
    return folder, 0.5 if kind == "every size" else None


KINDS = ("dense", "shrunk", "every size", "gates a language")


@pytest.fixture
def data(tmp_path) -> str:
    return str(xtreme_folder(tmp_path / "xtreme"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("readout", TASK)
def test_whatever_it_is_it_is_fine_tuned_and_scored_in_every_language(
    kind, readout, speaking, data, tmp_path
):
    path, sparsity = make(kind, speaking, tmp_path / "made")
    task = TASKS[TASK[readout]]
    if task.defaults is not None:
        setup = FineTuneConfig(str(path), task, data)
        tuning = HyperparameterSearch(setup, SearchSpace((1e-3,), (1,)), tmp_path / "tuned")
        examples = tuning.encode()
        for setting in tuning.pending():
            run, folder = tuning.run(setting, examples)
            reports = list(train(run, folder, material=tuning.material))
            assert len(reports) == run.steps
            tuning.conclude(setting)
        path = tuning.out
        assert pp.load(path / "model").readout_kind.name == readout
    result = evaluate_system(str(path), task, EvalConfig(data), sparsity)
    wanted = [code for code in languages_of(task.name) if code != "en" or task.defaults]
    assert list(result.languages) == wanted
    for each in result.languages.values():
        assert each.scores is not None
        assert all(0 <= score <= 100 for score in each.scores.values())


@pytest.mark.parametrize("readout", sorted(set(TASK) - {"hidden-states"}))
def test_a_cut_model_predicts_what_the_gated_one_does(readout, speaking, data, tmp_path):
    task = TASKS[TASK[readout]]
    labels = len(task.labels) or None
    model = pp.load(speaking, readout, labels=labels)
    if task.labels:
        model.config.id2label = dict(enumerate(task.labels))
    tokenizer = LoadedModel.load(speaking, TASKS["tatoeba"]).tokenizer
    gates = random_gates(model, 3)
    cut = shrink(model, gates)
    examples = list(task.reader.read(data, "test", "ru"))
    ours = task.kind.predict(Predictor(cut, tokenizer), examples, [])
    theirs = task.kind.predict(Predictor(model, tokenizer, gates), examples, [])
    assert ours == theirs


@pytest.mark.slow
def test_a_cut_model_learns_what_the_gated_one_does(speaking, data, tmp_path):
    """Step by step: closed components have no gradient, so that cutting them changes nothing."""
    model = pp.load(speaking, "sentence-classification", labels=3)
    for name in ("hidden", "attention_probs", "attention_output", "feed_forward_output"):
        setattr(model.config, f"{name}_dropout_prob", 0.0)
    model.config.sentence_dropout = 0.0
    gates = random_gates(model, 5)
    gates.rank[:] = 1.0  # a cut table is two matrices, which learn otherwise than one
    cut = shrink(model, gates)
    model.elastic = Elastic(
        FixedGating(stack_rows([gates, gates])), ("en", "ru"), ComponentWeights.of(model.shape)
    )
    losses = {}
    for name, each in {"cut": cut, "gated": model}.items():
        each.source = ModelSource.at(speaking)
        each.save_pretrained(tmp_path / name)
        setup = FineTuneConfig(str(tmp_path / name), TASKS["xnli"], data)
        store = encode_training(setup, tmp_path / f"{name}.arrow")
        run = finetuning_run(setup, Trial(1e-3, 3, batch=4), len(store))
        material = TaskMaterial(setup, tmp_path / f"{name}.arrow")
        reports = train(run, tmp_path / f"{name}-run", material=material)
        losses[name] = [report.losses["total"] for report in reports]
    assert losses["cut"] == pytest.approx(losses["gated"], abs=1e-4)
    assert losses["cut"][-1] != pytest.approx(losses["cut"][0], abs=1e-3)


def test_languages_without_gates_borrow_those_of_others(speaking, data, tmp_path):
    path, _ = make("gates a language", speaking, tmp_path / "made")
    candidate = LoadedModel.load(path, TASKS["tatoeba"])
    for code, row in {"yo": "en", "ru": "ru", "xh": "sw", "zh": "en"}.items():
        assert candidate.for_language(code, "en")[1] == row
    results = list(evaluate(candidate, TASKS["tatoeba"], EvalConfig(data)))
    assert [each.gates for each in results] == [None, None]
