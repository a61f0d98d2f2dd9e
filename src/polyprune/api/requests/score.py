"""What `polyprune.score` is asked for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ..request import Option, Request
from .shared import (
    BatchSize,
    Device,
    Force,
    Languages,
    Loss,
    Parallel,
    Prefix,
    Seed,
    Sentences,
    Table,
    TextLike,
    Tokens,
    as_path,
)


@dataclass(frozen=True, kw_only=True)
class ScoreRequest(Request):
    """On which text components are scored, and how."""

    corpus: Annotated[
        TextLike,
        Option("A folder of text, one file per language (sw.txt, ur.txt.xz), or sample."),
    ]
    out: Annotated[
        str | Path | None,
        Option("The scores file to write.", parse=as_path, needed_in_terminal=True),
    ] = None
    languages: Languages = None
    sentences: Sentences = 300
    loss: Loss = None
    per: Annotated[str, Option("Take absolute values per example, token or batch.")] = "example"
    rule: Annotated[
        str | None, Option("Measure what this rule needs too, such as second-order.")
    ] = None
    covariances: Annotated[
        bool,
        Option("With second-order: keep what lets the rest make up, as large as the layers."),
    ] = False
    parallel: Parallel = None
    table: Table = None
    batch_size: BatchSize = 16
    tokens: Tokens = 128
    prefix: Prefix = None
    seed: Seed = 0
    device: Device = "auto"
    force: Force = False
