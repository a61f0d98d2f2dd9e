"""Labels against brute force over every small world, and against leaks."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from polyprune.miniature.events import Event, Fact, relation, split_of
from polyprune.miniature.sentence_pairs import (
    draw_hypothesis,
    find_premise,
    inferences,
    less_specific,
    more_specific,
    paraphrases,
)
from polyprune.miniature.statements import Statement

WHO, WHAT, WHERE = ("anna", "ivan"), ("cat", "dog"), ("park", "school")
ATOMS = tuple(product(WHO, WHAT, WHERE))
"""All events that can happen in a small world; a world is a set of them."""


def worlds_in_which(event: Event) -> int:
    """The worlds in which a sentence is true, one bit each of 256."""
    fits = sum(
        1 << i
        for i, (who, what, where) in enumerate(ATOMS)
        if event.who in (who, "someone")
        and event.what in (what, "animal")
        and event.where in (where, "")
    )
    worlds = 1 << len(ATOMS)
    true = "".join("1" if bool(world & fits) == event.happened else "0" for world in range(worlds))
    return int(true, 2)


def sentences() -> list[Event]:
    return [
        Event(who, "buy", what, where=where, happened=happened)
        for who, what, where, happened in product(
            (*WHO, "someone"), (*WHAT, "animal"), (*WHERE, ""), (True, False)
        )
    ]


def test_relation_is_what_holds_in_every_world():
    true = {event: worlds_in_which(event) for event in sentences()}
    for premise, hypothesis in product(true, repeat=2):
        both = true[premise] & true[hypothesis]
        expected = (
            "contradiction" if not both else "entailment" if both == true[premise] else "neutral"
        )
        assert relation(premise, hypothesis) == expected, (premise, hypothesis)


@pytest.mark.parametrize("field", ["verb", "colour", "when", "whom"])
def test_what_is_told_of_one_only_is_open(field):
    event = Event("anna", "give", "hat", "red", when="noon", whom="ivan")
    others = {"verb": "lend", "colour": "white", "when": "friday", "whom": "nina"}
    other = replace(event, **{field: others[field]})
    assert relation(event, other) == relation(other, event) == "neutral"
    assert relation(event, replace(other, happened=False)) == "neutral"


def test_telling_less_follows_and_telling_more_does_not():
    chance = Random(0)
    for _ in range(300):
        event = replace(draw_hypothesis(chance), happened=True)
        more, less = more_specific(chance, event, 2), less_specific(chance, event, 2)
        assert relation(more, event) == relation(event, less) == "entailment"
        assert relation(event, more) == relation(less, event) == "neutral"


def test_premises_have_their_label_and_split():
    chance = Random(1)
    for label in ("entailment", "neutral", "contradiction"):
        for _ in range(100):
            hypothesis = draw_hypothesis(chance)
            if premise := find_premise(chance, hypothesis, label):
                assert relation(premise, hypothesis) == label
                assert split_of(premise) == split_of(hypothesis)


def looks(saying: Statement) -> tuple:
    """What might give a label away without the other sentence."""
    event = saying.about
    assert isinstance(event, Event)
    told = bool(event.colour), bool(event.where), bool(event.when)
    return event.frame, event.what in ("fruit", "animal", "garment", "vehicle"), told


def test_hypothesis_alone_tells_nothing():
    seen: dict[tuple, Counter] = defaultdict(Counter)
    for pair in inferences("seen", "train", 450):
        seen[looks(pair.second)][pair.label] += 1
    guesses = {look: counts.most_common(1)[0][0] for look, counts in seen.items()}
    unseen = inferences("unseen", "train", 300)
    right = sum(guesses.get(looks(pair.second)) == pair.label for pair in unseen)
    assert right / len(unseen) < 0.43


def test_labels_are_balanced_and_sentences_differ():
    pairs = inferences("balance", "test", 60)
    assert set(Counter(pair.label for pair in pairs).values()) == {20}
    assert all(pair.first != pair.second for pair in pairs)


def test_paraphrases_exchange_persons_only_where_the_label_says_so():
    pairs = paraphrases("same", "train", 200)
    frames = {label: Counter() for label in "01"}
    for pair in pairs:
        first, second = pair.first.about, pair.second.about
        assert isinstance(first, Event)
        assert isinstance(second, Event)
        assert (first == second) == (pair.label == "1")
        assert replace(second, who=first.who, whom=first.whom) == first
        assert split_of(first) == split_of(second) == "train"
        frames[pair.label][pair.first.frame, pair.second.frame] += 1
    assert frames["0"].keys() == frames["1"].keys()


def test_denials_and_exchanged_persons_stay_in_a_split():
    event = Event("anna", "give", "hat", whom="ivan")
    other = replace(event, who="ivan", whom="anna", happened=False)
    assert split_of(event) == split_of(other)
    facts = [Fact("born", (("person", "anna berg"), ("city", f"{i}"))) for i in range(100)]
    assert Counter(map(split_of, facts))["train"] > 40
