"""A training run as lines of a terminal."""

from pathlib import Path

from rich.text import Text

from ...averages import Value, mean
from ...quantities import clock_time
from ...training.run_progress import RunProgress
from .bars import TICK, ago, bar, clean, curve, fitted, line, shown
from .watch_languages import Languages, language_bars

COLOURS = {"finished": "green", "silent": "yellow"}


def training_lines(progress: RunProgress, width: int, height: int | None = None) -> list[Text]:
    """How far a run has come, in at most so many lines; None for all there is to say."""
    top = [_title(progress), *_place(progress, width)]
    middle = _losses(progress, width)
    if height is not None and len(top) + len(middle) + 6 > height:
        middle = middle[: max(1, height - len(top) - 6)]
    density = _density(progress)
    head = [*top, line(), *middle, *density] if progress.step else top
    room = None if height is None else height - len(head) - 1
    return [*head, line(), *language_lines(progress, width, room)][:height]


def _title(progress: RunProgress) -> Text:
    plan = progress.plan
    parts = [Path(plan.model).name if "/" in plan.model else plan.model]
    parts.append(f"on {Path(plan.corpus).name}" if plan.corpus else "")
    if plan.gating != "none":
        cut = "" if plan.sparsity is None else f", {plan.sparsity:.0%} cut"
        parts.append(f"{plan.gating} gates, {plan.setting}{cut}")
    about = "".join(f" · {clean(part)}" for part in parts if part)
    return line((clean(progress.name), "bold"), about)


def _place(progress: RunProgress, width: int) -> list[Text]:
    """The bar over all steps, and what is known of time."""
    steps = progress.steps
    of = "" if steps is None else f" of {steps:,}"
    told = f" step {progress.step:,}{of}"
    share = progress.step / steps if steps else float(progress.state == "finished")
    told += f" · {share:.0%}" if steps else ""
    wide = max(10, min(50, width - len(told)))
    return [
        line(bar(share, wide, COLOURS.get(progress.state, "cyan")), told),
        line((state_of(progress), COLOURS.get(progress.state, "")), _times(progress)),
    ]


def state_of(progress: RunProgress) -> str:
    """What it is doing, in a few words."""
    if progress.state == "silent":
        return f"nothing written for {ago(progress.silent_seconds or 0)}"
    if progress.state != "training":
        return progress.state
    phases = progress.plan.phases
    if len(phases) < 2 or progress.phase not in phases:
        return clean(progress.phase)
    number = phases.index(progress.phase) + 1
    return f"{clean(progress.phase)}, phase {number} of {len(phases)}"


def _times(progress: RunProgress) -> str:
    told = ""
    if progress.elapsed_seconds is not None:
        told += f" · {clock_time(progress.elapsed_seconds)} elapsed"
    if progress.left_seconds is not None:
        told += f" · about {clock_time(progress.left_seconds)} left"
    if progress.tokens_per_second:
        told += f" · {progress.tokens_per_second:,.0f} tokens/s"
    done = progress.runs_done
    return told + (f" · {done} {'setting' if done == 1 else 'settings'} done" if done else "")


def _losses(progress: RunProgress, width: int) -> list[Text]:
    """The total and its parts, each with its course."""
    names = [name for name in progress.losses if name != "total"]
    names = ["total", *names] if "total" in progress.losses else names
    if len(names) == 2:  # a total of one part is that part
        names = names[:1]
    called = {"total": "loss"}
    return [_loss(progress, name, called.get(name, f"  {name}"), width) for name in names]


def _loss(progress: RunProgress, name: str, called: str, width: int) -> Text:
    trace = progress.traces.get(name, ())
    known = [value for value in trace if value is not None]
    span = f" {min(known):.3g} to {max(known):.3g}" if len(known) > 1 else ""
    value = shown(progress.losses[name], ".4g")
    wide = min(60, width - 24 - len(span))
    style = "bold" if name == "total" else ""
    return line(
        (fitted(called, 13), style),
        (fitted(value, 9, right=True), style),
        "  ",
        (curve(trace, wide), "cyan"),
        (span, "dim"),
    )


def _density(progress: RunProgress) -> list[Text]:
    """How much is open, where gates are learned or drawn."""
    told = []
    if progress.density is not None:
        told.append(f"aims at {progress.density:.0%}")
    if progress.expected_density is not None:
        told.append(f"{progress.expected_density:.0%} expected")
    sizes = [size for size in progress.sizes.values() if size is not None]
    if sizes:
        low, high = f"{min(sizes):.0%}", f"{max(sizes):.0%}"
        rows = f" in {len(sizes)} rows" if len(sizes) > 1 else ""
        told.append(f"{low if low == high else f'{low} to {high}'} open{rows}")
    return [line(f"{'density':<13}", " · ".join(told))] if told else []


def language_lines(progress: RunProgress, width: int, room: int | None) -> list[Text]:
    """What is held out, language by language, beside the dense model where that is known."""
    if not progress.held_out:
        return [line(("nothing held out was measured so far", "dim"))] if progress.step else []
    wrong = progress.plan.measure == "wrong"
    languages = Languages(
        progress.held_out, progress.dense, progress.lagging, ".1%" if wrong else ".3f"
    )
    bars = language_bars(languages, width, None if room is None else room - 1)
    return [_held_out_title(progress), *bars]


def _held_out_title(progress: RunProgress) -> Text:
    known, dense = mean(progress.held_out.values()), mean(progress.dense.values())
    name = "wrong on dev" if progress.plan.measure == "wrong" else "held-out loss"
    told = f" at step {progress.held_out_step:,}"
    if known is not None:
        told += f": mean {_number(progress, known)}"
    if dense is not None:
        told += f" {TICK} dense {_number(progress, dense)}"
    marked = ("  ▼ lags behind dense", "yellow") if progress.lagging else ""
    return line((name, "bold"), told, marked)


def _number(progress: RunProgress, value: Value) -> str:
    if progress.plan.measure == "wrong" and value is not None:
        return f"{value:.1%}"
    return shown(value)
