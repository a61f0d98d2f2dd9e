"""What `polyprune.measure` is asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from ...quantities import parse_bytes
from ..request import Option, Request
from .shared import TextLike

PRECISIONS = ("float32", "bfloat16", "float16")

FEWEST_ROUNDS = 8
"""Fewer rounds than these have no interval of 95 %, whatever they are."""


@dataclass(frozen=True, kw_only=True)
class MeasureRequest(Request):
    """Whether models are run, on what, and where."""

    speed: Annotated[bool, Option("Run them too, in turns, beside the first.")] = False
    batch: Annotated[int, Option("Sentences in a batch.", least=1)] = 1
    tokens: Annotated[int, Option("Tokens in a sentence.", least=1)] = 128
    corpus: Annotated[
        TextLike | None,
        Option("Sentences of real length: sample, or a folder with one file per language."),
    ] = None
    memory: Annotated[
        str | int | None,
        Option(
            "With --speed: also each at its best batch size within, such as 2GB.",
            parse=partial(parse_bytes, what="An amount of memory"),
        ),
    ] = None
    threads: Annotated[
        int | None, Option("Threads to compute with; torch's choice if not set.", least=1)
    ] = None
    rounds: Annotated[
        int, Option("How often each is timed, after a warm-up.", least=FEWEST_ROUNDS)
    ] = 30
    device: Annotated[str, Option("auto, cpu, cuda, cuda:1 or mps.")] = "auto"
    precision: Annotated[str, Option("On CUDA and with --gpu: float32, bfloat16 or float16.")] = (
        "float32"
    )
    gpu: Annotated[
        str | None,
        Option("Estimate, on paper, what a GPU could do: T4, V100, A100, L4, H100."),
    ] = None
    allow_noisy: Annotated[
        bool, Option("Show numbers of a machine that is too noisy, too.", formerly="anyway")
    ] = False

    def refusals(self) -> Iterator[tuple[bool, str]]:
        """What cannot be meant."""
        yield (
            self.memory is not None and not self.speed,
            "`memory` is for finding the best batch size: it goes with `speed`.",
        )
        known = f"{', '.join(PRECISIONS[:-1])} or {PRECISIONS[-1]}"
        yield (
            self.precision not in PRECISIONS,
            f"`precision` is {known}, not {self.precision!r}.",
        )
