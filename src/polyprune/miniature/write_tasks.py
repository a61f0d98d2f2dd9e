"""Write the miniature to a folder, in the layout of XTREME's download script."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ..progress import SILENT, Progress
from ..storage import atomic_folder
from . import parallel_sentences
from .events import Split
from .lexicon import Lexicon, languages, load
from .passages import Passage, article, passages
from .phrases import Sentence
from .sentence_pairs import LabelledPair, inferences, paraphrases
from .statements import draw_statements, sentence_of, text_of
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


def _codes(text: str) -> tuple[str, ...]:
    return tuple(text.split())


LANGUAGES: dict[str, tuple[str, ...]] = {
    "xnli": _codes("ar bg de el en es fr hi ru sw th tr ur vi zh"),
    "pawsx": _codes("de en es fr zh"),
    "udpos": _codes("ar bg de el en es fr hi ru th tr ur vi zh"),
    "panx": _codes("ar bg de el en es fr hi ru sw th tr ur vi zh"),
    "xquad": _codes("ar de el en es hi ru th tr vi zh"),
    "mlqa": _codes("ar de en es hi vi zh"),
    "tydiqa": _codes("ar en ru sw"),
    "bucc2018": _codes("de fr ru zh"),
    "tatoeba": _codes("ar bg de el es fr hi ru sw th tr ur vi zh"),
}
"""The languages of each task: those of XTREME for which the miniature may have a lexicon."""


@dataclass(frozen=True, slots=True)
class TaskSizes:
    """The number of examples of each task."""

    xnli: int = 3000
    pawsx: int = 2000
    tagged: int = 1500
    """Training sentences of each tagging task."""
    passages: int = 750
    """Training passages, with two questions each."""
    held_out: int = 200
    """Examples of dev and of test; half as many passages."""
    tatoeba: int = 300
    bucc: int = 150
    """Pairs of translations."""
    bucc_others: int = 350
    """Sentences on each side that have no translation."""

    def of(self, training: int, split: str) -> int:
        """Return the number of examples in a split."""
        return training if split == "train" else self.held_out


Files: TypeAlias = Iterator[tuple[str, str]]
"""Paths below the folder, with their contents."""

SPLITS: tuple[Split, ...] = ("train", "dev", "test")
SEED = "miniature"


def write_miniature(
    folder: Path,
    *,
    sizes: TaskSizes | None = None,
    codes: Sequence[str] | None = None,
    progress: Progress = SILENT,
) -> None:
    """Write all nine tasks reproducibly, in all languages, or in some and English."""
    lexicons = {code: load(code) for code in sorted({"en", *(codes or languages())})}
    sizes = sizes or TaskSizes()
    with atomic_folder(folder) as temporary:
        for task in progress.track("Writing tasks", list(TASKS)):
            spoken = {code: lexicons[code] for code in LANGUAGES[task] if code in lexicons}
            spoken = {"en": lexicons["en"], **spoken}
            for name, text in TASKS[task](spoken, sizes):
                path = temporary / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")


def _xnli(lexicons: dict[str, Lexicon], sizes: TaskSizes) -> Files:
    for split in SPLITS:
        made = inferences(f"{SEED} xnli", split, sizes.of(sizes.xnli, split))
        yield from _pair_files("xnli", "XNLI", (split, made), lexicons)


def _pawsx(lexicons: dict[str, Lexicon], sizes: TaskSizes) -> Files:
    for split in SPLITS:
        made = paraphrases(f"{SEED} pawsx", split, sizes.of(sizes.pawsx, split))
        yield from _pair_files("pawsx", "PAWSX", (split, made), lexicons)


def _pair_files(
    folder: str,
    translations: str,
    made: tuple[Split, list[LabelledPair]],
    lexicons: dict[str, Lexicon],
) -> Files:
    """Return the files of a split; translated training data stands beside its English original."""
    split, pairs = made
    english = _both(lexicons["en"], pairs)
    for code, lexicon in lexicons.items():
        rows = english if code == "en" else _both(lexicon, pairs)
        name = f"{folder}/{split}-{code}.tsv"
        if split == "train" and code != "en":
            rows = [(*one, *other) for one, other in zip(english, rows, strict=True)]
            name = f"{translations}/translate-train/en-{code}-translated.tsv"
        lines = (
            "\t".join((*row, pair.label)) + "\n" for row, pair in zip(rows, pairs, strict=True)
        )
        yield name, "".join(lines)


def _both(lexicon: Lexicon, pairs: list[LabelledPair]) -> list[tuple[str, ...]]:
    return [(text_of(lexicon, pair.first), text_of(lexicon, pair.second)) for pair in pairs]


def _udpos(lexicons: dict[str, Lexicon], sizes: TaskSizes) -> Files:
    for split in SPLITS:
        count = sizes.of(sizes.tagged, split)
        said = draw_statements(f"{SEED} udpos", split, count, facts=0.3, questions=0.15)
        for code, lexicon in lexicons.items():
            sentences = [pos_tags(sentence_of(lexicon, saying)) for saying in said]
            yield f"udpos/{split}-{code}.tsv", tag_file(sentences)


def _panx(lexicons: dict[str, Lexicon], sizes: TaskSizes) -> Files:
    for split in SPLITS:
        count = sizes.of(sizes.tagged, split)
        said = draw_statements(f"{SEED} panx", split, count, facts=0.8)
        for code, lexicon in lexicons.items():
            sentences = [entity_tags(sentence_of(lexicon, saying)) for saying in said]
            yield f"panx/{split}-{code}.tsv", tag_file(sentences)


def _xquad(lexicons: dict[str, Lexicon], sizes: TaskSizes) -> Files:
    yield from _squad(lexicons, sizes)
    made = passages(f"{SEED} xquad", "test", sizes.held_out // 2)
    for code, lexicon in lexicons.items():
        yield f"xquad/xquad.{code}.json", _json(lexicon, "xquad", made)


def _squad(lexicons: dict[str, Lexicon], sizes: TaskSizes) -> Files:
    """Return SQuAD, which both XQuAD and MLQA train on."""
    train = passages(f"{SEED} squad", "train", sizes.passages)
    yield "squad/train-v1.1.json", _json(lexicons["en"], "squad-train", train)
    dev = passages(f"{SEED} squad", "dev", sizes.held_out // 2)
    yield "squad/dev-v1.1.json", _json(lexicons["en"], "squad-dev", dev)
    for code, lexicon in lexicons.items():
        if code != "en":
            name = f"SQuAD/translate-train/squad.translate.train.en-{code}.json"
            yield name, _json(lexicon, "squad-train", train)


def _mlqa(lexicons: dict[str, Lexicon], sizes: TaskSizes) -> Files:
    for split in ("dev", "test"):
        made = passages(f"{SEED} mlqa", split, sizes.held_out // 2)
        for code, lexicon in lexicons.items():
            name = f"mlqa/MLQA_V1/{split}/{split}-context-{code}-question-{code}.json"
            yield name, _json(lexicon, f"mlqa-{split}", made)


def _tydiqa(lexicons: dict[str, Lexicon], sizes: TaskSizes) -> Files:
    train = passages(f"{SEED} tydiqa", "train", sizes.passages)
    test = passages(f"{SEED} tydiqa", "test", sizes.held_out // 2)
    for code, lexicon in lexicons.items():
        name = f"TyDiQA-GoldP/translate-train/tydiqa.translate.train.en-{code}.json"
        if code == "en":
            name = "tydiqa/tydiqa-goldp-v1.1-train/tydiqa.goldp.en.train.json"
        yield name, _json(lexicon, "tydiqa-train", train)
        name = f"tydiqa/tydiqa-goldp-v1.1-dev/tydiqa.goldp.{code}.dev.json"
        yield name, _json(lexicon, "tydiqa-dev", test)


def _json(lexicon: Lexicon, name: str, made: list[Passage]) -> str:
    return json.dumps(article(lexicon, name, made), ensure_ascii=False) + "\n"


def _bucc(lexicons: dict[str, Lexicon], sizes: TaskSizes) -> Files:
    for split in ("dev", "test"):
        mined = parallel_sentences.comparable_corpus(
            f"{SEED} bucc", split, sizes.bucc, sizes.bucc_others
        )
        english = parallel_sentences.corpus_file(lexicons["en"], mined.target)
        for code, lexicon in lexicons.items():
            start = f"bucc2018/{code}-en.{split}"
            if code != "en":
                yield f"{start}.{code}", parallel_sentences.corpus_file(lexicon, mined.source)
                yield f"{start}.en", english
                yield f"{start}.gold", parallel_sentences.gold_file(mined, code)


def _tatoeba(lexicons: dict[str, Lexicon], sizes: TaskSizes) -> Files:
    said = parallel_sentences.aligned_statements(f"{SEED} tatoeba", "test", sizes.tatoeba)
    lines = {
        code: "".join(f"{text_of(lexicon, saying)}\n" for saying in said)
        for code, lexicon in lexicons.items()
    }
    for code in lexicons:
        if code != "en":
            yield f"tatoeba/{code}-en.{code}", lines[code]
            yield f"tatoeba/{code}-en.en", lines["en"]


TASKS: dict[str, Callable[[dict[str, Lexicon], TaskSizes], Files]] = {
    "xnli": _xnli,
    "pawsx": _pawsx,
    "udpos": _udpos,
    "panx": _panx,
    "xquad": _xquad,
    "mlqa": _mlqa,
    "tydiqa": _tydiqa,
    "bucc2018": _bucc,
    "tatoeba": _tatoeba,
}
