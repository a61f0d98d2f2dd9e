"""What `polyprune.recover` is asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from ...errors import ConfigError
from ..request import Option, Request
from .shared import Compare, Corpus, Force, Languages, Out, Parallel, Prefix, Seed

TRAINING = "Training"

AUTO = "auto"
"""As many steps as there are minutes for."""

MINUTES = 5.0
"""The minutes of as many steps as there are minutes for, unless given."""


def as_steps(given: int | str | None, name: str = "steps") -> int | str | None:
    """`300` as a number of steps, or `auto`, for the option of that name."""
    if given is None or given == AUTO:
        return given
    try:
        steps = int(given)
    except ValueError:
        steps = 0
    if steps < 1:
        raise ConfigError(f"`{name}` is a number of steps from 1, or auto, not {given!r}.")
    return steps


def refused_minutes(
    minutes: float | None, steps: int | str | None, name: str
) -> Iterator[tuple[bool, str]]:
    """Minutes that cannot be meant with such steps, which are the option of that name."""
    yield (
        minutes is not None and steps != AUTO,
        f"`minutes` are for as many steps as there is time for: give `{name}='auto'` too.",
    )
    yield minutes is not None and not minutes > 0, f"`minutes` are more than 0, not {minutes}."


RecoverSteps = Annotated[
    int | str | None,
    Option(
        "Then train so many steps, or auto, to win back what was lost.",
        parse=partial(as_steps, name="recover"),
    ),
]
Minutes = Annotated[float | None, Option("With auto: how long to train; 5 unless given.", TRAINING)]


@dataclass(frozen=True, kw_only=True)
class RecoverRequest(Request):
    """On which text a pruned model is trained on, for how long, and whom it learns from."""

    corpus: Corpus = None
    steps: Annotated[int | str, Option("Steps to train, or auto.", parse=as_steps)] = 300
    minutes: Minutes = None
    teacher: Annotated[
        Any,
        Option("The model that it was cut from, to learn from: a folder, an id or a name."),
    ] = None
    out: Out = None
    languages: Languages = None
    parallel: Parallel = None
    prefix: Prefix = None
    tokens: Annotated[int, Option("Tokens in an example.", TRAINING)] = 128
    batch_size: Annotated[
        int | None, Option("Examples in a step: 64, or 16 with auto.", TRAINING, least=1)
    ] = None
    learning_rate: Annotated[
        float | None, Option("The highest learning rate; one that suits the model.", TRAINING)
    ] = None
    held_out: Annotated[
        int,
        Option(
            "Lines of each language to choose the best step by; at most a tenth of its text.",
            TRAINING,
            least=0,
        ),
    ] = 100
    compare: Compare = None
    seed: Seed = 0
    force: Force = False

    @property
    def timed(self) -> bool:
        """Whether as many steps are done as there is time for."""
        return self.steps == AUTO

    @property
    def chosen_batch(self) -> int:
        """The examples in a step; fewer where time is short, as more steps are then better."""
        if self.batch_size is not None:
            return self.batch_size
        return 16 if self.timed else 64

    @property
    def chosen_minutes(self) -> float:
        """The minutes that are asked for, or the usual ones."""
        return MINUTES if self.minutes is None else float(self.minutes)

    def refusals(self) -> Iterator[tuple[bool, str]]:
        """Options that cannot both be meant."""
        yield from refused_minutes(self.minutes, self.steps, "steps")
