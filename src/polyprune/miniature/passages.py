"""Passages with questions whose answer occurs exactly once."""

from dataclasses import dataclass
from random import Random
from typing import Any

from .events import Event, Fact, Split
from .lexicon import Lexicon
from .random_events import draw_event, draw_fact
from .statements import Statement, draw_distinct, sentence_of, text_of
from .world import FACTS


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences that share no person, thing, place, time or name, and questions about some."""

    sayings: tuple[Statement, ...]
    asked: tuple[tuple[int, str], ...]
    """Which sentence, and what of it: `who`, `when`, ..., or a fact's `asks`."""


def passages(seed: str, split: Split, count: int) -> list[Passage]:
    """Draw different passages of a split, with two questions each."""
    chance = Random(f"{seed} {split}")

    def draw() -> Passage:
        told: list[Statement] = []
        taken: set[str] = set()
        length = chance.choice((4, 5, 6))
        while len(told) < length:
            saying = _draw(chance)
            ids = mentioned(saying.about)
            # Nothing comes up twice, so that every question has one answer.
            if saying.split == split and not ids & taken:
                told.append(saying)
                taken |= ids
        asked = [(i, chance.choice(_questions(told[i]))) for i in chance.sample(range(length), 2)]
        return Passage(tuple(told), tuple(asked))

    return draw_distinct(count, draw)


def _draw(chance: Random) -> Statement:
    if chance.random() < 0.4:
        return Statement(draw_fact(chance, chance.choice(tuple(FACTS))), "says")
    event = draw_event(chance, giving=chance.random() < 0.4)
    return Statement(event, "moved" if event.when and chance.random() < 0.3 else "yes")


def mentioned(about: Event | Fact) -> set[str]:
    """Return the ids of what a sentence mentions; names one by one."""
    if isinstance(about, Event):
        return {about.who, about.whom, about.what, about.where, about.when} - {""}
    return {part for _, value in about.slots for part in value.split()}


def _questions(saying: Statement) -> list[str]:
    if isinstance(saying.about, Fact):
        return ["asks"]
    optional = ("whom", "where", "when")
    return ["who", "what", *(slot for slot in optional if getattr(saying.about, slot))]


def article(lexicon: Lexicon, name: str, made: list[Passage]) -> dict[str, Any]:
    """Return passages in SQuAD's format in a language."""
    paragraphs = [_paragraph(lexicon, f"{name}-{i}", one) for i, one in enumerate(made)]
    kept = [paragraph for paragraph in paragraphs if paragraph["qas"]]
    return {"version": "1.1", "data": [{"title": name, "paragraphs": kept}]}


def _paragraph(lexicon: Lexicon, name: str, passage: Passage) -> dict[str, Any]:
    context = ""
    spans: list[dict[str, tuple[int, int]]] = []
    for saying in passage.sayings:
        context += lexicon.script.between if context else ""
        text, found = _placed(lexicon, saying, len(context))
        context += text
        spans.append(found)
    asked = []
    for number, (i, frame) in enumerate(passage.asked):
        about = passage.sayings[i].about
        slot = FACTS[about.kind].asked if isinstance(about, Fact) else frame
        start, end = spans[i][slot]
        answer = context[start:end]
        # The answer's words may be in another sentence by chance, as one word within another.
        if context.count(answer) == 1:
            question = text_of(lexicon, Statement(about, frame))
            answers = [{"text": answer, "answer_start": start}]
            asked.append({"id": f"{name}-{number}", "question": question, "answers": answers})
    return {"context": context, "qas": asked}


def _placed(
    lexicon: Lexicon, saying: Statement, offset: int
) -> tuple[str, dict[str, tuple[int, int]]]:
    """Return a sentence's text, and the span of each filled slot."""
    words = sentence_of(lexicon, saying)
    text, starts = lexicon.script.placed(words)
    spans: dict[str, tuple[int, int]] = {}
    for word, start in zip(words, starts, strict=True):
        if word.marked:
            first, _ = spans.get(word.slot, (offset + start, 0))
            spans[word.slot] = first, offset + start + len(word.form)
    return text, spans
