"""Which task is meant, and what is told about a task that does not fit."""

import pytest

from polyprune.errors import ConfigError, DataError, UnknownName
from polyprune.evaluation.examples import SentencePair, TaggedSentence
from polyprune.evaluation.own_tasks.choosing import choose_task, own_tasks
from polyprune.evaluation.own_tasks.own_task import ModelFacts, trained_task
from polyprune.evaluation.own_tasks.task_folder import open_task_folder
from polyprune.model.network.readouts import (
    HIDDEN_STATES,
    MASKED_LM,
    SENTENCE_CLASSIFICATION,
    SPAN,
    TOKEN_CLASSIFICATION,
)
from support.own_tasks import write_file, write_own_task

ONE = "single_label_classification"
FEELINGS = ModelFacts("feelings", SENTENCE_CLASSIFICATION, ("bad", "fine", "good"), ONE)
PLACES = ModelFacts("places", TOKEN_CLASSIFICATION, ("B-LOC", "O"), ONE)
NUMBERED = ModelFacts("numbered", SENTENCE_CLASSIFICATION, ("LABEL_0", "LABEL_1", "LABEL_2"), ONE)
ENCODER = ModelFacts("encoder", HIDDEN_STATES)


@pytest.fixture
def reviews(tmp_path):
    return write_own_task(tmp_path / "reviews", "classification", "tsv")


def test_a_folder_is_a_task_however_it_is_given(reviews):
    write_file(reviews / "task.toml", 'metric = "macro-f1"\n')
    for task, data in (
        (None, reviews),
        (reviews, None),
        (reviews, reviews),
        (reviews / "task.toml", None),
        ("reviews", reviews),
    ):
        found, place = choose_task(task and str(task), data and str(data), FEELINGS)
        assert (found.name, found.metric) == ("reviews", "macro-f1")
        assert place == str(reviews)
        assert found.labels == FEELINGS.labels


def test_a_task_file_may_be_elsewhere(reviews, tmp_path):
    about = write_file(tmp_path / "elsewhere" / "mine.toml", 'name = "mine"\n')
    found, place = choose_task(str(about), str(reviews), FEELINGS)
    assert (found.name, place) == ("mine", str(reviews))


def test_tasks_of_xtreme_are_found_by_name():
    found, place = choose_task("NER", "xtreme", PLACES)
    assert (found.name, place) == ("panx", "xtreme")
    with pytest.raises(ConfigError, match="NER has a metric of its own"):
        choose_task("NER", "xtreme", PLACES, "accuracy")


def test_what_is_missing_is_told(reviews):
    with pytest.raises(ConfigError, match="Give `data`, and `task` for one of XTREME's"):
        choose_task(None, None, FEELINGS)
    with pytest.raises(ConfigError, match="Give `data` too: a folder of XTREME that has xnli"):
        choose_task("xnli", None, FEELINGS)
    with pytest.raises(UnknownName, match="Unknown task 'xnlli'"):
        choose_task("xnlli", None, FEELINGS)
    message = r"Unknown task 'mytask'\. All nine.* For a task of your own leave `task` out"
    with pytest.raises(ConfigError, match=message):
        choose_task("mytask", str(reviews), FEELINGS)


def test_a_metric_by_name(reviews):
    found, _ = choose_task(None, str(reviews), FEELINGS, "macro-f1")
    assert found.metric == "macro-f1"
    with pytest.raises(UnknownName, match="For classification there are: accuracy, macro-f1"):
        choose_task(None, str(reviews), FEELINGS, "chunk-f1")


@pytest.mark.parametrize(
    ("kind", "form", "model", "message"),
    [
        ("classification", "tsv", ENCODER,
         "encoder has the readout hidden-states, and the files in .* are for classification. First"
         ": polyprune finetune encoder --data"),
        ("classification", "tsv", ModelFacts("words", MASKED_LM), "has the readout masked-lm"),
        ("tagging", "conll", FEELINGS, "train-en.conll holds tagged words, and feelings is f"),
        ("question answering", "squad", FEELINGS, "holds questions, and feelings is for"),
    ],
)  # fmt: skip
def test_a_model_for_something_else_is_told(tmp_path, kind, form, model, message):
    data = write_own_task(tmp_path / "mine", kind, form)
    with pytest.raises((ConfigError, DataError), match=message):
        choose_task(None, str(data), model)


def test_a_kind_that_the_model_does_not_have(reviews):
    write_file(reviews / "task.toml", 'kind = "regression"\n')
    message = "feelings was made for classification, and reviews is a task of regression. First"
    with pytest.raises(ConfigError, match=message):
        choose_task(None, str(reviews), FEELINGS)
    write_file(reviews / "task.toml", 'kind = "retrieval"\n')
    with pytest.raises(DataError, match=r"should be called by two languages, as en-sw\.tsv"):
        choose_task(None, str(reviews), ENCODER)


def test_retrieval_takes_any_model(tmp_path):
    data = write_own_task(tmp_path / "mine", "retrieval", "tsv")
    for model in (ENCODER, FEELINGS):
        found, _ = choose_task(None, str(data), model)
        assert (found.group, found.defaults, found.labels) == ("retrieval", None, ())


def read(task, code="sw"):
    return list(task.reader.read("", "test", code))


def test_labels_that_a_model_only_numbers_get_names(reviews):
    with pytest.raises(DataError, match=r"label 'bad', which numbered does not .*task\.toml"):
        read(choose_task(None, str(reviews), NUMBERED)[0])
    write_file(reviews / "task.toml", 'labels = ["bad", "fine", "good"]\n')
    examples = read(choose_task(None, str(reviews), NUMBERED)[0])
    assert [each.label for each in examples[:3]] == ["LABEL_0", "LABEL_1", "LABEL_2"]
    write_file(reviews / "task.toml", 'labels = ["bad", "good"]\n')
    with pytest.raises(ConfigError, match="has the labels bad, good, and numbered has LABEL_0"):
        choose_task(None, str(reviews), NUMBERED)


def test_tags_that_do_not_match_are_told_with_file_and_line(tmp_path):
    text = "Mji\tO\nwa\tO\nKisumu\tB-LOCATION\n\nAsha\tB-PER\n"
    write_file(tmp_path / "sw.conll", text)
    task, _ = choose_task(None, str(tmp_path), PLACES)
    message = r"Line 3 of .*sw\.conll has the tag 'B-LOCATION', which places does not have, nor B-P"
    with pytest.raises(DataError, match=message):
        read(task)


def test_numbers_of_labels_are_labels(tmp_path):
    write_file(tmp_path / "sw.tsv", "chai\t2\nmvua\t0\n")
    task, _ = choose_task(None, str(tmp_path), FEELINGS)
    assert read(task) == [SentencePair("chai", None, "good"), SentencePair("mvua", None, "bad")]


def test_a_language_without_labels_has_none(tmp_path):
    write_file(tmp_path / "sw.tsv", "chai\nmvua\n")
    task, _ = choose_task(None, str(tmp_path), FEELINGS)
    assert task.kind.gold(read(task)) is None
    write_file(tmp_path / "en.conll", "tea\n")
    (tmp_path / "sw.tsv").unlink()
    task, _ = choose_task(None, str(tmp_path), PLACES)
    assert read(task, "en") == [TaggedSentence(("tea",))]


@pytest.mark.parametrize(
    ("files", "split", "code", "message"),
    [
        ({"dev-sw.tsv": "a\tgood\n"}, "test", "sw",
         "There is no test data in .*: it has dev .sw.. To go on, score `split='dev'`"),
        ({"sw.tsv": "a\tgood\n"}, "dev", "sw", "no dev data in .*: it has test .sw.. To go on"),
        ({"sw.tsv": "a\tgood\n"}, "test", "en", "no test data for 'en' in .*: it has test .sw."),
        ({"sw.tsv": "\n"}, "test", "sw", "sw.tsv has no example. Fill it in, or delete it"),
        ({"sw.tsv": "text\tlabel\n"}, "test", "sw", "sw.tsv has no example"),
    ],
)  # fmt: skip
def test_a_split_that_is_empty_or_not_there(tmp_path, files, split, code, message):
    for name, text in files.items():
        write_file(tmp_path / name, text)
    task, _ = choose_task(None, str(tmp_path), FEELINGS)
    with pytest.raises(DataError, match=message):
        list(task.reader.read("", split, code))


def test_translations_need_both_sentences(tmp_path):
    write_file(tmp_path / "en-sw.tsv", "tea\tchai\nrain\t \n")
    task, _ = choose_task(None, str(tmp_path), ENCODER)
    with pytest.raises(DataError, match=r"Line 2 of .*en-sw\.tsv has no sentence in 'sw'"):
        read(task)


class TestTraining:
    """What a model is fine-tuned for."""

    def test_one_label_only_is_nothing_to_learn(self, tmp_path):
        write_file(tmp_path / "train-en.tsv", "tea\tgood\nrain\tgood\n")
        with pytest.raises(DataError, match="There is one label only, 'good', in the training"):
            trained_task(open_task_folder(str(tmp_path)))
        write_file(tmp_path / "train-en.tsv", "tea\nrain\n")
        with pytest.raises(DataError, match="There is no label in the training data"):
            trained_task(open_task_folder(str(tmp_path)))

    def test_without_training_files_there_is_nothing_to_train_on(self, tmp_path):
        write_file(tmp_path / "sw.tsv", "tea\tgood\n")
        with pytest.raises(DataError, match=r"There is no training data in .*: it has test \(sw\)"):
            trained_task(open_task_folder(str(tmp_path)))

    def test_a_model_that_has_the_labels_keeps_its_own(self, reviews):
        more = ModelFacts("more", SENTENCE_CLASSIFICATION, ("good", "bad", "fine", "other"), ONE)
        folder = open_task_folder(str(reviews))
        assert trained_task(folder, more).labels == more.labels
        assert trained_task(folder, PLACES).labels == FEELINGS.labels
        assert trained_task(folder).labels == FEELINGS.labels

    def test_a_task_file_says_the_labels_and_others_are_wrong(self, reviews):
        write_file(reviews / "task.toml", 'labels = ["good", "bad"]\n')
        task = trained_task(open_task_folder(str(reviews)))
        assert task.labels == ("good", "bad")
        with pytest.raises(DataError, match=r"the label 'fine', which task\.toml does not have"):
            read(task)

    def test_a_label_that_only_tests_have_is_wrong(self, reviews):
        write_file(reviews / "test-sw.tsv", "text\tlabel\nchai\tawful\n")
        with pytest.raises(DataError, match="'awful', which the training data does not have"):
            read(trained_task(open_task_folder(str(reviews))))

    @pytest.mark.parametrize(
        ("labels", "kind"),
        [("1 2 5", "classification"), ("1 2.5 3", "regression"), ("a|b a b", "multi-label")],
    )
    def test_labels_say_what_kind_it_is(self, tmp_path, labels, kind):
        rows = "".join(f"tea\t{label}\n" for label in labels.split())
        write_file(tmp_path / "train-en.tsv", rows)
        assert trained_task(open_task_folder(str(tmp_path))).reader.kind == kind

    def test_whole_numbers_are_numbers_for_a_model_of_numbers(self, tmp_path):
        write_file(tmp_path / "train-en.tsv", "tea\t1\nrain\t5\n")
        model = ModelFacts("stars", SENTENCE_CLASSIFICATION, ("LABEL_0",), "regression")
        assert trained_task(open_task_folder(str(tmp_path)), model).reader.kind == "regression"

    def test_one_label_each_may_be_several_for_a_model_of_several(self, reviews):
        problem = "multi_label_classification"
        model = ModelFacts("several", SENTENCE_CLASSIFICATION, FEELINGS.labels, problem)
        assert trained_task(open_task_folder(str(reviews)), model).reader.kind == "multi-label"
        write_file(reviews / "task.toml", 'kind = "classification"\n')
        assert trained_task(open_task_folder(str(reviews)), model).reader.kind == "classification"

    def test_the_regime_is_what_there_is(self, reviews, tmp_path):
        assert trained_task(open_task_folder(str(reviews))).regime == "translate-train-all"
        for code in ("ru", "sw"):
            (reviews / f"train-{code}.tsv").unlink()
        assert trained_task(open_task_folder(str(reviews))).regime == "transfer"


def test_a_span_model_answers(tmp_path):
    data = write_own_task(tmp_path / "mine", "question answering", "squad")
    found, _ = choose_task(None, str(data), ModelFacts("spans", SPAN, ("LABEL_0", "LABEL_1"), ONE))
    assert (found.group, found.labels) == ("question answering", ())


def test_tasks_are_listed(reviews, tmp_path, monkeypatch):
    write_own_task(tmp_path / "pos", "tagging", "conll", splits=())
    monkeypatch.chdir(tmp_path)
    assert own_tasks(None) == []
    found = own_tasks(str(tmp_path))
    assert [(each["task"], each["group"]) for each in found] == [
        ("pos", "tagging"),
        ("reviews", "classification"),
    ]
    assert found[0]["splits"] == {"test": ["en", "ru", "sw"]}
    write_file(tmp_path / "pos" / "task.toml", 'name = "places"\n')
    assert [each["task"] for each in own_tasks(None)] == ["places"]
    with pytest.raises(DataError, match="There is no folder nowhere with tasks"):
        own_tasks("nowhere")


def test_files_decide_the_version(reviews):
    before, _ = choose_task(None, str(reviews), FEELINGS)
    write_file(reviews / "test-sw.tsv", "text\tlabel\nchai\tgood\n")
    after, _ = choose_task(None, str(reviews), FEELINGS)
    assert before.version != after.version
