"""Draw random events and facts."""

from collections.abc import Sequence
from random import Random

from .events import Event, Fact
from .world import (
    CITIES,
    COLOURS,
    COUNTRIES,
    DOING,
    FACTS,
    GIVING,
    KINDS,
    ORGANISATIONS,
    PERSONS,
    PLACES,
    SOMEONE,
    SURNAMES,
    THINGS,
    TIMES,
    WOMEN,
    YEARS,
)


def draw_event(
    chance: Random, *, giving: bool = False, someone: bool = False, kinds: bool = False
) -> Event:
    """Draw an event; `someone` and `kinds` allow an unnamed person or a kind of thing."""
    who, whom = chance.sample(PERSONS, 2)
    if someone and not giving and chance.random() < 0.2:
        who = SOMEONE
    things = (*THINGS, *KINDS) if kinds else THINGS
    return Event(
        who,
        chance.choice(GIVING if giving else DOING),
        chance.choice(things),
        _perhaps(chance, COLOURS),
        _perhaps(chance, PLACES),
        _perhaps(chance, TIMES),
        whom if giving else "",
    )


def _perhaps(chance: Random, ids: Sequence[str]) -> str:
    return chance.choice(ids) if chance.random() < 0.6 else ""


def draw_fact(chance: Random, kind: str) -> Fact:
    """Draw a fact of a kind, without repetitions among its slots."""
    one, other = chance.sample(WOMEN if chance.random() < 0.5 else PERSONS[len(WOMEN) :], 2)
    first, last = chance.sample(SURNAMES, 2)
    cities, orgs = chance.sample(CITIES, 2), chance.sample(ORGANISATIONS, 2)
    values = {
        "person": f"{one} {first}",
        "person2": f"{other} {last}",
        "city": cities[0],
        "city2": cities[1],
        "country": chance.choice(COUNTRIES),
        "org": orgs[0],
        "org2": orgs[1],
        "year": chance.choice(YEARS),
    }
    return Fact(kind, tuple((slot, values[slot]) for slot in FACTS[kind].slots))
