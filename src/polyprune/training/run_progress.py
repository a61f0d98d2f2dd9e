"""The progress of a run, read from its files while another process writes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from ..averages import number, numbers
from .log_tail import LogSummary, LogTail
from .run_location import (
    RunLocation,
    Timestamp,
    find_run,
    modified_at,
    read_json,
    recent_speed,
)
from .run_paths import RunPaths

Value = float | None

PATIENCE = 60
"""A run counts as silent after this many seconds, or five steps if those take longer."""


GATING_KINDS = {"gradient": "fixed", "l0": "learned"}
"""What records of runs call gates, which keep the first names of settings, and what they are."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run's settings as `run.json` records them; empty if that is missing."""

    model: str = ""
    corpus: str = ""
    phases: tuple[str, ...] = ()
    steps: int | None = None
    gating: str = "none"
    setting: str = ""
    sparsity: Value = None
    measure: str = "loss"
    """What the held-out numbers are: a `loss` on text, or the share of task examples that are
    `wrong`.
    """


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a run. What is unknown, or not a finite number, is None."""

    name: str
    state: str
    """`preparing`, `training`, `silent` (nothing was written for a while), `finished`."""
    plan: RunSummary = field(default_factory=RunSummary)
    step: int = 0
    phase: str = ""
    losses: Mapping[str, Value] = field(default_factory=dict)
    """The losses of the last step; `total` is their weighted sum."""
    traces: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    """The losses of all steps, downsampled."""
    density: Value = None
    """The target density of the last step."""
    expected_density: Value = None
    sizes: Mapping[str, Value] = field(default_factory=dict)
    """The density of each row's open gates at inference."""
    held_out: Mapping[str, Value] = field(default_factory=dict)
    """The latest held-out loss of each language."""
    held_out_step: int | None = None
    dense: Mapping[str, Value] = field(default_factory=dict)
    lagging: tuple[str, ...] = ()
    steps_per_second: Value = None
    tokens_per_second: Value = None
    elapsed_seconds: Value = None
    left_seconds: Value = None
    silent_seconds: Value = None
    """The seconds since a file was last written."""
    runs_done: int = 0
    """The number of finished runs, where several are tried in turn."""

    @property
    def steps(self) -> int | None:
        """The total number of steps, if it is known."""
        return self.plan.steps


class RunReader:
    """Reads a run's progress repeatedly, each time only what is new; never writes."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._tail = LogTail(folder)
        self._course = LogSummary()
        self._seen: list[Timestamp] = []

    def read(self, now: float) -> RunProgress | None:
        """Return the progress at time `now` (seconds since the epoch); None if there is no run."""
        place = find_run(self.folder)
        if place is None:
            return None
        self._follow(place.log)
        course, plan = self._course, summarize_record(place.record)
        state = RunProgress(
            name=place.name,
            state="preparing",
            plan=plan,
            step=course.step,
            phase=course.phase,
            losses=course.losses,
            traces={name: trace.values for name, trace in course.traces.items()},
            density=course.density,
            expected_density=course.expected_density,
            sizes=course.sizes,
            held_out=course.held_out,
            held_out_step=course.held_out_step,
            dense=numbers(read_json(RunPaths(place.folder).dense)),
            runs_done=place.runs_done,
        )
        state = replace(state, lagging=_lagging(state.held_out, state.dense))
        return self._timed(state, place, now)

    def _follow(self, log: Path) -> None:
        """Read new lines of the log; all of it if it was replaced or truncated."""
        if log != self._tail.path:
            self._tail, self._course, self._seen = LogTail(log), LogSummary(), []
        anew, entries = self._tail.read()
        if anew:
            self._course = LogSummary()
        for entry in entries:
            self._course.add(entry)

    def _timed(self, state: RunProgress, place: RunLocation, now: float) -> RunProgress:
        """Add speeds and times, taken from the files' modification times."""
        last, begun = place.last_written, place.begun
        self._note(place, state.step)
        marks = [*place.marks, *self._seen]
        speed = recent_speed([mark for mark in marks if mark.step <= state.step])
        silent = None if last is None else max(0.0, now - last)  # clocks differ between machines
        state = replace(state, state=_state(state, place.finished, silent, speed))
        until = now if state.state in ("preparing", "training") else last
        return replace(
            state,
            steps_per_second=speed,
            tokens_per_second=None if speed is None else speed * self._course.tokens_per_step,
            elapsed_seconds=None if begun is None or until is None else max(0.0, until - begun),
            left_seconds=_left(state, speed),
            silent_seconds=silent,
        )

    def _note(self, place: RunLocation, step: int) -> None:
        """Remember when a step was written, so that the speed is the recent one."""
        when = modified_at(place.log)
        self._seen = [mark for mark in self._seen if mark.step < step][-500:]
        if when is not None and step:
            self._seen.append(Timestamp(when, step))


def _state(state: RunProgress, finished: bool, silent: Value, speed: Value) -> str:
    if finished:
        return "finished"
    if silent is not None and silent > max(PATIENCE, 5 / speed if speed else 0):
        return "silent"
    return "training" if state.step else "preparing"


def _left(state: RunProgress, speed: Value) -> Value:
    if state.state != "training" or not speed or state.plan.steps is None:
        return None
    return max(0, state.plan.steps - state.step) / speed


def _lagging(losses: Mapping[str, Value], dense: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the lagging languages among those with finite losses."""
    known = {code: loss for code, loss in losses.items() if loss is not None}
    return tuple(
        lagging_languages(known, {code: loss for code, loss in dense.items() if loss is not None})
    )


def summarize_record(record: Mapping[str, Any]) -> RunSummary:
    """Read the settings that a record holds; leave out what it does not."""
    phases = [phase for phase in record.get("phases") or () if isinstance(phase, dict)]
    gating, labels = _part(record, "gating"), _part(record, "objective").get("labels")
    steps = [steps for phase in phases if isinstance(steps := phase.get("steps"), int)]
    return RunSummary(
        model=str(_part(record, "model").get("start") or ""),
        corpus="" if labels else str(_part(record, "corpus").get("source") or ""),
        phases=tuple(str(phase.get("name") or phase.get("train") or "") for phase in phases),
        steps=sum(steps) if steps and len(steps) == len(phases) else None,
        gating=GATING_KINDS.get(kind := str(gating.get("kind") or "none"), kind),
        setting=str(gating.get("setting") or ""),
        sparsity=number(gating.get("sparsity")),
        measure="wrong" if labels else "loss",
    )


def _part(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def lagging_languages(losses: Mapping[str, float], dense: Mapping[str, float]) -> list[str]:
    """Return the languages whose loss rose by 1.5 times the median rise or more, relative to dense.

    Relative, because languages differ in how many words there are to choose from.
    """
    lost = {code: losses[code] / dense[code] - 1 for code in losses if dense.get(code)}
    if len(lost) < 3:
        return []
    bound = 1.5 * max(median(lost.values()), 0.01)
    return [code for code, share in lost.items() if share > bound]


def describe_losses(step: int, losses: Mapping[str, float], dense: Mapping[str, float]) -> str:
    """The held-out loss of every language in a few lines, those that lag behind dense marked."""
    marked = set(lagging_languages(losses, dense))
    mean = sum(losses.values()) / len(losses)
    legend = "  (▼ lags behind dense)" if marked else ""
    shown = {code: f"{loss:6.3f}{'▼' if code in marked else ' '}" for code, loss in losses.items()}
    return "\n".join([f"Step {step:,}: held-out loss {mean:.4f}{legend}", *in_rows(shown)])


def in_rows(cells: Mapping[str, str]) -> list[str]:
    """Languages and what there is to say about each, six in a line."""
    texts = [f"{code:>7} {cell}" for code, cell in cells.items()]
    return ["".join(texts[i : i + 6]) for i in range(0, len(texts), 6)]
