"""What a guess scores: the same answer to everything."""

import pytest

from polyprune.evaluation.baselines import baseline_scores
from polyprune.evaluation.examples import Answer, Bitext, Question, SentencePair, TaggedSentence
from polyprune.evaluation.tasks import TASKS


def guessed(name, examples):
    task = TASKS[name]
    return baseline_scores(task, examples, task.kind.gold(examples), "en")


def test_pairs_get_the_most_frequent_label():
    pairs = [SentencePair("a", "b", label) for label in ("neutral", "entailment", "neutral")]
    assert guessed("xnli", pairs) == {"accuracy": pytest.approx(200 / 3)}
    assert guessed("xnli", [SentencePair("a", "b")]) is None


def test_words_get_the_most_frequent_tag():
    names = [TaggedSentence(("a", "b", "c"), ("B-PER", "O", "O"))]
    assert guessed("panx", names)["f1"] == 0
    words = [TaggedSentence(("a", "b"), ("NOUN", "VERB")), TaggedSentence(("c",), ("NOUN",))]
    assert 0 < guessed("udpos", words)["f1"] < 100


def test_questions_get_the_whole_text():
    text = "one two three four"
    question = Question("1", "?", text, (Answer("two", 4),))
    # One word of four is right, and the only right one is there.
    assert guessed("xquad", [question]) == {"f1": pytest.approx(40), "exact": 0}


def test_sentences_get_the_translation_that_is_spelt_most_alike_and_mining_finds_none():
    ids = ("0", "1", "2")
    pairs = tuple((each, each) for each in ids)
    sources = ("Anna schläft", "der Hund von Peter", "zwei Äpfel")
    bitext = Bitext(sources, ("Anna sleeps", "Peter's dog", "a hound in the sun"), ids, ids, pairs)
    assert guessed("tatoeba", [bitext]) == {"accuracy": pytest.approx(200 / 3)}  # not the apples
    assert guessed("bucc2018", [bitext])["f1"] == 0
