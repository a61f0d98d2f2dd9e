"""Statements: events and facts with a sentence frame, independent of language."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from .events import Event, Fact, Split, split_of
from .lexicon import Lexicon
from .phrases import Sentence
from .random_events import draw_event, draw_fact
from .sentence_rendering import fact_sentence, frame_sentence
from .world import FACTS, KINDS, SOMEONE, WITH_CONVERSE

T = TypeVar("T")

_OPEN = {
    "who": {"who": SOMEONE},
    "what": {"what": next(iter(KINDS)), "colour": ""},
    "whom": {"whom": SOMEONE},
    "where": {},
    "when": {},
}
"""What questions leave open, normalized so that one question belongs to one split."""


@dataclass(frozen=True, slots=True, order=True)
class Statement:
    """An event or a fact, and the frame of its sentence."""

    about: Event | Fact
    frame: str

    @property
    def split(self) -> Split:
        """The split that it belongs to."""
        return split_of(self.about)


def sentence_of(lexicon: Lexicon, saying: Statement) -> Sentence:
    """Return the sentence in a language."""
    if isinstance(saying.about, Fact):
        return fact_sentence(lexicon, saying.about, saying.frame)
    return frame_sentence(lexicon, saying.about, saying.frame)


def text_of(lexicon: Lexicon, saying: Statement) -> str:
    """Return the sentence in a language as text."""
    return lexicon.script.text(sentence_of(lexicon, saying))


def draw_statement(chance: Random, *, facts: float, questions: float = 0.0) -> Statement:
    """Draw a statement; `facts` and `questions` are the shares of those."""
    if chance.random() < facts:
        return Statement(draw_fact(chance, chance.choice(tuple(FACTS))), "says")
    giving = chance.random() < 0.3
    asked = chance.random() < questions
    event = draw_event(chance, giving=giving, someone=not asked, kinds=True)
    if asked:
        frame = chance.choice(["who", "what", "where", "when"] + ["whom"] * giving)
        return Statement(replace(event, where="", when="", **_OPEN[frame]), frame)
    frames = ["yes", "yes", "no"]
    if event.when and event.who != SOMEONE:
        frames.append("moved")
    if event.verb in WITH_CONVERSE:
        frames.append("converse")
    frame = chance.choice(frames)
    event = replace(event, happened=frame != "no")
    return Statement(event, event.frame if frame in ("yes", "no") else frame)


def draw_distinct(count: int, draw: Callable[[], T | None]) -> list[T]:
    """Draw `count` different items; draw again after a repetition or None."""
    found: dict[T, None] = {}
    while len(found) < count:
        one = draw()
        if one is not None:
            found[one] = None
    return list(found)


def draw_statements(
    seed: str, split: Split, count: int, *, facts: float, questions: float = 0.0
) -> list[Statement]:
    """Draw different statements of a split."""
    chance = Random(f"{seed} {split}")

    def draw() -> Statement | None:
        saying = draw_statement(chance, facts=facts, questions=questions)
        return saying if saying.split == split else None

    return draw_distinct(count, draw)
