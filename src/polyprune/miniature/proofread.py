"""Proofread a language file: `python -m polyprune.miniature.proofread LANG`."""

import random
import sys
from collections.abc import Iterator, Sequence

from .lexicon import Lexicon, languages, load, read_file
from .lexicon_checks import lexicon_mistakes
from .phrases import Sentence
from .random_events import draw_event, draw_fact
from .sentence_rendering import fact_sentence, frame_sentence
from .world import DOING_FRAMES, FACTS, GIVING_FRAMES, WITH_CONVERSE

_EACH = 30


def samples(lexicon: Lexicon, seed: int = 0) -> Iterator[tuple[str, list[Sentence]]]:
    """Return thirty sentences of every kind."""
    for frames in (DOING_FRAMES, GIVING_FRAMES):
        giving = frames is GIVING_FRAMES
        for frame in frames:
            chance = random.Random(f"{seed} {giving} {frame}")
            yield (
                f"{'giving' if giving else 'doing'}: {frame}",
                [_event_sentence(lexicon, chance, frame, giving) for _ in range(_EACH)],
            )
    for kind in FACTS:
        chance = random.Random(f"{seed} {kind}")
        sentences = []
        for _ in range(_EACH // 3):
            fact = draw_fact(chance, kind)
            sentences += [fact_sentence(lexicon, fact), fact_sentence(lexicon, fact, "asks")]
        yield f"fact: {kind}", sentences


def _event_sentence(lexicon: Lexicon, chance: random.Random, frame: str, giving: bool) -> Sentence:
    while True:
        event = draw_event(chance, giving=giving, someone=frame == "yes", kinds=True)
        if frame == "moved" and not event.when:
            continue
        if frame == "converse" and event.verb not in WITH_CONVERSE:
            continue
        return frame_sentence(lexicon, event, frame)


def main(arguments: Sequence[str]) -> int:
    """Print the mistakes of language files, or else sample sentences."""
    status = 0
    for code in arguments or languages():
        wrong = lexicon_mistakes(read_file(code))
        if wrong:
            status = 1
            print(f"{code}: {len(wrong)} mistakes", *wrong, sep="\n  ")
            continue
        lexicon = load(code)
        for title, sentences in samples(lexicon):
            print(f"\n== {code}: {title}")
            for words in sentences:
                tagged = " ".join(f"{word.form}/{word.tag}" for word in words)
                print(f"{lexicon.script.text(words)}\t\t{tagged}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
