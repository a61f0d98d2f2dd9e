"""Questions about texts: XQuAD, MLQA and TyDi QA, all in SQuAD's form."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...corpora.text_files import read_lines
from ...errors import DataError
from ..examples import Answer, Question, UniqueIds
from . import hub_tables
from .language_codes import NAMES
from .reader import FileLayout, Reader


def parse_questions(paths: Sequence[Path], language: str) -> Iterator[Question]:
    """The questions of files in SQuAD's form, without answers where those were taken out.

    XTREME's script leaves only the last part of an id in TyDi QA's training files, so that
    hundreds of questions are called `0`. From the second on they become `0#2`, `0#3`, ..., lest
    the answer to one is taken for that to another.
    """
    apart = UniqueIds()
    for path in paths:
        for article in _articles(path):
            for question in _of_article(path, article):
                yield replace(question, id=apart(question.id))


def parse_all_languages(paths: Sequence[Path], language: str) -> Iterator[Question]:
    """The questions of one language in TyDi QA's own training file, which is of all nine."""
    start = f"{NAMES[language].lower()}-"
    return (found for found in parse_questions(paths, language) if found.id.startswith(start))


def _languages_of_tydiqa(path: Path) -> set[str]:
    named = {question.id.partition("-")[0] for question in parse_questions([path], "")}
    return {code for code, name in NAMES.items() if name.lower() in named}


def _articles(path: Path) -> list[Any]:
    try:
        articles = json.loads("\n".join(read_lines(path)))["data"]
    except ValueError as error:
        raise DataError(
            f"{path} is damaged or cut off, and no JSON ({error}). Copy or make it again."
        ) from error
    except (KeyError, TypeError) as error:
        raise DataError(
            f"{path} is not in SQuAD's form: it has no list `data`. Is it a file of predictions?"
        ) from error
    return articles if isinstance(articles, list) else [articles]


def _of_article(path: Path, article: Any) -> list[Question]:
    try:
        return [
            Question(
                str(found["id"]),
                found["question"],
                paragraph["context"],
                tuple(
                    Answer(answer["text"], int(answer["answer_start"]))
                    for answer in found.get("answers", ())
                    # The official scripts leave an empty answer where they take one out.
                    if answer["text"]
                ),
            )
            for paragraph in article["paragraphs"]
            for found in paragraph["qas"]
        ]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise DataError(f"{path} is not in SQuAD's form: {what}. Copy or make it again.") from error


_SQUAD = FileLayout(("squad/train-v1.1.json",), parse_questions)
_SQUAD_DEV = FileLayout(("squad/dev-v1.1.json",), parse_questions)
_TRANSLATED = FileLayout(
    ("SQuAD/translate-train/squad.translate.train.en-{language}.json",), parse_questions
)
_TYDIQA_DEV = (
    FileLayout(
        ("tydiqa/tydiqa-goldp-v1.1-dev/tydiqa.goldp.{language}.dev.json",),
        parse_questions,
    ),
    FileLayout(("tydiqa/tydiqa-goldp-v1.1-dev/tydiqa-goldp-dev-{name}.json",), parse_questions),
)

XQUAD = Reader(
    "xquad",
    {
        "train": (_SQUAD,),
        "dev": (_SQUAD_DEV,),
        "test": (FileLayout(("xquad/xquad.{language}.json",), parse_questions),),
        "translated": (_TRANSLATED,),
    },
    hub_tables.XQUAD,
)

MLQA = Reader(
    "mlqa",
    {
        "train": (_SQUAD,),
        # Officially SQuAD's dev questions, in English, stand for those of MLQA; but MLQA has its
        # own in every language.
        "dev": (
            FileLayout(
                ("mlqa/MLQA_V1/dev/dev-context-{language}-question-{language}.json",),
                parse_questions,
            ),
            _SQUAD_DEV,
        ),
        "test": (
            FileLayout(
                ("mlqa/MLQA_V1/test/test-context-{language}-question-{language}.json",),
                parse_questions,
            ),
        ),
        "translated": (_TRANSLATED,),
    },
    hub_tables.MLQA,
)

TYDIQA = Reader(
    "tydiqa",
    {
        "train": (
            FileLayout(
                ("tydiqa/tydiqa-goldp-v1.1-train/tydiqa.goldp.{language}.train.json",),
                parse_questions,
            ),
            # As the official training script calls it.
            FileLayout(
                ("tydiqa/tydiqa-goldp-v1.1-train/tydiqa.{language}.train.json",), parse_questions
            ),
            FileLayout(
                ("tydiqa/tydiqa-goldp-v1.1-train.json",), parse_all_languages, _languages_of_tydiqa
            ),
        ),
        # Its test questions are not public, so that the dev ones stand for them.
        "dev": _TYDIQA_DEV,
        "test": _TYDIQA_DEV,
        "translated": (
            FileLayout(
                ("TyDiQA-GoldP/translate-train/tydiqa.translate.train.en-{language}.json",),
                parse_questions,
            ),
        ),
    },
    hub_tables.TYDIQA,
)
