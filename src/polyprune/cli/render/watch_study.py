"""A study as lines of a terminal."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from ...studies.standings import Standing
from ...studies.study_progress import CellCount, StudyProgress
from ...training.run_progress import RunProgress
from .bars import (
    NOTHING,
    STEPS,
    TICK,
    Value,
    ago,
    bar,
    clean,
    curve,
    fitted,
    line,
    shown,
)
from .watch_languages import Languages, language_bars
from .watch_run import COLOURS, state_of

MOST = 4
"""Failures, trainings and systems that are shown where there is little room."""


def study_lines(study: StudyProgress, width: int, height: int | None = None) -> list[Text]:
    """How far a study has come, in at most so many lines; None for all there is to say."""
    short = height is not None
    head = [_title(study), *_cells(study, width)]
    failed = _failed(study, MOST if short else None)
    training = [_training(each, width) for each in study.training[: MOST if short else None]]
    beside = [cell for cell in study.running if cell.title not in {t.name for t in study.training}]
    if beside:
        training.append(line("  ", ", ".join(clean(cell.title) for cell in beside)))
    parts = [head, failed]
    if training:
        now = "now" if study.state == "running" else "begun"
        parts.append([line((now, "bold")), *training])
    for more in (_scores, _by_language):
        used = sum(len(part) + 1 for part in parts if part)
        room = None if height is None else height - used
        if room is None or room >= 3:
            parts.append(more(study.standings, width, room))
    joined = [each for part in parts if part for each in (*part, line())]
    return joined[:-1][:height]


def _title(study: StudyProgress) -> Text:
    whole = study.whole
    state = study.state
    if state == "silent":
        state = f"nothing written for {ago(study.silent_seconds or 0)}"
    of = f" of {whole.total:,}" if study.planned else ""
    told = f"{whole.done:,}{of} cells done"
    return line((clean(study.name), "bold"), f" · {told} · ", (state, COLOURS.get(study.state, "")))


def _cells(study: StudyProgress, width: int) -> list[Text]:
    """A bar a kind: done, failed, running, and how many of each."""
    begun = "running" if study.state == "running" else "begun"
    wide = max(10, min(30, width - 50))
    return [_kind(count, study.planned, begun, wide) for count in study.counts]


def _kind(count: CellCount, planned: bool, begun: str, width: int) -> Text:
    done, failed, running = _shares(count, width)
    told = [f"{count.done:,} of {count.total:,}" if planned else f"{count.done:,} done"]
    told += [f"{count.running:,} {begun}"] if count.running else []
    told += [f"{count.failed:,} failed"] if count.failed else []
    told += [f"{count.left_out:,} left out"] if count.left_out else []
    told += [f"{count.to_do:,} to do"] if count.to_do else []
    rest = width - done - failed - running
    return line(
        fitted(count.kind or "unknown", 8),
        ("█" * done, "green"),
        ("▓" * failed, "red"),
        ("▒" * running, "cyan"),
        ("░" * rest, "dim"),
        "  ",
        " · ".join(told),
    )


def _shares(count: CellCount, width: int) -> tuple[int, int, int]:
    """Cells of a bar; one at least for what failed or runs, and a full bar only for all."""
    if not count.total:
        return 0, 0, 0
    failed = count.failed + count.left_out
    wide = [max(1, width * each // count.total) if each else 0 for each in (failed, count.running)]
    done = min(width * count.done // count.total, width - sum(wide))
    return max(0, done), wide[0], wide[1]


def _failed(study: StudyProgress, most: int | None) -> list[Text]:
    if not study.failed:
        return []
    lines = [line(("failed", "bold red"))]
    for cell in study.failed[:most]:
        lines.append(line("  ", clean(cell.title), ": ", clean(" ".join(cell.error.split()))))
    rest = len(study.failed) - len(lines) + 1
    return [*lines, line((f"  and {rest} more", "dim"))] if rest else lines


def _training(progress: RunProgress, width: int) -> Text:
    of = "" if progress.steps is None else f" of {progress.steps:,}"
    doing = state_of(progress) if progress.state == "silent" else clean(progress.phase)
    told = f"step {progress.step:,}{of} · {doing}" if progress.step else state_of(progress)
    loss = shown(progress.losses.get("total"), ".4g") if progress.losses else ""
    wide = max(16, width // 3)
    return line(
        "  ",
        fitted(progress.name, wide),
        "  ",
        told,
        f" · loss {loss} " if loss else "",
        (curve(progress.traces.get("total", ()), max(0, width - wide - 48)), "cyan"),
    )


def _scores(standings: Sequence[Standing], width: int, room: int | None) -> list[Text]:
    """A system a line: its mean, and a small bar for every language that there is room for."""
    if not standings:
        return []
    fits = len(standings) if room is None else max(1, room - 2)
    own = standings[-fits:]
    name = min(max(cell_len(_name(each)) for each in own), max(16, width // 3))
    codes = _languages(own, width - name - 28)
    titles = "".join(fitted(code, 4) + " " for code in codes)
    head = line((fitted("scores so far", name + 28), "bold"), (titles, "dim"))
    rows = [_system(each, codes, name, _top(own)) for each in own]
    rest = len(standings) - len(own)
    more = {code for each in standings for code in each.languages} - set(codes)
    told = [f"{rest} systems above"] if rest else []
    told += [f"{len(more)} more languages"] if more else []
    return [head, *rows, *([line(("and " + ", ".join(told), "dim"))] if told else [])]


def _by_language(standings: Sequence[Standing], width: int, room: int | None) -> list[Text]:
    """The last system that was scored, beside the first."""
    own = next((each for each in reversed(standings) if each.languages), None)
    if own is None or (room is not None and room < 4):
        return []
    first = standings[0]
    languages = Languages(
        own.languages,
        first.languages if first is not own else {},
        form=".1f",
        less_is_better=False,
    )
    beside = f" {TICK} {_name(first)}" if first is not own else ""
    bars = language_bars(languages, width, None if room is None else room - 1)
    return [line((_name(own), "bold"), ", by language", beside), *bars]


def _name(standing: Standing) -> str:
    size = "" if standing.sparsity is None else f", {standing.sparsity:.0%} cut"
    return clean(standing.title) + size


def _system(standing: Standing, codes: Sequence[str], name: int, top: float) -> Text:
    many, mean = len(standing.tasks), standing.mean
    told = f"{many} task" if many == 1 else f"{many} tasks"
    told = "failed" if mean is None and standing.failed else told
    return line(
        fitted(_name(standing), name),
        "  ",
        bar(None if mean is None else mean / top, 10, "cyan"),
        fitted(shown(mean, ".1f"), 6, right=True),
        " ",
        fitted(told, 9),
        *(_small(standing.languages.get(code), top) for code in codes),
    )


def _top(standings: Sequence[Standing]) -> float:
    """The most that any system has in any language: what a full bar is."""
    scores = [score for each in standings for score in (each.mean, *each.languages.values())]
    return max((score for score in scores if score), default=1.0)


def _small(score: Value, top: float) -> Text:
    """A score, and a block as high as it is."""
    if score is None:
        return Text(fitted(NOTHING, 5), style="dim")
    block = STEPS[min(7, max(0, int(8 * score / top)))]
    return Text.assemble((block, "cyan"), fitted(f"{score:.0f}", 3), " ")


def _languages(standings: Sequence[Standing], width: int) -> list[str]:
    """Those in which the systems are worst, as many as fit, in the order of the alphabet."""
    worst: dict[str, float] = {}
    for standing in standings:
        for code, score in standing.languages.items():
            worst[code] = min(worst.get(code, 100.0), 100.0 if score is None else score)
    order = sorted(worst, key=lambda code: (worst[code], code))
    return sorted(order[: max(0, width // 5)])
