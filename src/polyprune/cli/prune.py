"""`polyprune prune`: score, choose, cut, save."""

from pathlib import Path
from typing import Annotated

import typer

from ..quantities import split_list
from .budgets import (
    SIZE,
    FileSize,
    Latency,
    Parameters,
    Sparsity,
    SpeedAt,
    Speedup,
    Threads,
    Wanted,
    show_fit,
    solve,
)
from .following import follow_run
from .render.sizes import show_report
from .scoring_options import (
    BatchSize,
    Corpus,
    Device,
    Loss,
    Parallel,
    Prefix,
    Sentences,
    Table,
    Tokens,
    load_quietly,
    take_scores,
)
from .terminal import AsJson, Force, as_typed, show_json

RANKING = "What stays"


def prune(
    model: Annotated[str, typer.Argument(help="A folder, a Hugging Face id, or e5-small.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    sparsity: Sparsity = None,
    parameters: Parameters = None,
    size: FileSize = None,
    speedup: Speedup = None,
    latency: Latency = None,
    speed_at: SpeedAt = "1x128",
    threads: Threads = None,
    scores: Annotated[
        Path | None, typer.Option(help="A scores file of this model.", rich_help_panel=RANKING)
    ] = None,
    corpus: Corpus = None,
    languages: Annotated[
        str | None,
        typer.Option(
            help="The languages that count: sw,ur; all unless given.", rich_help_panel=RANKING
        ),
    ] = None,
    setting: Annotated[
        str,
        typer.Option(
            help="One subnetwork for all languages, shared, or one each, non-shared.",
            rich_help_panel=RANKING,
        ),
    ] = "shared",
    language: Annotated[
        str | None,
        typer.Option(help="With non-shared: write this language's model.", rich_help_panel=RANKING),
    ] = None,
    elastic: Annotated[
        bool, typer.Option("--elastic", help="Write one folder that holds every size.")
    ] = False,
    method: Annotated[
        str, typer.Option(help="See polyprune ls methods.", rich_help_panel=RANKING)
    ] = "gradient",
    rule: Annotated[
        str, typer.Option(help="How gradients are ranked; same list.", rich_help_panel=RANKING)
    ] = "fisher",
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Solve the knapsack instead of cutting one ranking.",
            rich_help_panel=SIZE,
        ),
    ] = False,
    least_heads: Annotated[
        int, typer.Option(min=0, help="Heads that every layer keeps.", rich_help_panel=SIZE)
    ] = 0,
    least_units: Annotated[
        int, typer.Option(min=0, help="Units that every layer keeps.", rich_help_panel=SIZE)
    ] = 0,
    multiple: Annotated[
        int,
        typer.Option(min=1, help="Units of a layer are a multiple of this.", rich_help_panel=SIZE),
    ] = 1,
    gates: Annotated[Path | None, typer.Option(help="Write the gates to this file too.")] = None,
    sentences: Sentences = 300,
    loss: Loss = None,
    parallel: Parallel = None,
    table: Table = None,
    batch_size: BatchSize = 16,
    tokens: Tokens = 128,
    prefix: Prefix = None,
    seed: Annotated[int, typer.Option(help="Of masked words, and of chance.")] = 0,
    device: Device = "auto",
    recover: Annotated[
        int | None,
        typer.Option(min=1, help="Then train so many steps, to win back what was lost."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Prune a model to a sparsity, a size or a speed, and write a folder that reloads.

    With --setting non-shared, every language gets a subnetwork of its own: all of them, in every
    size, are in one elastic folder, from which polyprune shrink takes what is wanted.

    Parameters, size and speed may be asked for together. Speed is that of this machine: what layers
    of every width take is measured once, in a minute or so, and the result is measured too:
    polyprune prune e5-small --speedup 2 --size 200MB --out fast

    Example: polyprune prune sprout --sparsity 0.5 --out half
    """
    from ..pruning.criteria.scoring import Scoring
    from ..pruning.ranker import Ranker
    from ..pruning.selection.budgets import Sparsity
    from ..pruning.selection.ranking import Minimum
    from ..pruning.write import Target, check_every_size, write_elastic, write_model
    from ..storage import refuse_to_overwrite

    target = Target(out, gates, force, as_typed())
    refuse_to_overwrite(out, force=force)  # before anything is loaded, not only when it is written
    if gates is not None:
        refuse_to_overwrite(gates, force=force, kind="file")
    ranker = Ranker.named(method, rule, setting, seed)
    criterion = ranker.criterion
    corpus = corpus or _own_text(model, criterion, scores)
    _refuse(
        language, languages, ranker, elastic, scores, corpus, recover,
        for_scoring=bool(loss or parallel or table),
    )  # fmt: skip
    every_size = elastic or (ranker.setting.per_language and language is None)
    words = {
        "sparsity": sparsity, "parameters": parameters, "size": size,
        "speedup": speedup, "latency": latency, "speed_at": speed_at,
    }  # fmt: skip
    wanted = Wanted.read(words, threads, exact)
    least = Minimum(least_heads, least_units, 1)
    special = exact or multiple > 1 or least != Minimum(rank=1)
    if every_size:
        check_every_size(wanted.sparsity, gates, special or wanted.more)
    if wanted.anything or not every_size:
        wanted.check()
    table = table or "spectral"
    scoring = Scoring(sentences, loss, criterion.per or "example", parallel, table, seed, device)
    text = (batch_size, tokens, prefix)
    loaded = load_quietly(model)
    uncut = None
    if criterion.needs_text:
        sheet, uncut = _sheet(loaded, scores, corpus, split_list(languages), scoring, text)
        ranker = ranker.on(sheet)
    found = None
    if every_size:
        budget = None if wanted.sparsity is None else Sparsity(wanted.sparsity)
        report = write_elastic(loaded, ranker, target, budget, uncut)
    else:
        limits = {"minimum": least, "multiple": multiple}
        selection, found = solve(wanted, loaded, ranker, limits, _row(language, ranker))
        if recover is None:
            report = write_model(loaded, selection, ranker, target, language, uncut)
        else:
            report = _recovered(
                lambda place: write_model(loaded, selection, ranker, place, uncut=uncut),
                target, model,
                (str(corpus), split_list(languages), parallel, prefix, min(tokens, 512)),
                recover, seed,
            )  # fmt: skip
    _show(report, found, as_json)


def _show(report, found, as_json: bool) -> None:
    if as_json:
        show_json(report.as_dict() | ({} if found is None else {"speed": found.as_dict()}))
        return
    show_report(report)
    if found is not None:
        show_fit(found)


def _row(language: str | None, ranker) -> int:
    """The row of gates that is written."""
    from ..corpora.languages import find_language

    if language is None:
        return 0
    return ranker.rows.index(find_language(language, ranker.rows, "these scores"))


def _own_text(model: str, criterion, scores: Path | None) -> Path | None:
    """What a model that comes with polyprune is scored on where nothing else is given."""
    from ..loading.hub import NAMED

    if model not in NAMED or not criterion.needs_text or scores is not None:
        return None
    typer.echo("Without --corpus, this reads the bundled sample in fifteen languages.", err=True)
    return Path("sample")


def _refuse(
    language, languages, ranker, elastic, scores, corpus, recover, for_scoring: bool
) -> None:
    """Raise if two options cannot both be meant."""
    from ..errors import ConfigError

    needs_text, method = ranker.criterion.needs_text, ranker.criterion.method
    non_shared = ranker.setting.per_language
    for unlikely, why in (
        (
            language is not None and not non_shared,
            f"--language {language} is for --setting non-shared; see --languages.",
        ),
        (
            language is not None and elastic,
            "--elastic is for every language: leave --language or --elastic out.",
        ),
        (
            corpus is None and for_scoring,
            "--loss, --parallel and --table are for scoring: they need --corpus.",
        ),
        (
            languages is not None and not needs_text,
            f"Method {method!r} knows no languages: leave --languages out.",
        ),
        (
            not needs_text and (scores or (corpus and recover is None)),
            f"Method {method!r} reads no text: leave --scores and --corpus out.",
        ),
        (
            recover is not None and corpus is None,
            "--recover trains on text: give --corpus, with a folder of it.",
        ),
        (
            recover is not None and (elastic or non_shared),
            "--recover is for one size that all languages share; for others see polyprune train.",
        ),
        (
            recover is None and scores is not None and corpus is not None,
            "Give --scores or --corpus, not both: scores need no text.",
        ),
    ):
        if unlikely:
            raise ConfigError(why)


def _recovered(write, target, model: str, text, steps: int, seed: int):
    """Prune beside where the model will be, train it there, and move it to its place."""
    from dataclasses import replace

    from ..training.recovery import install_recovered, plan_recovery, recovery_folder
    from ..training.run_config import CorpusConfig

    source, languages, parallel, prefix, block = text
    folder = recovery_folder(target.folder)
    report = write(replace(target, folder=folder / "pruned", force=True))
    wanted = None if languages is None else tuple(languages)
    read = CorpusConfig(
        source=source, languages=wanted, parallel=parallel,
        prefix=prefix, block=block, held_out=100,
    )  # fmt: skip
    run = plan_recovery(folder / "pruned", model, read, steps, seed=seed)
    follow_run(run, folder / "run", force=target.force)
    install_recovered(target.folder, target.force)
    return replace(report, out=target.folder)


def _sheet(loaded, scores: Path | None, corpus: Path | None, languages, scoring, text):
    """The scores of a model, from a file or from text, and the model that was scored."""
    from ..model.files.fingerprint import fingerprint
    from ..pruning.criteria.scores_file import load_scores
    from ..pruning.shrinking import with_ranks

    if scores is not None:
        sheet = load_scores(scores)
        sheet.check(fingerprint(loaded), loaded.shape, str(scores))
        return (sheet if languages is None else sheet.only(languages)), None
    if corpus is not None:
        uncut = with_ranks(loaded, scoring.table)
        return take_scores(loaded, corpus, languages, scoring, text, uncut), uncut
    return None, None
