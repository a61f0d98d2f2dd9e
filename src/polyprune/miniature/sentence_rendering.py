"""Render events and facts as sentences of a language."""

from functools import partial

from .events import Event, Fact
from .lexicon import Lexicon
from .phrases import Sentence, Slot, Word, fill, whole
from .world import FACTS, SLOTS


def event_sentence(lexicon: Lexicon, event: Event) -> Sentence:
    """Return the sentence that states an event, or denies it."""
    return frame_sentence(lexicon, event, event.frame)


def frame_sentence(lexicon: Lexicon, event: Event, frame: str) -> Sentence:
    """Return an event in one of its verb's frames, which include questions."""
    gender = _agreement(lexicon, event, frame)
    filler = partial(_of_event, lexicon, event, gender)
    return lexicon.script.begun(fill(lexicon.frame(event.verb, frame, gender), filler))


def _of_event(lexicon: Lexicon, event: Event, gender: str, slot: Slot) -> Sentence:
    """Return what fills a slot: a person, thing, place, time or verb."""
    section = SLOTS.get(slot.name)
    if section is None:
        return lexicon.verb(event.verb, slot.name, gender)
    if section == "things":
        return lexicon.thing(event.what, event.colour, slot.form)
    if section == "persons":
        name = event.who if slot.name in ("who", "giver") else event.whom
    else:
        name = event.where if slot.name == "where" else event.when
    return lexicon.form(section, name, slot.form, slot.name) if name else ()


def _agreement(lexicon: Lexicon, event: Event, frame: str) -> str:
    """Return the gender that the verb agrees with."""
    if lexicon.agrees_with == "what":
        return lexicon.gender("things", "" if frame == "what" else event.what)
    subject = event.whom if frame == "converse" else event.who
    return lexicon.gender("persons", "" if frame in ("who", "nobody") else subject)


def fact_sentence(lexicon: Lexicon, fact: Fact, which: str = "says") -> Sentence:
    """Return a fact as a statement, or with `asks` as a question."""
    person = dict(fact.slots).get("person", "").partition(" ")[0]
    known = which == "says" or FACTS[fact.kind].asked != "person"
    gender = lexicon.gender("persons", person if known else "")
    filler = partial(_of_fact, lexicon, fact)
    return lexicon.script.begun(fill(lexicon.fact(fact.kind, which, gender), filler))


def _of_fact(lexicon: Lexicon, fact: Fact, slot: Slot) -> Sentence:
    name = fact.of(slot.name)
    if slot.name == "year":
        return (Word(name, slot.tag, True, "year"),)
    if slot.name not in SLOTS:
        return _full_name(lexicon, name, slot.name)
    return lexicon.form(SLOTS[slot.name], name, slot.form, slot.name)


def _full_name(lexicon: Lexicon, name: str, slot: str) -> Sentence:
    first, _, last = name.partition(" ")
    parts = {
        "first": lexicon.form("persons", first, "name", slot),
        "last": whole(lexicon.surname(last, lexicon.gender("persons", first)), slot),
    }
    words = fill(lexicon.data["names"]["full"], lambda part: parts[part.name])
    # What is between the names, such as a dot, belongs to the whole as well.
    return tuple(Word(word.form, word.tag, True, slot, word.glued) for word in words)
