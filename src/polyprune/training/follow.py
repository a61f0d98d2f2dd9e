"""A run as it is followed: a bar with the loss and the speed, held-out losses by language."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ..progress import SILENT, Progress
from .loop import StepReport
from .run import train
from .run_config import Run
from .run_progress import lagging_languages
from .run_results import dense_losses
from .session import Material

Describe = Callable[[int, Mapping[str, float]], str]
"""A few lines about what was held out at a step."""


def follow(
    run: Run,
    out: Path,
    *,
    progress: Progress = SILENT,
    force: bool = False,
    material: Material | None = None,
    describe: Describe | None = None,
) -> Iterator[StepReport]:
    """Train as `train` does, and show every step and what was held out."""

    def losses(step: int, held_out: Mapping[str, float]) -> str:
        return describe_losses(step, held_out, dense_losses(out))

    describe = describe or losses
    tokens, started = 0, 0.0
    with progress.stage("Training", run.steps):
        for report in train(run, out, progress=progress, force=force, material=material):
            now = time.monotonic()
            if started:
                tokens += report.tokens
            else:  # what came before the first step was preparation
                started = now
            speed = tokens / max(now - started, 1e-9)
            loss = f"loss {report.losses['total']:.3f}, {speed:,.0f} tokens/s"
            progress.update(report.step, f"{report.phase}: {loss}")
            if report.held_out:
                progress.message(describe(report.step, report.held_out))
            yield report


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
