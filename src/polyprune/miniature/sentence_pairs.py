"""Sentence pairs: inferences (XNLI) and paraphrases (PAWS-X).

What is asked is decided last. A hypothesis is drawn before its label, and the sentences of a
paraphrase before it is known whether two persons change places: so neither the hypothesis alone
nor the form of a pair tells the label.
"""

from dataclasses import dataclass, replace
from random import Random

from .events import Event, Relation, Split, relation, split_of
from .random_events import draw_event
from .statements import Statement, draw_distinct
from .world import (
    COLOURS,
    DOING,
    KIND_OF,
    KINDS,
    PERSONS,
    PLACES,
    SOMEONE,
    THINGS,
    TIMES,
    WITH_CONVERSE,
)

RELATIONS: tuple[Relation, ...] = ("entailment", "neutral", "contradiction")

_VALUES = {"colour": COLOURS, "where": PLACES, "when": TIMES}
# Whoever finds or washes something sees it too, so that seeing is exchanged for nothing.
_VERBS = tuple(verb for verb in DOING if verb != "see")
_OTHERS = {"who": PERSONS, "verb": _VERBS, "what": THINGS, **_VALUES}
_TRIES = 40


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two sentences with a label."""

    first: Statement
    second: Statement
    label: str


def inferences(seed: str, split: Split, count: int) -> list[LabelledPair]:
    """Draw premises and hypotheses, equally many of each label."""
    chance = Random(f"{seed} {split}")
    labels = [RELATIONS[i % len(RELATIONS)] for i in range(count)]
    chance.shuffle(labels)
    pairs: dict[LabelledPair, None] = {}
    while len(pairs) < count:
        hypothesis = draw_hypothesis(chance)
        if split_of(hypothesis) != split:
            continue
        # A hypothesis that has premises of every label cannot tell which of them it was given.
        premises = {label: find_premise(chance, hypothesis, label) for label in RELATIONS}
        label = labels[len(pairs)]
        if all(premises.values()) and (premise := premises[label]):
            sentences = Statement(premise, premise.frame), Statement(hypothesis, hypothesis.frame)
            pairs[LabelledPair(*sentences, label)] = None
    return list(pairs)


def draw_hypothesis(chance: Random) -> Event:
    """Draw an event or a denial that can be made more and less specific."""
    event = draw_event(chance)
    dropped = chance.sample(tuple(_VALUES), chance.choice((1, 2)))
    values = {key: "" if key in dropped else chance.choice(ids) for key, ids in _VALUES.items()}
    who = event.who if chance.random() < 0.75 else SOMEONE
    what = event.what if chance.random() < 0.7 else KIND_OF[event.what]
    return replace(event, who=who, what=what, happened=chance.random() < 0.5, **values)


def find_premise(chance: Random, hypothesis: Event, label: Relation) -> Event | None:
    """Draw a premise with this label in the hypothesis's split; None if a few tries fail."""
    same = chance.random() < 0.5 if label == "neutral" else label == "entailment"
    happened = hypothesis.happened == same
    # A statement follows from one that tells more, a denial from one that tells less.
    towards, away = (more_specific, less_specific) if happened else (less_specific, more_specific)
    turned = label == "neutral" and chance.random() < 0.4
    # Two sentences that differ in nothing but a "not" are the easiest: a few are enough.
    plain = not same and not turned and chance.random() < 0.15
    for _ in range(_TRIES):
        changes = 0 if plain else chance.choice((1, 2, 3))
        premise = (away if turned else towards)(chance, hypothesis, changes)
        if label == "neutral" and not turned:
            premise = _another(chance, premise)
        premise = replace(premise, happened=happened)
        if relation(premise, hypothesis) == label and split_of(premise) == split_of(hypothesis):
            return premise
    return None


def more_specific(chance: Random, event: Event, changes: int) -> Event:
    """Return the event with up to `changes` more details."""
    more = {key: chance.choice(ids) for key, ids in _VALUES.items() if not getattr(event, key)}
    if event.who == SOMEONE:
        more["who"] = chance.choice(PERSONS)
    if event.what in KINDS:
        more["what"] = chance.choice(KINDS[event.what])
    return _changed(chance, event, more, changes)


def less_specific(chance: Random, event: Event, changes: int) -> Event:
    """Return the event with up to `changes` details left open."""
    less = {key: "" for key in _VALUES if getattr(event, key)}
    if event.who != SOMEONE:
        less["who"] = SOMEONE
    if event.what in KIND_OF:
        less["what"] = KIND_OF[event.what]
    return _changed(chance, event, less, changes)


def _changed(chance: Random, event: Event, possible: dict[str, str], changes: int) -> Event:
    chosen = chance.sample(sorted(possible), min(changes, len(possible)))
    return replace(event, **{key: possible[key] for key in chosen})


def _another(chance: Random, event: Event) -> Event:
    """Return an event that differs in one detail."""
    told = [key for key in _OTHERS if getattr(event, key) not in ("", "see")]
    key = chance.choice(told)
    return replace(event, **{key: chance.choice(_OTHERS[key])})


def paraphrases(seed: str, split: Split, count: int) -> list[LabelledPair]:
    """Draw sentence pairs of nearly the same words that mean the same, or not."""
    chance = Random(f"{seed} {split}")

    def draw() -> LabelledPair | None:
        event = draw_event(chance, giving=True)
        event = replace(event, when=event.when or chance.choice(TIMES))
        frames = ["yes", "moved"]
        if event.verb in WITH_CONVERSE:
            frames.append("converse")
        one, other = chance.sample(frames, 2)
        same = chance.random() < 0.5
        second = event if same else replace(event, who=event.whom, whom=event.who)
        if split_of(event) != split:
            return None
        return LabelledPair(Statement(event, one), Statement(second, other), "1" if same else "0")

    return draw_distinct(count, draw)
