"""Every kind of task × every format of files: read, recognised, fine-tuned for, scored."""

from pathlib import Path

import pytest

import polyprune as pp
from polyprune.evaluation.loaded_model import facts_of
from polyprune.evaluation.own_tasks.own_task import ModelFacts, scored_task, trained_task
from polyprune.evaluation.own_tasks.task_folder import open_task_folder
from polyprune.evaluation.own_tasks.task_kind import guess_kind
from polyprune.model.network.readouts import READOUTS
from support.models import speaking_model
from support.own_tasks import COMBINATIONS, ROWS, write_own_task

READOUT = {
    "classification": "sentence-classification",
    "pairs": "sentence-classification",
    "multi-label": "sentence-classification",
    "regression": "sentence-classification",
    "tagging": "token-classification",
    "question answering": "span",
    "retrieval": "hidden-states",
}
LABELS = {
    "classification": ("bad", "fine", "good"),
    "pairs": ("no", "yes"),
    "multi-label": ("food", "price", "staff"),
    "tagging": ("B-LOC", "O"),
}
PROBLEM = {"multi-label": "multi_label_classification", "regression": "regression"}
MAIN = {
    "classification": "accuracy",
    "pairs": "accuracy",
    "multi-label": "micro_f1",
    "regression": "pearson",
    "tagging": "chunk_f1",
    "question answering": "f1",
    "retrieval": "accuracy",
}


def named(kind: str) -> str:
    return "classification" if kind == "pairs" else kind


def facts(kind: str) -> ModelFacts:
    problem = PROBLEM.get(kind, "single_label_classification")
    return ModelFacts("mine", READOUTS[READOUT[kind]], LABELS.get(kind, ()), problem)


@pytest.mark.parametrize(("kind", "form"), COMBINATIONS)
def test_files_are_recognised_and_all_formats_hold_the_same(kind, form, tmp_path):
    folder = open_task_folder(str(write_own_task(tmp_path / form, kind, form)))
    assert guess_kind(folder) == named(kind)
    task = scored_task(folder, facts(kind))
    same = write_own_task(tmp_path / "same", kind, "jsonl")
    other = scored_task(open_task_folder(str(same)), facts(kind))
    for code in ("ru", "sw"):
        examples = list(task.reader.read("", "test", code))
        assert examples == list(other.reader.read("", "test", code))
        assert task.kind.gold(examples) is not None
        assert task.kind.count(examples) == len(ROWS.get(kind, ROWS["classification"])(code))
    assert task.languages == (("ru", "sw") if kind == "retrieval" else ("en", "ru", "sw"))
    assert task.version != other.version or form == "jsonl"


@pytest.mark.parametrize(
    ("kind", "form"), [each for each in COMBINATIONS if each[0] != "retrieval"]
)
def test_labels_come_from_the_training_data(kind, form, tmp_path):
    folder = open_task_folder(str(write_own_task(tmp_path, kind, form)))
    task = trained_task(folder)
    assert task.labels == LABELS.get(kind, ())
    assert task.defaults is not None


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, Path]:
    """A model of each kind, with labels of its own."""
    folder = tmp_path_factory.mktemp("models")
    speaking = speaking_model(folder / "speaking")
    found = {}
    for kind in READOUT:
        labels = LABELS.get(kind, ())
        count = len(labels) or (1 if kind == "regression" else None)
        model = pp.load(speaking, READOUT[kind], labels=count)
        if labels:
            model.config.id2label = dict(enumerate(labels))
            model.config.label2id = {label: i for i, label in enumerate(labels)}
        model.config.problem_type = PROBLEM.get(kind)
        model.save_pretrained(folder / kind)
        found[kind] = folder / kind
    return found


@pytest.mark.parametrize(("kind", "form"), COMBINATIONS)
def test_a_model_with_labels_of_its_own_is_scored(kind, form, models, tmp_path):
    data = write_own_task(tmp_path / "mine", kind, form, splits=())
    result = pp.evaluate(models[kind], data=data)
    (system,) = result.systems
    assert list(system.languages) == (["ru", "sw"] if kind == "retrieval" else ["en", "ru", "sw"])
    for each in system.languages.values():
        assert next(iter(each.scores)) == MAIN[kind]
        assert all(-100 <= score <= 100 for score in each.scores.values())
    assert result.as_dict()["task"] == "mine"


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(ROWS))
def test_a_model_learns_it(kind, tmp_path, speaking):
    """What it was fine-tuned on it knows, and it did not after one epoch."""
    data = write_own_task(tmp_path / "mine", kind, "jsonl")
    scores = []
    for epochs in (1, 40):
        options = {"epochs": epochs, "out": tmp_path / str(epochs), "batch": 4}
        tuned = pp.finetune(speaking, data=data, learning_rate=2e-3, **options)
        (system,) = pp.evaluate(tuned, data=data).systems
        scores.append(system.mean[MAIN[kind]])
    assert scores[1] > max(scores[0], 60)
    assert facts_of(tuned.models[0]).kind == named(kind)
    assert facts_of(tuned.models[0]).labels[: len(LABELS.get(kind, ()))] == LABELS.get(kind, ())
