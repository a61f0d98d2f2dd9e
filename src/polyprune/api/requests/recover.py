"""What `polyprune.recover` is asked for."""

from dataclasses import dataclass
from typing import Annotated, Any

from ..request import Option, Request
from .shared import Compare, Corpus, Force, Languages, Out, Parallel, Prefix, Seed

TRAINING = "Training"


@dataclass(frozen=True, kw_only=True)
class RecoverRequest(Request):
    """On which text a pruned model is trained on, for how long, and whom it learns from."""

    corpus: Corpus = None
    steps: Annotated[int, Option("Steps to train.", least=1)] = 300
    teacher: Annotated[
        Any,
        Option("The model that it was cut from, to learn from: a folder, an id or a name."),
    ] = None
    out: Out = None
    languages: Languages = None
    parallel: Parallel = None
    prefix: Prefix = None
    tokens: Annotated[int, Option("Tokens in an example.", TRAINING)] = 128
    batch_size: Annotated[int, Option("Examples in a step.", TRAINING, least=1)] = 64
    held_out: Annotated[
        int, Option("Lines of each language that are kept to measure with.", TRAINING, least=0)
    ] = 100
    compare: Compare = None
    seed: Seed = 0
    force: Force = False
