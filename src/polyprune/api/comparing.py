"""The text that a cut is compared with the uncut model on.

Sentences that nothing was chosen on come first. Where a text has too few of them, those that were
read serve, and the answer says so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..corpora.corpus import Corpus, open_corpus, read_lines
from ..corpora.text import text_folder
from ..errors import ConfigError, DataError
from ..evaluation.fidelity import HeldOutText, compare_with_uncut
from ..loading.reading import scoring_text
from ..model.fidelity import Fidelity
from ..model.history import add_fidelity
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import SILENT, Progress
from ..pruning.criteria.scoring import ReadyBatches, ScoringText

COMPARED, TOGETHER = 64, 480
"""Sentences of each language to compare on, and about how many of all languages, unless asked."""

FEWEST = 8
"""Sentences of a language below which those that were read serve too; and those of the bundled
text, where there is no other: nobody asked for it, so it has to be quick."""

SAMPLE = "sample"


def compared(
    uncut: PolyprunePreTrainedModel,
    small: PolyprunePreTrainedModel,
    text: ScoringText,
    held_out: HeldOutText,
    device: str | None = None,
    progress: Progress = SILENT,
) -> Fidelity:
    """Compare a model with the one it was cut from, and write what it kept into its history."""
    place = device or uncut.device.type
    found = compare_with_uncut(uncut, small, held_out, text.batching, place, progress)
    add_fidelity(small.config, found)
    return found


def how_many(asked: int | None, languages: int) -> int:
    """Return how many sentences of each language to compare on."""
    if asked is not None:
        return asked
    return max(2 * FEWEST, min(COMPARED, TOGETHER // max(1, languages)))


def held_out_lines(
    text: ScoringText, asked: int | None, read: int, pivot: str | None = None
) -> HeldOutText | None:
    """Return lines behind the first `read` of each language; None if there is nothing to compare.

    With `pivot`, lines were read that have a translation. Of lines that come twice, those that
    were read stay out.
    """
    codes = text.corpus.codes(text.languages)
    count = how_many(asked, len(codes))
    if not count or isinstance(text, ReadyBatches):
        return None
    found, seen = {}, set()
    for code in codes:
        known = list(_lines(text.corpus, code, read + count, pivot))
        chosen_on = set(known[:read])
        unread = [line for line in known[read:] if line not in chosen_on]
        if len(unread) < min(FEWEST, count):
            seen.add(code)
            unread = known[-count:]
        if unread:
            found[code] = unread
    return HeldOutText(text.corpus.folder.name, found, frozenset(seen)) if found else None


def _lines(corpus: Corpus, code: str, count: int, pivot: str | None) -> Iterator[str]:
    if pivot is not None and pivot != code:
        return (line for line, _ in corpus.translations(code, pivot, count))
    return corpus.sentences(code, count)


def bundled_lines(
    model: PolyprunePreTrainedModel, languages: Sequence[str], asked: int | None
) -> tuple[ScoringText, HeldOutText] | None:
    """Return a few lines of the bundled text, as far as a model can read them, where it fits."""
    if asked == 0 or model.readout_kind.finds_spans or not model.source.has_tokenizer:
        return None  # a question needs a text that has the answer
    try:
        corpus = open_corpus(text_folder(SAMPLE))
        codes = [code for code in corpus.known() if not languages or code in languages]
        text = scoring_text(model, corpus, codes)
    except (ConfigError, DataError):  # another's tokenizer, or none that loads
        return None
    held_out = held_out_lines(text, asked or FEWEST, 0) if codes else None
    return None if held_out is None else (text, held_out)


def recovery_lines(
    text: ScoringText, kept: Path, asked: int | None, read: int = 0
) -> HeldOutText | None:
    """Return lines that a training kept apart, one file a language in the folder `kept`.

    The first `read` lines, which the cut was chosen on, stay out. A language of which too little
    was kept is compared on lines that it was trained on.
    """
    trained = held_out_lines(text, asked, 0)
    if trained is None:
        return None
    lines, count = dict(trained.lines), how_many(asked, len(trained.lines))
    seen = set(lines)
    for code in trained.lines:
        path, chosen_on = kept / f"{code}.txt", set(text.corpus.sentences(code, read))
        known = read_lines(path) if path.is_file() else ()
        apart = [line for line in known if line not in chosen_on]
        if len(apart) >= min(FEWEST, count):
            lines[code] = apart[:count]
            seen.discard(code)
    return replace(trained, lines=lines, seen=frozenset(seen))
