"""The training and dev data of a fine-tuning."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import ConfigError, DataError, UnknownName
from ..loading.hub import load
from ..loading.reading import fitting_tokenizer
from ..model.files.row_names import SHARED
from ..progress import SILENT, Progress
from .data_checks import describe_data, locate_errors, require_data, validated
from .encoded_input import EncodedInput
from .example_store import ExampleStore, write_examples
from .finetune_config import FineTuneConfig, check_sparsity
from .gate_rows import own_row
from .tasks import fine_tuned_type

DEV = 1000
"""Dev examples per language during training, if there are several languages."""


def encode_training(setup: FineTuneConfig, path: Path, progress: Progress = SILENT) -> ExampleStore:
    """Tokenize the training examples into a file, unless it exists; return its store."""
    if path.is_file():
        return ExampleStore(path)
    model = load(setup.model)
    tokenizer = fitting_tokenizer(model, strict=True)
    check_sparsity(model, setup.sparsity)
    check_fallback(model, setup.fallback)
    check_languages(setup)
    read_development(setup)  # so that its mistakes are told before hours of training
    preprocessing = fine_tuned_type(setup.task).fitted(model)

    def examples() -> Iterator[tuple[str, EncodedInput]]:
        for code in setup.training:
            place = describe_data(setup.task, setup.data, setup.split, code)
            read = islice(setup.task.reader.read(setup.data, setup.split, code), setup.limit)
            some = progress.track(f"Reading {code}", validated(setup.task, read, place))
            found = False
            for each in preprocessing.encode(some, tokenizer, setup.task.labels, training=True):
                found = found or bool(each.labels)
                yield code, each
            if not found:
                raise DataError(
                    f"There is nothing to learn in the {place}: no example has a label, or an "
                    "answer that is in its text. Use files with labels."
                )

    return write_examples(path, examples(), numbers=fine_tuned_type(setup.task).problem is not None)


def check_languages(setup: FineTuneConfig) -> None:
    """Raise if a language has no data, or if all languages are wanted and only English has data."""
    training = setup.training
    require_data(setup.task, setup.data, setup.split, training)
    if setup.regime == "transfer" or setup.languages is not None or training != ["en"]:
        return
    looked_for = [
        name
        for code in setup.missing
        for name in setup.task.reader.looked_for(setup.data, setup.split, code)
    ]
    where = ", ".join(looked_for[:3]) + (", …" if len(looked_for) > 3 else "")
    told = f"looked for {where}" if where else "XTREME has none"
    raise DataError(
        f"There is English alone to train {setup.task.name} on in {setup.data}: {told}. Add other "
        "languages, or pass `regime='transfer'`."
    )


def check_selection_data(setup: FineTuneConfig, instead: str) -> None:
    """Raise if several trials are requested and there is no dev data to choose the best by."""
    if not setup.defaults.search:
        raise ConfigError(
            f"The dev questions of {setup.task.title} are those that it is tested with, so that "
            f"nothing may be chosen by them: {instead}."
        )
    check_languages(setup)
    if not read_development(setup):
        raise ConfigError(f"There is no labelled dev data to choose by in {setup.data}: {instead}.")


def check_fallback(model: Any, fallback: str | None) -> None:
    """Raise if gates should be borrowed from a language that has none."""
    rows = (SHARED,) if model.elastic is None else model.elastic.rows
    if fallback is not None and rows != (SHARED,) and not own_row(fallback, rows):
        see = f"This model has gates of: {', '.join(rows)}."
        raise UnknownName("fallback", fallback, rows, see)


def read_development(setup: FineTuneConfig) -> dict[str, tuple[list[Any], Any]]:
    """Read the labelled dev examples of every language, and their gold labels."""
    task, codes = setup.task, setup.development
    most = DEV if len(codes) > 1 else None
    found = {}
    for code in codes:
        place = describe_data(task, setup.data, "dev", code)
        read = islice(task.reader.read(setup.data, "dev", code), most)
        examples = list(validated(task, read, place))
        with locate_errors(place):
            gold = task.kind.gold(examples)
        if gold:
            found[code] = (examples, gold)
    return found
