"""Events and facts of the miniature's world, independent of language, and their entailments."""

from dataclasses import dataclass
from typing import Literal, TypeAlias
from zlib import crc32

from .world import GIVING, KIND_OF, SOMEONE

Relation: TypeAlias = Literal["contradiction", "entailment", "neutral"]
Split: TypeAlias = Literal["train", "dev", "test"]


@dataclass(frozen=True, slots=True, order=True)
class Event:
    """Somebody does something with a thing; or a denial that there was any such event."""

    who: str
    """A person, or `someone`; of a denial this means nobody."""
    verb: str
    what: str
    """A thing, or a kind of things."""
    colour: str = ""
    where: str = ""
    when: str = ""
    whom: str = ""
    """Who gets it, of verbs of giving."""
    happened: bool = True

    @property
    def frame(self) -> str:
        """The frame of the sentence that states it."""
        if self.happened:
            return "yes"
        return "nobody" if self.who == SOMEONE else "no"

    @property
    def frames(self) -> str:
        """The frames that its verb has."""
        return "giving" if self.verb in GIVING else "doing"


@dataclass(frozen=True, slots=True, order=True)
class Fact:
    """A sentence with names in it."""

    kind: str
    slots: tuple[tuple[str, str], ...]
    """Slot and id; of a person `first last`."""

    def of(self, slot: str) -> str:
        """Return what fills a slot."""
        return dict(self.slots)[slot]


def covers(general: Event, specific: Event) -> bool:
    """Return whether one description implies the other, ignoring denials."""
    return (
        general.who in (specific.who, SOMEONE)
        and general.verb == specific.verb
        and general.what in (specific.what, KIND_OF.get(specific.what))
        and all(
            wanted in ("", found)
            for wanted, found in (
                (general.colour, specific.colour),
                (general.where, specific.where),
                (general.when, specific.when),
                (general.whom, specific.whom),
            )
        )
    )


def relation(premise: Event, hypothesis: Event) -> Relation:
    """Return the relation of a premise to a hypothesis.

    A statement says that there was an event of its description, a denial that there was none.
    So a statement follows from one about less, a denial from one about more; and a denial
    contradicts a statement about less.
    """
    if premise.happened == hypothesis.happened:
        less, more = premise, hypothesis
        if not premise.happened:
            less, more = hypothesis, premise
        return "entailment" if covers(more, less) else "neutral"
    denied, stated = premise, hypothesis
    if premise.happened:
        denied, stated = hypothesis, premise
    return "contradiction" if covers(denied, stated) else "neutral"


def split_of(about: Event | Fact) -> Split:
    """Return the split that an event or fact belongs to: 60 % train, 20 % dev, 20 % test.

    An event, its denial, and the same with giver and receiver exchanged are all in one split, so
    that no sentence of a test has a near copy with the answer in training data.
    """
    if isinstance(about, Event):
        told = (about.verb, about.what, about.colour, about.where, about.when)
        key = (*sorted((about.who, about.whom)), *told)
    else:
        key = (about.kind, *(value for _, value in about.slots))
    part = crc32("|".join(key).encode()) % 10
    return "train" if part < 6 else "dev" if part < 8 else "test"
