from dataclasses import replace

import pytest
import transformers

import polyprune
from polyprune.errors import ConfigError, DataError, UnknownName
from polyprune.evaluation.examples import Bitext, Question, SentencePair, TaggedSentence
from polyprune.evaluation.loaded_model import check_labels
from polyprune.evaluation.retrieval import mine_ids
from polyprune.evaluation.submission import read_predictions, write_predictions
from polyprune.evaluation.task_types import Predictor
from polyprune.evaluation.tasks import TASKS, find_task
from support.models import speaking_model
from support.xtreme import languages_of, xtreme_folder

COUNTS = {
    "xnli": 15,
    "pawsx": 7,
    "udpos": 33,
    "panx": 40,
    "xquad": 11,
    "mlqa": 7,
    "tydiqa": 9,
    "bucc2018": 4,
    "tatoeba": 36,
}
"""Languages of each task in XTREME."""

TRAINED = [name for name in COUNTS if name not in ("bucc2018", "tatoeba")]
UNLABELLED = {
    SentencePair: {"label": None},
    TaggedSentence: {"tags": None},
    Question: {"answers": ()},
    Bitext: {"gold": None},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> str:
    return str(xtreme_folder(tmp_path_factory.mktemp("xtreme")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return speaking_model(tmp_path_factory.mktemp("speaking") / "model")


@pytest.fixture(scope="module")
def tokenizer(folder):
    return transformers.AutoTokenizer.from_pretrained(folder)


@pytest.fixture(params=TASKS)
def task(request):
    return TASKS[request.param]


def examples_of(task, data: str, split: str = "test") -> list:
    return list(task.reader.read(data, split, languages_of(task.name)[0]))


def without_labels(examples: list) -> list:
    return [replace(each, **UNLABELLED[type(each)]) for each in examples]


def test_there_are_nine_each_under_its_name():
    assert list(TASKS) == list(COUNTS)
    assert all(task.name == task.reader.task == name for name, task in TASKS.items())
    titles = ["XNLI", "PAWS-X", "POS", "NER", "XQuAD", "MLQA", "TyDiQA", "BUCC", "Tatoeba"]
    assert [task.title for task in TASKS.values()] == titles
    groups = dict.fromkeys(task.group for task in TASKS.values())
    assert list(groups) == ["classification", "tagging", "question answering", "retrieval"]


def test_a_task_has_the_languages_of_xtreme(task):
    assert len(task.languages) == len(set(task.languages)) == COUNTS[task.name]
    assert ("en" in task.languages) == (task.group != "retrieval")


def test_there_are_forty_languages_in_all():
    every = {code for task in TASKS.values() for code in task.languages}
    assert every == set(TASKS["panx"].languages)
    assert len(every) == 40


def test_a_task_has_labels_if_some_are_predicted(task):
    count = {"xnli": 3, "pawsx": 2, "udpos": 19, "panx": 7}.get(task.name, 0)
    assert len(task.labels) == len(set(task.labels)) == count
    assert list(task.labels) == sorted(task.labels) or task.name == "udpos"
    assert task.kind.readout.embeds == (task.group == "retrieval")


def test_a_task_has_a_recipe_if_it_is_trained(task):
    assert (task.defaults is not None) == (task.name in TRAINED)


def test_data_of_every_split_that_is_needed_has_a_place(task):
    needed = {"bucc2018": {"dev", "test"}, "tatoeba": {"test"}}
    splits = needed.get(task.name, {"train", "dev", "test", "translated"})
    assert set(task.reader.places) == splits
    assert all(task.reader.places.values())


def perfect(task, gold):
    """What a model would have to predict."""
    if task.group == "question answering":
        return {name: answers[0] for name, answers in gold}
    return gold


def test_perfect_predictions_score_100_also_from_their_file(task, data, tmp_path):
    code = languages_of(task.name)[0]
    gold = task.kind.gold(examples_of(task, data))
    predictions = perfect(task, gold)
    path = write_predictions(tmp_path, task.name, code, predictions)
    assert path == tmp_path / task.name / f"test-{code}.{task.format.suffix}"
    again = read_predictions(tmp_path, task.name, code)
    assert again == predictions
    scores = task.score(gold, again, code)
    assert set(scores.values()) == {100.0}
    by_accuracy = task.group == "classification" or task.name == "tatoeba"
    assert next(iter(scores)) == ("accuracy" if by_accuracy else "f1")


def test_what_a_model_predicts_can_be_scored_and_written(task, data, folder, tokenizer, tmp_path):
    model = polyprune.load(folder, task.kind.readout, labels=len(task.labels) or None)
    if task.labels:
        model.config.id2label = dict(enumerate(task.labels))
    subject = Predictor(model, tokenizer)
    examples, code = examples_of(task, data), languages_of(task.name)[0]
    dev = examples_of(task, data, "dev") if task.kind.needs_dev else []
    predictions = task.kind.predict(subject, examples, dev)
    gold = task.kind.gold(examples)
    if task.name != "bucc2018":  # where pairs may be missing
        assert len(predictions) == len(gold)
    scores = task.score(gold, predictions, code)
    assert all(0 <= score <= 100 for score in scores.values())
    write_predictions(tmp_path, task.name, code, predictions)
    assert read_predictions(tmp_path, task.name, code) == predictions
    hidden = task.kind.predict(subject, without_labels(examples), examples_of(task, data))
    assert hidden == predictions  # nothing is looked up in the labels


def test_data_without_labels_has_no_gold(task, data):
    examples = examples_of(task, data)
    assert task.kind.gold(examples) is not None
    assert task.kind.gold(without_labels(examples)) is None


def test_labelling_with_what_is_right_is_the_inverse_of_asking_for_it(task, data):
    examples = examples_of(task, data)
    gold = task.kind.gold(examples)
    labelled = task.kind.label(without_labels(examples), gold)
    assert task.kind.gold(labelled) == gold
    assert without_labels(labelled) == without_labels(examples)


def test_examples_are_counted_as_they_are_asked(task, data):
    counts = {"classification": 11, "tagging": 12, "question answering": 6, "retrieval": 12}
    assert task.kind.count(examples_of(task, data)) == counts[task.group]


def test_the_labels_of_examples_are_those_of_the_task(task, data):
    said = {label for each in examples_of(task, data) for label in task.kind.said(each)}
    assert said <= set(task.labels)
    assert bool(said) == bool(task.labels)
    assert not any(task.kind.said(each) for each in without_labels(examples_of(task, data)))


def test_only_answers_are_cut_out_otherwise_by_the_official_scripts(task):
    kind = task.kind.compatible()
    assert (kind is not None) == (task.group == "question answering")
    assert kind is None or kind.preprocessing.compat


@pytest.mark.parametrize("name", TRAINED)
def test_labels_for_some_examples_only_are_an_error(name, data):
    task = TASKS[name]
    first, second, *rest = examples_of(task, data)
    examples = [first, *without_labels([second]), *rest]
    with pytest.raises(DataError, match=f"1 of {len(examples)} examples have no label"):
        task.kind.gold(examples)


def test_mining_needs_pairs_to_choose_a_threshold_on(data, folder, tokenizer):
    task = TASKS["bucc2018"]
    subject = Predictor(polyprune.load(folder, "hidden-states"), tokenizer)
    examples = examples_of(task, data)
    with pytest.raises(DataError, match="threshold is chosen on dev pairs, which are missing"):
        task.kind.predict(subject, examples, without_labels(examples))


def test_the_threshold_of_mining_is_that_of_dev(data, folder, tokenizer):
    kind = TASKS["bucc2018"].kind
    subject = Predictor(polyprune.load(folder, "hidden-states"), tokenizer)
    (bitext,) = examples_of(TASKS["bucc2018"], data)
    # The same sentences under other names, of which the two likeliest pairs are right.
    dev = replace(bitext, source_ids=tuple(f"dev-{each}" for each in bitext.source_ids))
    best = tuple(pair for *pair, _ in mined(subject, dev)[:2])
    dev = replace(dev, gold=tuple((source, target) for source, target in best))
    found = kind.predict(subject, [bitext], [dev])
    assert found == [(source.removeprefix("dev-"), target) for source, target in best]


def mined(subject: Predictor, bitext: Bitext) -> list[tuple[str, str, float]]:
    return mine_ids(bitext, subject.embed(bitext.sources), subject.embed(bitext.targets))


def test_inputs_are_no_longer_than_the_model_can_read(folder):
    model = polyprune.load(folder)
    assert {TASKS[name].kind.fitted(model).longest for name in TRAINED} == {32}


def test_a_model_that_says_other_things_was_not_fine_tuned_for_the_task(folder, tokenizer):
    model = polyprune.load(folder, "token-classification", labels=7)
    message = r"not fine-tuned for panx: it says LABEL_0, .*finetune MODEL --task panx"
    with pytest.raises(ConfigError, match=message):
        check_labels(model.config, TASKS["panx"])
    model.config.id2label = dict(enumerate(TASKS["panx"].labels))
    check_labels(model.config, TASKS["panx"])


def test_a_model_need_not_say_all_that_a_task_knows(folder, tokenizer):
    """A tagger of the 17 parts of speech lacks the two that are added to them."""
    model = polyprune.load(folder, "token-classification", labels=17)
    model.config.id2label = dict(enumerate(sorted(set(TASKS["udpos"].labels) - {"O", "_"})))
    check_labels(model.config, TASKS["udpos"])
    model.config.id2label[17] = "VRB"
    with pytest.raises(ConfigError, match="not fine-tuned for udpos"):
        check_labels(model.config, TASKS["udpos"])


@pytest.mark.parametrize("name", ["tatoeba", "bucc2018"])
def test_sentences_are_compared_where_the_subject_says(name, data, folder, tokenizer):
    model = polyprune.load(folder, "hidden-states")
    examples = examples_of(TASKS[name], data)
    subject = Predictor(model, tokenizer, device="nowhere")
    with pytest.raises(RuntimeError, match="nowhere"):
        TASKS[name].kind.predict(subject, examples, examples)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("NER", "panx"),
        ("WikiANN", "panx"),
        ("pan-x", "panx"),
        ("pos", "udpos"),
        ("tydi", "tydiqa"),
        ("TyDiQA", "tydiqa"),
        ("BUCC", "bucc2018"),
        ("PAWS-X", "pawsx"),
        *((name, name) for name in COUNTS),
    ],
)
def test_tasks_are_found_by_whatever_they_are_called(spelling, name):
    assert find_task(spelling) is TASKS[name]


@pytest.mark.parametrize(
    ("wrong", "nearest"), [("xlni", "xnli"), ("tatoba", "tatoeba"), ("wikian", "panx")]
)
def test_an_unknown_task_is_an_error_with_the_nearest(wrong, nearest):
    with pytest.raises(UnknownName, match=f"Unknown task '{wrong}'. Did you mean '{nearest}'"):
        find_task(wrong)


def test_the_languages_that_there_is_data_for_are_found(task, data):
    assert task.find(data, "test", None) == languages_of(task.name)
    named = list(task.languages[-2:])
    assert task.find(data, "test", [*named, *named]) == named


def test_without_any_data_reading_says_where_it_was_looked_for(task, tmp_path):
    (code,) = task.find(str(tmp_path), "test", None)
    with pytest.raises(DataError, match=f"no test data of {task.name}.*looked for"):
        list(task.reader.read(str(tmp_path), "test", code))


def test_a_language_that_a_task_does_not_have_is_an_error(task, data):
    message = f"Unknown language of {task.title} 'qx'.*There are: .*{task.languages[-1]}"
    with pytest.raises(UnknownName, match=message):
        task.find(data, "test", ["qx"])
