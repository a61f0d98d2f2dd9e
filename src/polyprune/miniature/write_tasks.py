"""Write the miniature to a folder, in the layout of XTREME's download script."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from ..progress import SILENT, Progress
from ..storage import atomic_folder
from . import parallel_sentences, tags
from .events import Split
from .layout import LANGUAGES, TaskSizes
from .lexicon import Lexicon, languages, load
from .passages import Passage, article, passages
from .sentence_pairs import LabelledPair, inferences, paraphrases
from .statements import draw_statements, sentence_of, text_of

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
            sentences = [tags.pos_tags(sentence_of(lexicon, saying)) for saying in said]
            yield f"udpos/{split}-{code}.tsv", tags.tag_file(sentences)


def _panx(lexicons: dict[str, Lexicon], sizes: TaskSizes) -> Files:
    for split in SPLITS:
        count = sizes.of(sizes.tagged, split)
        said = draw_statements(f"{SEED} panx", split, count, facts=0.8)
        for code, lexicon in lexicons.items():
            sentences = [tags.entity_tags(sentence_of(lexicon, saying)) for saying in said]
            yield f"panx/{split}-{code}.tsv", tags.tag_file(sentences)


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
