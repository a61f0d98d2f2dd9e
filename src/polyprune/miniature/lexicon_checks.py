"""Find all mistakes of a language file at once."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .phrases import Slot, parse
from .world import (
    COLOURS,
    DOING_FRAMES,
    FACTS,
    GIVING,
    GIVING_FRAMES,
    PERSONS,
    SECTIONS,
    SLOTS,
    WITH_CONVERSE,
)

_QUESTION = {"who", "what", "where", "when", "whom"}
_PEOPLE = {"doing": {"who"}, "giving": {"who", "whom"}}
_NO_PHRASES = {"join", "between", "unknown", "agrees_with", "spaced", "upper"}
_WITH_SLOTS = re.compile(r"^(frames|facts|names)\.|\.frames\.")


def lexicon_mistakes(data: Mapping[str, Any]) -> list[str]:
    """Return what is missing or wrong, one line each."""
    wrong = [*_keys(data), *_phrases(data, "")]
    # What follows looks words up by their keys, and would only tell the same again.
    return wrong or list(
        dict.fromkeys([*_genders(data), *_things(data), *_facts(data), *_verbs(data)])
    )


def _keys(data: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{key} is missing" for key in ("join", "between", "unknown") if key not in data)
    yield from (f"{key} is unknown" for key in data if key not in {*_NO_PHRASES, *SECTIONS})
    if data.get("agrees_with", "who") not in ("who", "what"):
        yield 'agrees_with should be "who" or "what"'
    for section, ids in SECTIONS.items():
        yield from _ids(section, data.get(section, {}), ids)
    frames = {"doing": DOING_FRAMES, "giving": GIVING_FRAMES}
    for kind, entry in _table(data, "frames").items():
        yield from _ids(f"frames.{kind}", entry, frames.get(kind, tuple(entry)))
    for fact, entry in _table(data, "facts").items():
        yield from _ids(f"facts.{fact}", entry, ("says", "asks"))
    for section in ("persons", "things", "verbs"):
        for name, entry in _table(data, section).items():
            if not isinstance(entry, Mapping):
                yield f"{section}.{name} should be a table"


def _table(data: Mapping[str, Any], section: str) -> Mapping[str, Any]:
    entry = data.get(section)
    return entry if isinstance(entry, Mapping) else {}


def _ids(where: str, table: Any, ids: tuple[str, ...]) -> Iterator[str]:
    if not isinstance(table, Mapping):
        yield f"{where} should be a table"
        return
    yield from (f"{where}.{name} is missing" for name in ids if name not in table)
    yield from (f"{where}.{name} is unknown" for name in table if name not in ids)


def _phrases(data: Mapping[str, Any], path: str) -> Iterator[str]:
    """What is wrong within stored phrases, wherever they are."""
    for key, value in data.items():
        place = f"{path}.{key}".lstrip(".")
        if key == "gender" or place in _NO_PHRASES:
            continue
        if isinstance(value, Mapping):
            yield from _phrases(value, place)
        elif not isinstance(value, str):
            yield f"{place} should be words between quotes"
        else:
            yield from _phrase(place, value)


def _phrase(place: str, text: str) -> Iterator[str]:
    try:
        slots = _slots(text)
    except ValueError as error:
        yield f"{place} has {error}"
        return
    if slots and not _WITH_SLOTS.search(place):
        yield f"{place} has a slot, {{{slots[0].name}}}, but is no sentence"


def _genders(data: Mapping[str, Any]) -> Iterator[str]:
    for name, entry in data["persons"].items():
        if "gender" not in entry:
            yield f"persons.{name}.gender is missing"
        if "name" not in entry:
            yield f"persons.{name}.name is missing"
    for name, entry in data["surnames"].items():
        yield from _each_gender(f"surnames.{name}", entry, _genders_of(data, "persons"))


def _genders_of(data: Mapping[str, Any], section: str) -> set[str]:
    return {data["unknown"], *(entry.get("gender") or "" for entry in data[section].values())} - {
        ""
    }


def _each_gender(place: str, entry: Any, genders: set[str]) -> Iterator[str]:
    if isinstance(entry, Mapping):
        yield from (f"{place}.{gender} is missing" for gender in sorted(genders - set(entry)))


def _things(data: Mapping[str, Any]) -> Iterator[str]:
    for name, entry in data["things"].items():
        if data.get("agrees_with") == "what" and "gender" not in entry:
            yield f"things.{name}.gender is missing"
        tables = {"": entry, **{k: v for k, v in entry.items() if isinstance(v, Mapping)}}
        for form, table in tables.items():
            place = f"things.{name}{form and '.'}{form}"
            yield from (f"{place}.{c} is missing" for c in ("plain", *COLOURS) if c not in table)


def _facts(data: Mapping[str, Any]) -> Iterator[str]:
    genders = _genders_of(data, "persons")
    for kind, entry in data["facts"].items():
        known = FACTS[kind]
        for which, needed in (("says", set(known.slots)), ("asks", set())):
            place = f"facts.{kind}.{which}"
            yield from _each_gender(
                place, entry[which], genders if "person" in known.slots else set()
            )
            for text in _texts(entry[which]):
                slots = _slots(text)
                names = {slot.name for slot in slots}
                allowed = set(known.slots) - ({known.asked} if which == "asks" else set())
                yield from (f"{place} lacks {{{name}}}" for name in sorted(needed - names))
                yield from (f"{place} cannot have {{{n}}}" for n in sorted(names - allowed))
                if any(slot.name == "year" and not slot.tag for slot in slots):
                    yield f"{place} should have {{year}} with its part of speech, {{year}}/NUM"
                yield from _forms(data, place, slots)


def _verbs(data: Mapping[str, Any]) -> Iterator[str]:
    for verb, entry in data["verbs"].items():
        kind = "giving" if verb in GIVING else "doing"
        known = GIVING_FRAMES if kind == "giving" else DOING_FRAMES
        own = entry.get("frames", {})
        yield from (f"verbs.{verb}.frames.{name} is unknown" for name in own if name not in known)
        for frame in known:
            if frame == "converse" and verb not in WITH_CONVERSE:
                continue
            place = f"verbs.{verb}.frames.{frame}" if frame in own else f"frames.{kind}.{frame}"
            text = own.get(frame, data["frames"][kind][frame])
            yield from _frame(data, place, verb, (frame, text))


def _frame(data: Mapping[str, Any], place: str, verb: str, frame: tuple[str, Any]) -> Iterator[str]:
    name, entry = frame
    section = {"who": "persons", "what": "things"}.get(data.get("agrees_with", ""), "")
    genders = _genders_of(data, section) if section else set()
    yield from _each_gender(place, entry, genders)
    if isinstance(entry, Mapping) and not section:
        yield f"{place} depends on a gender, but agrees_with is missing"
    needed, allowed = _frame_slots("giving" if verb in GIVING else "doing", name)
    for text in _texts(entry):
        slots = _slots(text)
        names = {slot.name for slot in slots}
        yield from (f"{place} lacks {{{slot}}}" for slot in sorted(needed - names))
        yield from (f"{place} cannot have {{{s}}}" for s in sorted(names & set(SLOTS) - allowed))
        yield from _forms(data, place, slots)
        for form in sorted(names - set(SLOTS)):
            if form not in data["verbs"][verb]:
                yield f"verbs.{verb}.{form} is missing, which {place} needs"
            else:
                entry = data["verbs"][verb][form]
                yield from _each_gender(f"verbs.{verb}.{form}", entry, genders)
                if isinstance(entry, Mapping) and not section:
                    yield f"verbs.{verb}.{form} depends on a gender, but agrees_with is missing"


def _frame_slots(kind: str, frame: str) -> tuple[set[str], set[str]]:
    """The slots that a frame must have, and those that it may have."""
    if frame == "converse":
        needed = {"receiver", "giver", "what"}
    else:
        needed = (_PEOPLE[kind] | {"what"}) - {frame}
        needed -= {"who"} if frame == "nobody" else set()
    if frame in _QUESTION:
        return needed, needed
    return needed | {"where", "when"}, needed | {"where", "when"}


def _forms(data: Mapping[str, Any], place: str, slots: list[Slot]) -> Iterator[str]:
    """Forms that slots name, but that an entry does not have."""
    for slot in slots:
        section = SLOTS.get(slot.name)
        if section is None:
            if slot.name.startswith("person") and slot.form != "name":
                yield f"{place} has {{{slot.name}.{slot.form}}}: full names have one form only"
            continue
        for name, entry in data[section].items():
            if section == "things" and slot.form == "name":
                continue
            # Only one who is known gets or gives anything.
            if slot.name != "who" and section == "persons" and name not in PERSONS:
                continue
            found = {"name"} if isinstance(entry, str) else entry
            if slot.form not in found:
                yield f"{section}.{name}.{slot.form} is missing, which {place} needs"


def _texts(entry: Any) -> list[str]:
    return [entry] if isinstance(entry, str) else list(entry.values())


def _slots(text: str) -> list[Slot]:
    return [item for item in parse(text) if isinstance(item, Slot)]
