"""Fine-tuning: what is read when, what is learned, which model is kept."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from accelerate import Accelerator, DistributedType

import polyprune as pp
from polyprune.corpora.positions import StreamPosition
from polyprune.errors import ConfigError, DataError, UnknownName
from polyprune.evaluation.evaluator import EvalConfig, evaluate_system
from polyprune.evaluation.example_store import ExampleStore, epoch_batches
from polyprune.evaluation.finetune_config import FineTuneConfig, SearchSpace, Trial
from polyprune.evaluation.finetuning import TaskMaterial, TaskSession, finetuning_run
from polyprune.evaluation.hyperparameter_search import HyperparameterSearch
from polyprune.evaluation.prediction import input_tensors, label_tensors
from polyprune.evaluation.tasks import TASKS
from polyprune.evaluation.training_data import encode_training
from polyprune.model.network.readouts import READOUTS
from polyprune.progress import Silent
from polyprune.training.gating_config import GatingConfig
from polyprune.training.loop import _accumulate
from polyprune.training.objectives import Objective
from polyprune.training.run import make_accelerator, start_phase
from polyprune.training.run_paths import RunPaths
from polyprune.training.training_module import TrainingModule
from support.finetuning import QUICK, every_size, gates_a_language, trained, tuned, weights
from support.models import AUTO, speaking_model
from support.xtreme import xtreme_folder

TASK = {
    "sentence-classification": "xnli",
    "token-classification": "udpos",
    "span": "xquad",
}


@pytest.fixture
def data(tmp_path) -> Path:
    return xtreme_folder(tmp_path / "xtreme")


@pytest.fixture
def setup(speaking, data) -> FineTuneConfig:
    return FineTuneConfig(str(speaking), TASKS["xnli"], str(data))


def of_task(setup: FineTuneConfig, task: str, **changes) -> FineTuneConfig:
    return replace(setup, task=TASKS[task], **changes)


def session_of(setup: FineTuneConfig, out: Path, setting: Trial):
    """A session that is ready to train."""
    store = encode_training(setup, out / "examples.arrow")
    run, paths = finetuning_run(setup, setting, len(store)), RunPaths(out / "run")
    paths.out.mkdir()
    material = TaskMaterial(setup, out / "examples.arrow")
    return material.open(run, paths, make_accelerator(run, paths), Silent())


@pytest.mark.slow
@pytest.mark.parametrize("task", ["xnli", pytest.param("udpos", marks=pytest.mark.slow)])
def test_a_stopped_run_ends_like_one_that_was_not(setup, tmp_path, task):
    setup, setting = of_task(setup, task), Trial(1e-2, 2, batch=4)
    both = {}
    for name, stops in {"straight": (), "broken": (1, 4)}.items():
        tuning = HyperparameterSearch(setup, SearchSpace((1e-2,), (2,), batch=4), tmp_path / name)
        reports = trained(tuning, setting, stops)
        log = (tuning.out / setting.name / "log.jsonl").read_bytes()
        both[name] = (reports, log, (tuning.models[0] / "model.safetensors").read_bytes())
    assert both["broken"] == both["straight"]
    assert [report.step for report in reports] == [1, 2, 3, 4, 5, 6]
    assert [bool(report.held_out) for report in reports] == 2 * [False, False, True]


def test_what_was_read_before_a_stop_is_not_read_again(setup, tmp_path):
    setting = Trial(1e-3, 3, seed=4, batch=4)
    session = session_of(setup, tmp_path, setting)
    step_batches = session.step_batches(None)
    straight = [next(step_batches) for _ in range(9)]
    step_batches.close()
    for stopped in (0, 2, 3, 7):
        step_batches = session.step_batches(straight[stopped].position)
        assert [next(step_batches).checksum for _ in range(8 - stopped)] == [
            work.checksum for work in straight[stopped + 1 :]
        ]
        step_batches.close()
    for epoch in (straight[:3], straight[3:6], straight[6:]):
        assert sum(work.examples for work in epoch) == len(session.store) == 11
        assert len({work.checksum for work in epoch}) == 3


@pytest.mark.parametrize(("examples", "batch"), [(41, 4), (40, 4), (3, 32), (1, 1), (230, 2)])
def test_every_epoch_reads_every_example_once(examples, batch):
    lengths = np.random.default_rng(0).integers(3, 60, examples)
    first, again, second = (epoch_batches(lengths, batch, 7, epoch) for epoch in (0, 0, 1))
    for epoch in (first, second):
        assert sorted(np.concatenate(epoch).tolist()) == list(range(examples))
        assert all(len(some) == batch for some in epoch[:-1])
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    if examples > batch:
        assert np.concatenate(first).tolist() != np.concatenate(second).tolist()
        other = np.concatenate(epoch_batches(lengths, batch, 8, 0)).tolist()
        assert other != np.concatenate(first).tolist()


def test_english_alone_or_all_languages(setup, tmp_path):
    english = encode_training(setup, tmp_path / "en.arrow")
    assert {code for code, _ in english.take(range(len(english)))} == {"en"}
    everything = replace(setup, regime="translate-train-all")
    store = encode_training(everything, tmp_path / "all.arrow")
    codes = Counter(code for code, _ in store.take(range(len(store))))
    assert codes == {"en": 11, "ru": 11, "sw": 11}
    limited = replace(everything, limit=4, languages=("ru", "sw"))
    store = encode_training(limited, tmp_path / "some.arrow")
    assert Counter(code for code, _ in store.take(range(len(store)))) == {"ru": 4, "sw": 4}
    assert everything.development == ["en", "ru", "sw"]
    assert setup.development == ["en"]


def test_all_languages_are_more_than_english(setup, data, tmp_path):
    everything = replace(setup, regime="translate-train-all")
    assert everything.missing[:3] == ["ar", "bg", "de"]
    assert "sw" not in everything.missing
    for path in data.glob("xnli/train-[rs]*.tsv"):
        path.unlink()
    with pytest.raises(DataError, match=r"English alone .* looked for .*xnli/train-ar.tsv"):
        encode_training(everything, tmp_path / "all.arrow")
    wanted = replace(everything, languages=("en",))
    assert len(encode_training(wanted, tmp_path / "en.arrow")) == 11
    assert wanted.missing == setup.missing == []


def test_examples_are_tokenised_once(setup, tmp_path):
    path = tmp_path / "examples.arrow"
    encode_training(setup, path)
    (Path(setup.data) / "xnli" / "train-en.tsv").unlink()
    assert len(encode_training(setup, path)) == len(ExampleStore(path)) == 11


@pytest.mark.slow
def test_an_elastic_model_learns_in_all_sizes_and_is_asked_in_any(setup, speaking, data, tmp_path):
    setup = replace(setup, model=str(every_size(speaking, tmp_path / "elastic")))
    tuning = HyperparameterSearch(setup, SearchSpace((1e-3,), (3,), batch=4), tmp_path / "out")
    reports = trained(tuning, next(tuning.pending()))
    assert len({report.density for report in reports}) > 2
    scores = {
        sparsity: evaluate_system(str(tuning.out), TASKS["xnli"], EvalConfig(str(data)), sparsity)
        for sparsity in (0.1, 0.9)
    }
    assert {each.sparsity for each in scores.values()} == {0.1, 0.9}
    assert pp.load(tuning.models[0]).elastic is not None
    one = tuned(replace(setup, sparsity=0.5), tmp_path / "one")
    assert pp.load(one.models[0]).elastic is None
    with pytest.raises(ConfigError, match="has one size"):
        HyperparameterSearch(
            replace(setup, model=str(speaking), sparsity=0.5), QUICK, tmp_path / "x"
        ).encode()


def test_an_elastic_model_is_looked_at_in_several_sizes(setup, speaking, tmp_path, monkeypatch):
    setup = replace(setup, model=str(every_size(speaking, tmp_path / "elastic")))
    session = session_of(setup, tmp_path, Trial(1e-3, 1))
    seen = []
    score = lambda self, plain, code, density: seen.append(density) or 100 * density**2  # noqa: E731
    monkeypatch.setattr(TaskSession, "_score", score)
    monkeypatch.setattr(Accelerator, "unwrap_model", lambda self, system: system)
    found = session.held_out(None, 0.5)
    assert seen == pytest.approx([0.7, 0.5, 0.3])
    assert found == {"en": pytest.approx(1 - (0.49 + 0.25 + 0.09) / 3)}
    one = replace(session, run=replace(session.run, gating=GatingConfig()))
    assert one.held_out(None, 0.5) == {"en": pytest.approx(0.75)}


@pytest.mark.parametrize(("examples", "shares"), [(12, (4, 4, 4)), (4, (2, 1, 1)), (2, (1, 1, 0))])
def test_every_example_counts_the_same_on_however_many_processes(
    setup, tmp_path, monkeypatch, examples, shares
):
    session = session_of(setup, tmp_path, Trial(1e-3, 1, batch=12))
    monkeypatch.setattr(Accelerator, "num_processes", 3)
    step_batches = []
    for process in range(3):
        monkeypatch.setattr(Accelerator, "process_index", process)
        step_batches.append(session._work(np.arange(examples) % 11, StreamPosition(1)))
    assert [work.weight * examples / 3 for work in step_batches] == pytest.approx(shares)
    assert [work.examples for work in step_batches] == [share or 1 for share in shares]


def test_the_weight_of_a_process_scales_its_loss_and_gradient(setup, tmp_path):
    session = session_of(setup, tmp_path, Trial(1e-3, 1, batch=4))
    work = session._work(np.arange(4), StreamPosition(1))
    found = {}
    for weight in (1.0, 0.5):
        phase_state, _ = start_phase(session, 0, None)
        phase_state.system.eval()
        losses = _accumulate(phase_state, replace(work, weight=weight), 1.0, None)
        gradient = phase_state.plain.model.readout.output.bias.grad
        found[weight] = (losses["total"], gradient.clone())
    torch.testing.assert_close(found[0.5][0], found[1.0][0] / 2)
    torch.testing.assert_close(found[0.5][1], found[1.0][1] / 2)


def test_models_are_not_sharded(setup, tmp_path, monkeypatch):
    session = session_of(setup, tmp_path, Trial(1e-3, 1))
    fsdp = property(lambda _: DistributedType.FSDP)
    monkeypatch.setattr(Accelerator, "distributed_type", fsdp)
    material = TaskMaterial(setup, tmp_path / "examples.arrow")
    with pytest.raises(ConfigError, match=r"copies of the model \(DDP\): launch without"):
        material.check(session.run, session.accelerator)


@pytest.mark.parametrize(
    ("languages", "changed"),
    [(("en",), [True, True, False, False]), (("en", "ru"), [True, True, True, False])],
)
def test_weights_that_closed_gates_hide_do_not_change(
    setup, speaking, tmp_path, languages, changed
):
    folder = gates_a_language(speaking, tmp_path / "gated")
    gated = replace(setup, model=str(folder), regime="translate-train-all", languages=languages)
    tuning = tuned(gated, tmp_path / "out")
    name = "encoder.layers.0.feed_forward.expand.weight"
    before, after = weights(folder)[name], weights(tuning.models[0])[name]
    axis = 0 if before.shape[0] == 40 else 1
    same = [torch.equal(before.select(axis, unit), after.select(axis, unit)) for unit in range(4)]
    assert [not each for each in same] == changed
    assert pp.load(tuning.models[0]).elastic.rows == ("en", "ru")


def test_batches_say_whose_gates(setup, speaking, tmp_path):
    folder = gates_a_language(speaking, tmp_path / "gated")
    gated = replace(setup, model=str(folder), regime="translate-train-all")
    session = session_of(gated, tmp_path, Trial(1e-3, 1, batch=33))
    (work,) = [next(step_batches := session.step_batches(None))]
    step_batches.close()
    rows = torch.cat([batch["rows"] for batch in work.micro_batches])
    # Swahili has no gates of its own, and no kin: it borrows those of English.
    assert Counter(rows.tolist()) == {0: 22, 1: 11}
    russian = replace(gated, fallback="ru")
    rows = replace(session, setup=russian)._tensors([("sw", session.store.take([0])[0][1])])["rows"]
    assert rows.tolist() == [1]
    files = TaskMaterial(russian, tmp_path / "examples.arrow").files
    assert files["task"]["fallback"] == "ru"
    with pytest.raises(UnknownName, match=r"Unknown fallback 'sw'.* gates of: en, ru"):
        encode_training(replace(gated, fallback="sw"), tmp_path / "other.arrow")


def test_steps_in_half_precision(setup, tmp_path):
    half = replace(setup, precision="bf16")
    assert finetuning_run(half, Trial(2e-5, 1), 32).engine.precision == "bf16"
    assert finetuning_run(setup, Trial(2e-5, 1), 32).engine.precision == "no"
    assert TaskMaterial(half, tmp_path).files["task"]["precision"] == "bf16"


def test_a_finished_model_knows_its_labels_and_loads_anywhere(setup, tmp_path):
    tuning = tuned(setup, tmp_path / "out")
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(tuning.models[0])
    names = {0: "contradiction", 1: "entailment", 2: "neutral"}
    assert theirs.config.id2label == pp.load(tuning.models[0]).config.id2label == names
    assert theirs.config.label2id == {name: i for i, name in names.items()}
    ids = torch.tensor([[0, 7, 9, 2]])
    expected = pp.load(tuning.models[0])(ids).logits
    torch.testing.assert_close(theirs.eval()(ids).logits, expected)


@pytest.mark.parametrize("words", [True, False])
def test_frozen_words_stay_as_they_are(setup, speaking, tmp_path, words):
    tuning = tuned(replace(setup, words=words), tmp_path / "out")
    before, after = weights(speaking), weights(tuning.models[0])
    names = [name for name in before if ".embedding.words." in name]
    assert names
    assert all(torch.equal(before[name], after[name]) != words for name in names)


@pytest.mark.parametrize(("examples", "steps", "warmup"), [(32, 1, 0), (3200, 100, 10)])
def test_warming_up_takes_a_tenth_at_most(setup, examples, steps, warmup):
    run = finetuning_run(of_task(setup, "xquad"), Trial(3e-5, 1), examples)
    assert (run.steps, run.phases[0].warmup) == (steps, warmup)
    long = finetuning_run(of_task(setup, "xquad"), Trial(3e-5, 2), 88_000)
    assert long.phases[0].warmup == 500
    assert finetuning_run(setup, Trial(2e-5, 5), 390_000).phases[0].warmup == 0


@pytest.mark.parametrize("readout", TASK)
def test_the_loss_is_that_of_transformers(tmp_path, data, readout):
    """Of spans without padding, where answers may be for transformers but not for us."""
    folder = speaking_model(tmp_path / "model", readout)
    theirs = getattr(transformers, AUTO[readout]).from_pretrained(folder).eval()
    ours = pp.load(folder).eval()
    task = TASKS[TASK[readout]]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    labels = ("DET", "NOUN", "VERB", "ADJ") if readout == "token-classification" else task.labels
    read = task.reader.read(str(data), "train", "en")
    preprocessing = task.kind.fitted(ours)
    if readout == "sentence-classification":
        read = [replace(each, second=each.second[:i]) for i, each in enumerate(read)]
    encoded = list(preprocessing.encode(read, tokenizer, labels, training=True))
    length, _ = Counter(len(each.ids) for each in encoded).most_common(1)[0]
    if readout == "span":
        encoded = [each for each in encoded if len(each.ids) == length]
    assert len(encoded) > 1
    batch = input_tensors(encoded, tokenizer) | label_tensors(encoded, READOUTS[readout])
    if readout != "span":
        assert not batch["attention_mask"].all()
    loss = TrainingModule(ours, Objective(labels=1.0))(batch)["labels"]
    torch.testing.assert_close(loss, theirs(**batch).loss)
