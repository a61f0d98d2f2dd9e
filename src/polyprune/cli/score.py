"""`polyprune score`: how much every component matters, in every language."""

from pathlib import Path
from typing import Annotated

import typer

from ..quantities import split_list
from .terminal import AsJson, Force, show_json, show_table

TEXT = "Text to score with"

Corpus = Annotated[
    Path | None,
    typer.Option(
        help="A folder of text, one file a language (sw.txt, ur.txt.xz), or sample.",
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


def score(
    model: Annotated[str, typer.Argument(help="A folder, a Hugging Face id, or e5-small.")],
    corpus: Annotated[
        Path,
        typer.Option(
            help="A folder of text, one file a language (sw.txt, ur.txt.xz), or sample.",
            rich_help_panel=TEXT,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The scores file to write.")],
    languages: Languages = None,
    sentences: Sentences = 300,
    loss: Loss = None,
    per: Annotated[
        str, typer.Option(help="Take absolute values per example, token or batch.")
    ] = "example",
    parallel: Parallel = None,
    table: Table = None,
    batch_size: BatchSize = 16,
    tokens: Tokens = 128,
    prefix: Prefix = None,
    seed: Annotated[int, typer.Option(help="Of the words that are masked.")] = 0,
    device: Device = "auto",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Score every head, unit and rank of a model, language by language, on a folder of text.

    One scores file serves any budget and any set of its languages.

    Example: polyprune score e5-small --corpus text --out scores.safetensors
    """
    from dataclasses import asdict

    from ..pruning.criteria.scores_file import save_scores
    from ..pruning.criteria.scoring import Scoring
    from ..storage import refuse_to_overwrite

    # Before anything is loaded, not only when it is written.
    refuse_to_overwrite(out, force=force, kind="file")
    scoring = Scoring(sentences, loss, per, parallel, table or "spectral", seed, device)
    text = (batch_size, tokens, prefix)
    sheet = take_scores(load_quietly(model), corpus, split_list(languages), scoring, text)
    save_scores(out, sheet, force=force)
    if as_json:
        show_json({"out": str(out), **asdict(sheet.about)})
    else:
        _show(sheet)
        rule = {"token": " --rule michel", "batch": " --rule prasanna"}.get(per, "")
        typer.echo(
            f"Written to {out}. Next:\n"
            f"polyprune prune {model} --scores {out}{rule} --sparsity 0.5 --out half"
        )


def load_quietly(model: str):
    """The model, without transformers' own progress bar, a flash for every file."""
    from transformers.utils.logging import disable_progress_bar

    from ..pruning.gates.elastic import load

    disable_progress_bar()
    return load(model)


def take_scores(loaded, corpus: Path, languages, scoring, text):
    """Score a loaded model, with a bar."""
    from ..corpora.batching import Batching
    from ..corpora.corpus import open_corpus
    from ..corpora.text import text_folder
    from ..errors import ConfigError
    from ..loading.hub import load_tokenizer, longest_input
    from ..model.network.source import prompt_of
    from ..progress import progress_of
    from ..pruning.criteria.scoring import default_loss, score

    batch_size, tokens, prefix = text
    folder = loaded.config.name_or_path
    tokenizer = load_tokenizer(folder)
    if tokenizer is None:
        raise ConfigError(f"There is no tokenizer in {folder}, so that text cannot be read.")
    if len(tokenizer) > loaded.shape.vocab_size:
        raise ConfigError(
            f"The tokenizer in {folder} knows {len(tokenizer):,} words, the model "
            f"{loaded.shape.vocab_size:,}: they do not belong together."
        )
    if prefix is None and (scoring.loss or default_loss(loaded)) == "contrastive":
        prefix = prompt_of(folder)
    opened = open_corpus(text_folder(str(corpus)))
    batching = Batching(tokenizer, batch_size, min(tokens, longest_input(loaded)), prefix or "")
    return score(loaded, batching, opened, languages, scoring, progress_of(None))


def _show(sheet) -> None:
    """What was read, and what of it mattered most, language by language."""
    rows = []
    for i, code in enumerate(sheet.about.languages):
        scores = sheet.gradients.absolute
        heads = [float(h[i].sum()) for h in scores.heads]
        units = [float(u[i].sum()) for u in scores.units]
        rank = float(scores.rank[i].sum())
        total = sum(heads) + sum(units) + rank
        shares = (sum(heads) / total, sum(units) / total, rank / total)
        layers = [h + u for h, u in zip(heads, units, strict=True)]
        rows.append(
            [
                code,
                sheet.about.examples[i],
                *(f"{share:.0%}" for share in shares),
                layers.index(max(layers)),
            ]
        )
    show_table(
        ["language", "examples", "heads", "units", "rank", "most in\nlayer"],
        rows,
        title=f"importance by kind ({sheet.about.loss} loss, per {sheet.about.per})",
    )
