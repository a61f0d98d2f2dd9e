"""The whole folder, as the real readers read it."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from polyprune.errors import ConfigError
from polyprune.evaluation.examples import Bitext, Question, SentencePair, TaggedSentence
from polyprune.evaluation.tasks import IOB2, TASKS, UPOS
from polyprune.miniature.lexicon import languages
from polyprune.miniature.write_tasks import LANGUAGES, TaskSizes, write_miniature
from support.recorded import Recorded

pytestmark = pytest.mark.slow

SMALL = TaskSizes(
    xnli=24, pawsx=24, tagged=40, passages=10, held_out=20, tatoeba=24, bucc=10, bucc_others=14
)
SPOKEN = languages()
EACH = [(task, code) for task in TASKS for code in LANGUAGES[task] if code in SPOKEN]
QA = [(task, code) for task, code in EACH if TASKS[task].group == "question answering"]
SENTENCES = [
    (task, code) for task, code in EACH if TASKS[task].group in ("classification", "tagging")
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("miniature") / "xtreme"
    write_miniature(path, sizes=SMALL, codes=SPOKEN)
    return str(path)


def read(folder: str, task: str, split: Any, code: str) -> list:
    return list(TASKS[task].reader.read(folder, split, code))


def test_languages_are_those_that_tasks_have():
    for task, codes in LANGUAGES.items():
        assert set(codes) <= set(TASKS[task].languages)
        expected = set(LANGUAGES["xnli"]) & set(TASKS[task].languages)
        assert set(codes) == expected


@pytest.mark.parametrize(("task", "code"), EACH)
def test_every_split_is_there(folder, task, code):
    reader = TASKS[task].reader
    for split in reader.places:
        known = LANGUAGES[task]
        if split == "train" or (split == "dev" and task == "xquad"):
            known = ("en",) if TASKS[task].group != "tagging" else known
        found = reader.languages(folder, split, known)
        assert set(found) == set(known) & set(SPOKEN)
        if code in found:
            assert read(folder, task, split, code)


@pytest.mark.parametrize("code", SPOKEN)
def test_translations_say_the_same_as_english(folder, code):
    english = read(folder, "xnli", "train", "en")
    translated = read(folder, "xnli", "translated", code)
    assert [pair.label for pair in translated] == [pair.label for pair in english]
    assert len(english) == SMALL.xnli
    assert len(read(folder, "xnli", "test", code)) == SMALL.held_out


@pytest.mark.parametrize(("task", "code"), SENTENCES)
def test_splits_share_no_sentence(folder, task, code):
    split_sentences = [
        set(_sentences(read(folder, task, split, code))) for split in ("translated", "dev", "test")
    ]
    train, dev, test = split_sentences
    assert not train & dev
    assert not train & test
    assert not dev & test


def _sentences(examples: list) -> list:
    sentences = []
    for example in examples:
        if isinstance(example, SentencePair):
            assert example.first != example.second
            sentences += [example.first, example.second]
        else:
            assert isinstance(example, TaggedSentence)
            assert example.words not in sentences
            sentences.append(example.words)
    return sentences


@pytest.mark.parametrize(("task", "code"), SENTENCES)
def test_labels_and_tags_are_the_tasks_own(folder, task, code):
    for example in read(folder, task, "test", code):
        if isinstance(example, SentencePair):
            assert example.label in TASKS[task].labels
        else:
            assert set(example.tags) <= set(UPOS if task == "udpos" else IOB2)


@pytest.mark.parametrize("code", SPOKEN)
def test_names_begin_and_go_on(folder, code):
    kinds = Counter()
    for tagged in read(folder, "panx", "train", code):
        before = "O"
        for tag in tagged.tags:
            assert not tag.startswith("I-") or before[1:] == tag[1:]
            kinds[tag] += 1
            before = tag
    assert all(kinds[tag] for tag in ("B-PER", "I-PER", "B-LOC", "B-ORG", "I-ORG", "O"))


@pytest.mark.parametrize(("task", "code"), QA)
def test_answers_are_at_their_places_and_nowhere_else(folder, task, code):
    for split in ("translated", "test"):
        questions = read(folder, task, split, code)
        # Some are left out where a language says the answer twice.
        assert len(questions) >= SMALL.passages * 1.8
        for question in questions:
            assert isinstance(question, Question)
            (answer,) = question.answers
            assert question.context.find(answer.text) == answer.start
            assert question.context.count(answer.text) == 1
            assert answer.text == answer.text.strip()
            assert question.question
    contexts = [
        {question.context for question in read(folder, task, split, code)}
        for split in ("translated", "test")
    ]
    assert not contexts[0] & contexts[1]


@pytest.mark.parametrize("code", [code for code in SPOKEN if code != "en"])
def test_tatoeba_pairs_are_one_to_one(folder, code):
    (bitext,) = read(folder, "tatoeba", "test", code)
    assert isinstance(bitext, Bitext)
    assert len(set(bitext.sources)) == len(set(bitext.targets)) == SMALL.tatoeba
    assert bitext.gold
    assert len(bitext.gold) == SMALL.tatoeba


@pytest.mark.parametrize("code", [code for task, code in EACH if task == "bucc2018"])
def test_bucc_hides_pairs_among_others(folder, code):
    for split in ("dev", "test"):
        (bitext,) = read(folder, "bucc2018", split, code)
        assert len(set(bitext.sources)) == len(set(bitext.targets)) == 24
        assert len(bitext.gold) == SMALL.bucc
        assert {source for source, _ in bitext.gold} <= set(bitext.source_ids)
        assert {target for _, target in bitext.gold} <= set(bitext.target_ids)
        assert any(s[3:] != t[3:] for s, t in bitext.gold)


def test_translations_of_bucc_and_tatoeba_are_of_the_same_event(folder):
    (bitext,) = read(folder, "tatoeba", "test", "de")
    (mined,) = read(folder, "bucc2018", "test", "de")
    for found in (bitext, mined):
        sources = dict(zip(found.source_ids, found.sources, strict=True))
        targets = dict(zip(found.target_ids, found.targets, strict=True))
        for source, target in found.gold:
            for name in ("Anna", "David", "Orion", "Berlin", "Laura", "Kim"):
                assert (name in sources[source]) == (name in targets[target])


def test_the_same_bytes_every_time_whatever_languages_there_are(folder, tmp_path):
    random.seed(7)  # nobody else's chance has a part in it
    again = tmp_path / "again"
    write_miniature(again, sizes=SMALL, codes=["de"])
    files = [path for path in again.rglob("*") if path.is_file()]
    assert len(files) > 20
    for path in files:
        assert path.read_bytes() == (Path(folder) / path.relative_to(again)).read_bytes()


def test_nothing_is_overwritten_and_progress_is_told(folder, tmp_path):
    with pytest.raises(ConfigError, match="Choose another name"):
        write_miniature(Path(folder))
    progress = Recorded()
    few = TaskSizes(4, 4, 4, 2, 4, 4, 2, 2)
    write_miniature(tmp_path / "new", sizes=few, codes=["en"], progress=progress)
    assert progress.names == ["Writing tasks"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new"]
