"""The vocabulary of the miniature's world: the ids that every language file has words for."""

from dataclasses import dataclass

PERSONS = (
    "anna", "maria", "sara", "elena", "laura", "nina",
    "david", "daniel", "ivan", "marco", "peter", "thomas",
)  # fmt: skip

WOMEN = PERSONS[:6]

SOMEONE = "someone"

KINDS = {
    "fruit": ("apple", "banana", "orange", "melon"),
    "animal": ("cat", "dog", "horse", "goat"),
    "garment": ("shirt", "hat", "coat", "scarf"),
    "vehicle": ("bicycle", "car", "bus", "motorcycle"),
}
"""What is true of which things."""

THINGS = tuple(thing for things in KINDS.values() for thing in things)

KIND_OF = {thing: kind for kind, things in KINDS.items() for thing in things}

COLOURS = ("red", "white")

PLACES = (
    "market", "park", "station", "school", "beach",
    "library", "airport", "hospital", "museum", "bridge",
)  # fmt: skip

TIMES = ("yesterday", "monday", "friday", "week", "summer", "morning", "noon", "years")
"""None of them implies another."""

DOING = ("buy", "sell", "find", "lose", "see", "hide", "wash", "draw")

GIVING = ("give", "lend", "send", "show")

WITH_CONVERSE = ("give", "lend")
"""What is given is received, what is lent is borrowed; the others have nothing like it."""

SURNAMES = (
    "berg", "novak", "santos", "kim", "costa", "weber", "silva", "moreno", "lind", "tanaka",
)  # fmt: skip

CITIES = (
    "berlin", "paris", "london", "madrid", "moscow", "athens", "sofia",
    "istanbul", "cairo", "delhi", "beijing", "hanoi", "bangkok", "nairobi",
)  # fmt: skip

COUNTRIES = (
    "germany", "france", "spain", "egypt", "india", "vietnam", "kenya", "southafrica",
)  # fmt: skip

ORGANISATIONS = (
    "northbank", "sunfoods", "orion", "tellora",
    "oceaninstitute", "bluemountain", "kavita", "zenomotors",
)  # fmt: skip

YEARS = tuple(str(year) for year in range(1980, 2020))

DOING_FRAMES = ("yes", "no", "moved", "nobody", "who", "what", "where", "when")

GIVING_FRAMES = ("yes", "no", "moved", "converse", "who", "what", "whom", "where", "when")


@dataclass(frozen=True, slots=True)
class FactKind:
    """A kind of fact: its slots, and which of them the question asks for."""

    slots: tuple[str, ...]
    asked: str


FACTS = {
    "works": FactKind(("person", "org", "city"), "org"),
    "born": FactKind(("person", "city"), "city"),
    "opened": FactKind(("org", "city"), "city"),
    "travelled": FactKind(("person", "city", "city2"), "city2"),
    "directs": FactKind(("person", "org"), "person"),
    "settled": FactKind(("person", "country", "year"), "year"),
    "met": FactKind(("person", "person2", "city"), "city"),
    "acquired": FactKind(("org", "org2", "year"), "org"),
}

SECTIONS = {
    "persons": (*PERSONS, SOMEONE),
    "things": (*KINDS, *THINGS),
    "places": PLACES,
    "times": TIMES,
    "verbs": (*DOING, *GIVING),
    "surnames": SURNAMES,
    "cities": CITIES,
    "countries": COUNTRIES,
    "organisations": ORGANISATIONS,
    "facts": tuple(FACTS),
    "names": ("full",),
    "frames": ("doing", "giving"),
}
"""The tables of a language file, each with its ids."""

SLOTS = {
    "who": "persons",
    "whom": "persons",
    "receiver": "persons",
    "giver": "persons",
    "what": "things",
    "where": "places",
    "when": "times",
    "city": "cities",
    "city2": "cities",
    "country": "countries",
    "org": "organisations",
    "org2": "organisations",
}
"""What slots are filled from, but for `person`, `person2` and `year`."""

ENTITIES = {
    "persons": "PER",
    "cities": "LOC",
    "countries": "LOC",
    "organisations": "ORG",
}
"""The entity type of each slot that holds a name."""
