"""How much of a model may stay: sizes and speeds, as people ask for them."""

import re
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ..quantities import parse_bytes, parse_count, parse_seconds, parse_sparsity, parse_speed_up

SIZE, SPEED = "How much stays", "How fast it becomes"

Sparsity = Annotated[
    str | None,
    typer.Option(help="How much of the encoder goes: 0.5 or 50%.", rich_help_panel=SIZE),
]
Parameters = Annotated[
    str | None,
    typer.Option(help="How many parameters the model may have in all: 60M.", rich_help_panel=SIZE),
]
FileSize = Annotated[
    str | None,
    typer.Option("--size", help="How large the weights may be: 100MB.", rich_help_panel=SIZE),
]
Speedup = Annotated[
    str | None,
    typer.Option(help="How many times faster, on this machine: 2.", rich_help_panel=SPEED),
]
Latency = Annotated[
    str | None,
    typer.Option(help="How long a batch may take, on this machine: 10ms.", rich_help_panel=SPEED),
]
SpeedAt = Annotated[str, typer.Option(help="The batch: sentences x tokens.", rich_help_panel=SPEED)]
Threads = Annotated[
    int | None,
    typer.Option(min=1, help="Of the processor; all unless given.", rich_help_panel=SPEED),
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for, read but not yet solved."""

    sparsity: float | None
    parameters: int | None
    size: int | None
    """Bytes of the weights file."""
    speedup: float | None
    latency: float | None
    batch: tuple[int, int]
    """Sentences and tokens."""
    threads: int | None
    exact: bool = False

    @classmethod
    def read(
        cls, given: dict[str, str | None], threads: int | None, exact: bool = False
    ) -> "Wanted":
        """From the words of the command line."""
        return cls(
            parse_sparsity(given["sparsity"]),
            parse_count(given["parameters"]),
            parse_bytes(given["size"]),
            parse_speed_up(given["speedup"]),
            parse_seconds(given["latency"]),
            _batch(given["speed_at"] or ""),
            threads,
            exact,
        )

    @property
    def anything(self) -> bool:
        """Whether there is a budget at all."""
        return self.sparsity is not None or self.more

    @property
    def more(self) -> bool:
        """Whether it is another one than a sparsity."""
        return any(
            each is not None for each in (self.parameters, self.size, self.speedup, self.latency)
        )

    def check(self) -> None:
        """Raise if this is no budget, or more than can be meant."""
        from ..errors import ConfigError

        if not self.anything:
            raise ConfigError(
                "Give a budget: --sparsity 0.5, or --parameters 60M, --size 100MB, --speedup 2 or "
                "--latency 10ms, alone or together."
            )
        if self.sparsity is not None and self.more:
            raise ConfigError(
                "A sparsity is a budget of its own: leave --sparsity out, or --parameters, --size, "
                "--speedup and --latency."
            )
        if self.exact and self.sparsity is None:
            raise ConfigError("The exact knapsack goes with a sparsity, not with another budget.")
        if self.speedup is not None and self.latency is not None:
            raise ConfigError("Ask for --speedup or for --latency, not for both.")

    @property
    def timed(self) -> bool:
        """Whether speed is asked for."""
        return self.speedup is not None or self.latency is not None

    def most_parameters(self, model: Any) -> int | None:
        """Of the budgets of size, the smaller, in parameters."""
        from ..model.footprint import parameters_within

        limits = [] if self.parameters is None else [self.parameters]
        if self.size is not None:
            limits.append(parameters_within(self.size, model))
        return min(limits, default=None)


def solve(wanted: Wanted, model, ranker, limits: dict, row: int = 0):
    """What stays, and how it was fitted where speed is asked for; `limits` go with any budget.

    Speed is a matter of this machine, so what sublayers take is measured first, or remembered.
    """
    import math

    import torch

    from ..measuring.latency_timing import BatchShape, cached_table
    from ..measuring.speed_target import FitRequest, SpeedGoal, fit_to_speed
    from ..progress import progress_of
    from ..pruning.prune import check_finite, select
    from ..pruning.selection.budgets import Parameters, Sparsity, Time

    most = wanted.most_parameters(model)
    if wanted.sparsity is not None:
        return select(model, Sparsity(wanted.sparsity, wanted.exact, **limits), ranker), None
    if not wanted.timed:
        return select(model, Parameters(most, **limits), ranker), None
    check_finite(model)
    if wanted.threads is not None:
        torch.set_num_threads(wanted.threads)
    load = BatchShape(*wanted.batch)
    progress = progress_of(None)
    table = cached_table(model, load, progress)
    goal = SpeedGoal(wanted.speedup, wanted.latency)
    aim = FitRequest(goal, load, Time(math.inf, table, most, **limits), row)
    found = fit_to_speed(model, ranker, aim, progress)
    return found.selection, found


def show_fit(found) -> None:
    """What was asked for and what was measured, in two sentences."""
    goal, load = found.aim.goal, found.aim.load
    asked = f"{goal.speedup:g} ×" if goal.speedup is not None else f"{1e3 * goal.seconds:g} ms"
    off = found.off()
    verdict = f"{off:.0%} slower than that" if off > 0.005 else "which is reached"
    typer.echo(
        f"Asked for {asked} at {load.batch} × {load.tokens} tokens on {_threads(found)}: measured "
        f"{found.speedup:.2f} × ({found.low:.2f}–{found.high:.2f}), {1e3 * found.before:.3g} ms "
        f"before, {1e3 * found.after:.3g} ms after; {verdict}."
    )
    told = {
        ("time",): "What binds is time: more would be slower.",
        ("parameters",): "What binds is the number of parameters: it is faster than it had to be.",
        ("time", "parameters"): "Time and parameters both bind.",
    }
    typer.echo(told.get(tuple(found.binds), "Nothing had to go for that."))
    for warning in found.noise["warnings"]:
        typer.echo(f"Note: {warning}.")


def _threads(found) -> str:
    threads = found.aim.budget.table.about["threads"]
    return f"{threads} thread{'s' if threads != 1 else ''}"


def _batch(text: str) -> tuple[int, int]:
    """`1x128` as sentences and tokens."""
    from ..errors import ConfigError

    found = re.fullmatch(r"(\d{1,5})\s*[x×]\s*(\d{1,5})", text.strip().lower())
    if found is None or not int(found[1]) or not int(found[2]):
        raise ConfigError(f"A batch is sentences x tokens, such as 1x128 or 32x64, not {text!r}.")
    return int(found[1]), int(found[2])
