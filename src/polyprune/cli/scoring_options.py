"""Options of scoring, and scoring with a bar."""

from pathlib import Path
from typing import Annotated

import typer

TEXT = "Text to score with"

Corpus = Annotated[
    Path | None,
    typer.Option(
        help="A folder of text, one file per language (sw.txt, ur.txt.xz), or sample.",
        rich_help_panel=TEXT,
    ),
]
Languages = Annotated[
    str | None, typer.Option(help="Only these languages: sw,ur.", rich_help_panel=TEXT)
]
Sentences = Annotated[
    int, typer.Option(help="Sentences to read in each language.", rich_help_panel=TEXT)
]
Loss = Annotated[
    str | None,
    typer.Option(
        help="masked-lm, contrastive or task; what fits the model unless given.",
        rich_help_panel=TEXT,
    ),
]
Parallel = Annotated[
    str | None,
    typer.Option(
        help="The language that the files are line by line translations of: en.",
        rich_help_panel=TEXT,
    ),
]
Table = Annotated[
    str | None,
    typer.Option(
        help="How a plain word table is split first: spectral (unless given), identity, as it is.",
        rich_help_panel=TEXT,
    ),
]
BatchSize = Annotated[int, typer.Option(help="Sentences in a batch.", rich_help_panel=TEXT)]
Tokens = Annotated[
    int, typer.Option(help="Tokens that a sentence is cut to.", rich_help_panel=TEXT)
]
Prefix = Annotated[
    str | None,
    typer.Option(
        help="What sentences begin with; the model's own prompt unless given.", rich_help_panel=TEXT
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 or mps.", rich_help_panel=TEXT)]


def load_quietly(model: str):
    """The model, without transformers' own progress bar, a flash for every file."""
    from transformers.utils.logging import disable_progress_bar

    from ..loading.hub import load

    disable_progress_bar()
    return load(model)


def take_scores(loaded, corpus: Path, languages, scoring, text, uncut=None):
    """Score a loaded model, with a bar."""
    from ..corpora.corpus import open_corpus
    from ..corpora.text import text_folder
    from ..loading.reading import Reading, scoring_text
    from ..progress import progress_of
    from ..pruning.criteria.scoring import score

    opened = open_corpus(text_folder(str(corpus)))
    read = scoring_text(loaded, opened, languages, scoring.loss, Reading(*text))
    return score(loaded, read, scoring, progress_of(None), uncut)
