"""Options that several verbs share, declared once."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from ...quantities import split_list
from ..request import Option

TextLike = str | Path | Mapping[str, Sequence[str]] | Mapping[str, Iterable[Mapping[str, Any]]]
"""Text: the name of a folder or data set, `sample`, sentences by language, or batches of tensors
by language."""

TEXT = "Text"


def as_path(given: str | Path | None) -> Path | None:
    """The place that is meant."""
    return None if given is None else Path(given).expanduser()


def as_names(given: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """`sw,ur`, or a list of names, as names."""
    names = split_list(given)
    return None if names is None else tuple(names)


Names = str | Sequence[str]

Out = Annotated[
    str | Path | None, Option("The folder to write.", parse=as_path, needed_in_terminal=True)
]
Force = Annotated[bool, Option("Replace what is there.")]
Seed = Annotated[int, Option("The seed of masked words, and of chance.")]
Compare = Annotated[
    int | None,
    Option(
        "Sentences of each language to compare with the uncut model on: 64 or fewer; 0 for none.",
        TEXT,
        least=0,
    ),
]
Device = Annotated[str, Option("auto, cpu, cuda, cuda:1 or mps.", TEXT)]
Command = Annotated[
    str, Option("The command that the model's card says it was made with.", in_terminal=False)
]
Corpus = Annotated[
    TextLike | None,
    Option("A folder of text, one file per language (sw.txt, ur.txt.xz), or sample."),
]
Languages = Annotated[
    Names | None, Option("Only these languages: sw,ur; all unless given.", parse=as_names)
]
Sentences = Annotated[int, Option("Sentences to read in each language.", TEXT)]
Loss = Annotated[
    str | None,
    Option("masked-lm, contrastive, embedding or task; what fits unless given.", TEXT),
]
Parallel = Annotated[
    str | None,
    Option("The language that the files are line by line translations of: en.", TEXT),
]
Table = Annotated[
    str | None,
    Option(
        "How a plain word table is split: spectral (unless given), weighted, identity, as it is.",
        TEXT,
    ),
]
BatchSize = Annotated[int, Option("Sentences in a batch.", TEXT)]
Tokens = Annotated[int, Option("Tokens that a sentence is cut to.", TEXT)]
Prefix = Annotated[
    str | None,
    Option("What sentences begin with; the model's own prompt unless given.", TEXT),
]
