"""Tags of words: parts of speech, and named entities."""

from .phrases import Sentence
from .world import ENTITIES, SLOTS


def pos_tags(words: Sentence) -> list[tuple[str, str]]:
    """Return each word with its universal part of speech."""
    return [(word.form, word.tag) for word in words]


def entity_tags(words: Sentence) -> list[tuple[str, str]]:
    """Return each word with its entity tag: B-, I- and the kind of name, or O."""
    tagged = []
    before = ""
    for word in words:
        kind = _entity(word.slot) if word.marked and word.tag != "PRON" else ""
        # Two names side by side are told apart by the slots that they fill.
        start = "I-" if word.slot == before else "B-"
        tagged.append((word.form, f"{start}{kind}" if kind else "O"))
        before = word.slot if kind else ""
    return tagged


def _entity(slot: str) -> str:
    section = "persons" if slot.startswith("person") else SLOTS.get(slot, "")
    return ENTITIES.get(section, "")


def tag_file(sentences: list[list[tuple[str, str]]]) -> str:
    """Return a file with one word and its tag per line, and an empty line after each sentence."""
    return "".join(
        "".join(f"{word}\t{tag}\n" for word, tag in sentence) + "\n" for sentence in sentences
    )
