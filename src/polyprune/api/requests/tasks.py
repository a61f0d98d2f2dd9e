"""What `polyprune.finetune` and `polyprune.evaluate` are asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from ...quantities import parse_numbers, parse_sparsity, split_list
from ..request import Option, Request
from .shared import Force, Names, as_names, as_path

TEACHER = "Learning from a teacher"


def as_place(given: str | Path | None) -> str | None:
    """A folder or a name, as text."""
    return None if given is None else str(given)


Task = Annotated[
    str | Path | None,
    Option("One of polyprune ls tasks, or a task.toml; none for a folder.", parse=as_place),
]
Data = Annotated[
    str | Path | None,
    Option("A folder of XTREME or of your own, or a data set's name.", parse=as_place),
]
Metric = Annotated[
    str | None, Option("For a task of your own: accuracy, macro-f1, chunk-f1, pearson, …")
]
Numbers = str | int | float | Sequence[int] | Sequence[float]


def as_sizes(given: str | float | Iterable[float] | None) -> tuple[float, ...] | None:
    """`0.3,50%`, a number or several, as sparsities."""
    if given is None:
        return None
    if isinstance(given, str):
        several = split_list(given) or []
    else:
        several = [given] if isinstance(given, int | float) else list(given)
    return tuple(size for each in several if (size := parse_sparsity(each)) is not None)


@dataclass(frozen=True, kw_only=True)
class FinetuneRequest(Request):
    """What a model is fine-tuned for, on which data, and how."""

    task: Task = None
    data: Data = None
    out: Annotated[
        str | Path | None,
        Option(
            "The folder to work in; the model is in its model/.",
            parse=as_path,
            needed_in_terminal=True,
        ),
    ] = None
    metric: Metric = None
    regime: Annotated[
        str | None,
        Option("transfer: English alone, as XTREME's tasks. translate-train-all: all languages."),
    ] = None
    languages: Annotated[
        Names | None,
        Option("Train on these: en,sw; those of the regime unless given.", parse=as_names),
    ] = None
    limit: Annotated[int | None, Option("Examples of each language to train on.", least=1)] = None
    sparsity: Annotated[
        int | float | str | None,
        Option("The one size of an elastic model to train, such as 0.5.", parse=parse_sparsity),
    ] = None
    learning_rate: Annotated[
        Numbers | None,
        Option(
            "One, or several to choose from on dev: 1e-5,2e-5.",
            parse=partial(parse_numbers, kind=float),
        ),
    ] = None
    epochs: Annotated[
        Numbers | None,
        Option("One number, or several: 5,10.", parse=partial(parse_numbers, kind=int)),
    ] = None
    grid: Annotated[bool, Option("Choose learning rate and epochs as the paper did.")] = False
    seeds: Annotated[
        Numbers, Option("One, or several: 1,2,3.", parse=partial(parse_numbers, kind=int))
    ] = "1"
    batch: Annotated[int, Option("Examples in a step.", least=1)] = 32
    freeze_words: Annotated[bool, Option("Leave the word table as it is: faster.")] = False
    fallback: Annotated[
        str | None, Option("Whose gates languages without gates or kin use: en.")
    ] = None
    teacher: Annotated[
        Any, Option("A model fine-tuned for the task, to learn from besides labels.", TEACHER)
    ] = None
    teacher_weight: Annotated[
        float, Option("Its part of the loss, between 0 and 1; labels have the rest.", TEACHER)
    ] = 0.5
    temperature: Annotated[float, Option("What softens outputs.", TEACHER)] = 2.0
    precision: Annotated[str, Option("The precision of the steps: no, fp16 or bf16.")] = "no"
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest(Request):
    """What models are scored on."""

    task: Task = None
    data: Data = None
    metric: Metric = None
    split: Annotated[str, Option("test or dev.")] = "test"
    languages: Annotated[
        Names | None, Option("sw,ur; all that there is data for unless given.", parse=as_names)
    ] = None
    sparsity: Annotated[
        Numbers | None,
        Option("For elastic models: one size or several, 0.3,0.5.", parse=as_sizes),
    ] = None
    limit: Annotated[int | None, Option("Examples of each language.", least=1)] = None
    labels: Annotated[str | Path | None, Option("A folder of labels, for test files without.")] = (
        None
    )
    predictions: Annotated[
        str | Path | None,
        Option("Write prediction files in XTREME's layout to this folder.", parse=as_path),
    ] = None
    compat: Annotated[bool, Option("Cut answers out as XTREME's scripts do.")] = False
    layer: Annotated[
        int | None, Option("For retrieval: the layer that is pooled, from 1.", least=0)
    ] = None
    fallback: Annotated[
        str | None,
        Option("Whose gates a language without gates or kin uses: en unless given."),
    ] = None
    device: Annotated[str, Option("auto, cpu, cuda, cuda:1 or mps.")] = "auto"
