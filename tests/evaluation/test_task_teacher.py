"""Fine-tuning with a teacher: gold labels and another model's outputs together."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

import polyprune as pp
from polyprune.errors import ConfigError
from polyprune.evaluation.finetune_config import FineTuneConfig, SearchSpace, TaskTeacher, Trial
from polyprune.evaluation.finetuning import TaskMaterial, finetuning_run
from polyprune.evaluation.tasks import TASKS
from polyprune.evaluation.training_data import encode_training
from polyprune.progress import Silent
from polyprune.training.distillation import soft_cross_entropy
from polyprune.training.objectives import Objective
from polyprune.training.run import make_accelerator
from polyprune.training.run_paths import RunPaths
from polyprune.training.training_module import TrainingModule
from support.finetuning import every_size, tuned
from support.models import speaking_model
from support.xtreme import xtreme_folder

QUICK = SearchSpace((1e-2,), (2,), batch=4)


@pytest.fixture
def data(tmp_path) -> Path:
    return xtreme_folder(tmp_path / "xtreme")


@pytest.fixture
def setup(speaking, data) -> FineTuneConfig:
    return FineTuneConfig(str(speaking), TASKS["xnli"], str(data))


def teacher_of(setup: FineTuneConfig, folder: Path) -> Path:
    """A model of the task."""
    return tuned(setup, folder, QUICK).models[0]


def session_of(setup: FineTuneConfig, out: Path):
    out.mkdir()
    store = encode_training(setup, out / "examples.arrow")
    run, paths = finetuning_run(setup, Trial(1e-2, 1, batch=4), len(store)), RunPaths(out / "run")
    material = TaskMaterial(setup, out / "examples.arrow")
    return material.open(run, paths, make_accelerator(run, paths), Silent())


@pytest.mark.parametrize("task", ["xnli", "udpos", "xquad"])
def test_both_losses_are_those_of_one_pass(setup, tmp_path, task):
    setup = replace(setup, task=TASKS[task])
    folder = teacher_of(setup, tmp_path / "teacher")
    setup = replace(setup, teacher=TaskTeacher(str(folder), weight=0.3, temperature=3.0))
    session = session_of(setup, tmp_path / "work")
    model = pp.load(session.paths.prepared)
    system = session.system(model).eval()
    assert system.weights == pytest.approx({"labels": 0.7, "outputs": 0.3})
    batch = next(iter(session.step_batches(None))).micro_batches[0]
    losses = system(batch)
    alone = TrainingModule(model, Objective(labels=1.0)).eval()(batch)
    torch.testing.assert_close(losses["labels"], alone["labels"])
    names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in batch]
    ours, theirs = (
        each(**{name: batch[name] for name in names}) for each in (model, session.teacher)
    )
    if task == "xnli":
        logits = ours.logits, theirs.logits
    elif task == "udpos":  # where there are labels, not at every piece of a word
        there = batch["labels"] != -100
        assert 0 < there.sum() < batch["attention_mask"].sum()
        logits = ours.logits[there], theirs.logits[there]
    else:
        absent = ~batch["attention_mask"].bool()
        logits = tuple(
            torch.cat([each.masked_fill(absent, -1e4) for each in (o.start_logits, o.end_logits)])
            for o in (ours, theirs)
        )
    torch.testing.assert_close(losses["outputs"], soft_cross_entropy(*logits, temperature=3.0))
    assert losses["outputs"] > 0
    losses["outputs"].backward()
    assert all(parameter.grad is None for parameter in session.teacher.parameters())


def test_a_student_learns_what_only_its_teacher_says(setup, tmp_path):
    """A teacher that always says the same, whatever the gold labels are."""
    folder = teacher_of(setup, tmp_path / "teacher")
    model = pp.load(folder)
    with torch.no_grad():
        last = [each for each in model.readout.modules() if isinstance(each, torch.nn.Linear)][-1]
        last.weight.zero_()
        last.bias.copy_(torch.tensor([0.0, 0.0, 6.0]))
    model.save_pretrained(tmp_path / "stubborn")
    gold = tuned(setup, tmp_path / "gold", QUICK).models[0]
    listens = replace(setup, teacher=TaskTeacher(str(tmp_path / "stubborn"), weight=0.95))
    taught = tuned(listens, tmp_path / "taught", QUICK).models[0]
    ids = torch.randint(5, 30, (8, 9), generator=torch.Generator().manual_seed(0))
    chosen = [
        F.softmax(pp.load(each)(input_ids=ids, attention_mask=torch.ones_like(ids)).logits, -1)[
            :, 2
        ]
        for each in (gold, taught)
    ]
    assert chosen[1].min() > 0.8 > chosen[0].mean()


def test_another_teacher_is_another_fine_tuning(setup, tmp_path):
    folder = str(teacher_of(setup, tmp_path / "teacher"))
    tuned(replace(setup, teacher=TaskTeacher(folder)), tmp_path / "out", QUICK)
    with pytest.raises(ConfigError, match=r"weight: 0\.5 there, 0\.6 here"):
        tuned(replace(setup, teacher=TaskTeacher(folder, 0.6)), tmp_path / "out", QUICK)


@pytest.mark.parametrize("weight", [0.0, 1.0, -1.0, float("nan")])
def test_a_teacher_has_a_part_of_the_loss(weight):
    with pytest.raises(ConfigError, match="`teacher_weight` is between 0 and 1"):
        TaskTeacher("teacher", weight)
    with pytest.raises(ConfigError, match="`temperature` is more than 0, not 0"):
        TaskTeacher("teacher", temperature=0.0)


def test_a_teacher_does_the_same_task_in_the_same_words(setup, speaking, tmp_path):
    def expect(folder: Path, why: str) -> None:
        wrong = replace(setup, teacher=TaskTeacher(str(folder)))
        with pytest.raises(ConfigError, match=why):
            tuned(wrong, tmp_path / f"of-{folder.name}", QUICK)

    expect(speaking, "has a masked-lm readout")
    expect(speaking_model(tmp_path / "other", "sentence-classification"), "with the labels")
    folder = teacher_of(setup, tmp_path / "teacher")
    reader = folder / "tokenizer.json"
    reader.write_text(reader.read_text().replace('"e":', '"ə":'), encoding="utf-8")
    expect(folder, "reads other words")


def test_a_teacher_is_one_model(setup, speaking, tmp_path):
    elastic = every_size(speaking, tmp_path / "elastic")
    sizes = tuned(replace(setup, model=str(elastic)), tmp_path / "sizes", QUICK).models[0]
    wrong = replace(setup, teacher=TaskTeacher(str(sizes)))
    with pytest.raises(ConfigError, match=r"has gates\. Take one model out"):
        tuned(wrong, tmp_path / "out", QUICK)
