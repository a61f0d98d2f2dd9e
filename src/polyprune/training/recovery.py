"""Recovery: train a pruned model with the model it was pruned from as its teacher."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..corpora.text import open_text
from ..corpora.text_sources import LONGEST
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import SILENT, Progress
from .objectives import Objective
from .phases import Phase
from .run import follow
from .run_config import Run
from .run_paths import RunPaths
from .run_results import losses_before
from .run_sections import (
    IN_MEMORY,
    BatchConfig,
    CorpusConfig,
    SavingConfig,
    StartConfig,
    TeacherConfig,
)
from .session import ModelsInMemory
from .teacher_targets import MOST
from .text_material import TextMaterial
from .trained_model import kept_step

BYTES_PER_LINE = 150
"""A rough average, to estimate how many times the text will be read."""

CHOICE = "choice.json"
"""The file that keeps what was chosen, for a recovery that is picked up again."""


@dataclass(frozen=True, slots=True)
class RecoverySettings:
    """For how long a model is recovered, and how."""

    steps: int
    batch: int = 64
    """Examples in a step."""
    learning_rate: float | None = None
    """The highest one; one that suits the model unless given."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class RateTrial:
    """A learning rate that was tried, and the mean held-out loss that it ended with."""

    learning_rate: float
    loss: float | None
    """None where it diverged."""

    def __str__(self) -> str:
        loss = "diverged" if self.loss is None else f"{self.loss:.4f}"
        return f"{self.learning_rate:g}: {loss}"


@dataclass(frozen=True, slots=True)
class RecoveryChoice:
    """What a recovery of so many minutes was found to be best done with."""

    learning_rate: float
    steps: int
    measured_every: int
    """Steps from one held-out loss to the next."""
    seconds: float
    """What the steps may take."""
    trials: tuple[RateTrial, ...] = ()
    trial_steps: int = 0
    """The steps of each trial, all from the same start."""

    def __str__(self) -> str:
        planned = f"Learning rate {self.learning_rate:g}, {self.steps:,} steps"
        if not self.trials:
            return f"{planned}, without trials."
        tried = ", ".join(map(str, self.trials))
        return f"{planned}. Held-out loss after {self.trial_steps:,} steps at {tried}."


@dataclass(frozen=True, slots=True)
class Recovery:
    """A recovered model, and how its training went."""

    model: PolyprunePreTrainedModel
    log: str
    """The lines of `training.jsonl`, one per step."""
    before: dict[str, float]
    """Held-out losses by language before the first step, where there are any."""
    kept: int
    """The step whose model this is; 0 where the model was best before the first."""
    choice: RecoveryChoice | None = None
    """Which learning rates were tried, where one was to be chosen."""

    @property
    def entries(self) -> list[dict[str, Any]]:
        """What each step came to."""
        return [json.loads(line) for line in self.log.splitlines()]

    @property
    def left_out(self) -> bool:
        """Whether no step made the model better, so that it is what it was."""
        return self.kept == 0

    @property
    def after(self) -> dict[str, float]:
        """Held-out losses by language of the model that is kept, where there are any."""
        if self.left_out:
            return self.before
        return next((each["held_out"] for each in self.entries if each["step"] == self.kept), {})


def plan_recovery(
    student: PolyprunePreTrainedModel,
    teacher: str,
    text: CorpusConfig,
    settings: RecoverySettings,
) -> Run:
    """Return the config of a recovery run that suits the pruned model's readout.

    Where some text is held out, what is best on it is kept, and that may be the model as it was.
    """
    readout, steps, batch = student.readout_kind, settings.steps, settings.batch
    text = replace(text, block=min(text.block, student.longest_input))
    objective = Objective(mlm=1.0)
    if readout.embeds:
        objective = Objective(embeddings=1.0, translations=1.0 if text.parallel else 0.0)
    elif readout.has_task:
        objective = Objective(outputs=1.0)
    sources = open_text(text.source, text.languages, text.parallel, text.damaged)
    lines = sum(source.size for source in sources.values()) // BYTES_PER_LINE
    if text.held_out:  # of short text there is no tenth document
        fewest = min(source.size for source in sources.values()) // BYTES_PER_LINE
        text = replace(text, lines_apart=objective.by_line or fewest < 10 * LONGEST)
    rate = settings.learning_rate
    if rate is None:
        rate = 3e-4 if readout.embeds else 2e-4
    # Without a cache the teacher embeds every line, and every translation, each time.
    again = 2 * steps * batch > lines and lines < MOST // 2
    return Run(
        phases=(
            Phase(
                steps=steps,
                train="weights",
                name="recovery",
                learning_rate=rate,
                # 250,000 words take most of a step and learn little, unless words are the answer.
                words=readout.predicts_words,
                warmup=steps // 10,
            ),
        ),
        # What the teacher says of a line is what it is: noise would only blur it.
        model=StartConfig(start=IN_MEMORY, dropout=0.0 if objective.by_line else None),
        corpus=text,
        objective=objective,
        teacher=TeacherConfig(start=teacher, cache=objective.compares_embeddings and again),
        batch=BatchConfig(size=batch, micro_batch_size=min(batch, 32)),
        seed=settings.seed,
        saving=SavingConfig(
            every=max(20, steps // 10),
            held_out_every=max(10, steps // 10),
            keep=1,
            final="never worse" if text.held_out else "last",
            trackers=(),
        ),
    )


@contextmanager
def recovery_folder(out: Path | None) -> Iterator[Path]:
    """A folder to work in: beside `out`, where a killed recovery is picked up again, if given.

    What is in it goes once the recovered model is in its place.
    """
    if out is None:
        with TemporaryDirectory(prefix="polyprune-") as folder:
            yield Path(folder)
        return
    work = out.with_name(f"{out.name}.recovery")
    yield work
    RunPaths(work / "run").clear()
    for name in ("text", "trials"):
        shutil.rmtree(work / name, ignore_errors=True)
    (work / CHOICE).unlink(missing_ok=True)
    for folder in (work / "run", work):
        folder.rmdir()


def recover_model(
    run: Run,
    models: ModelsInMemory,
    work: Path,
    *,
    progress: Progress = SILENT,
    force: bool = False,
    out_of_time: Callable[[], bool] | None = None,
) -> Recovery:
    """Train a model in memory, or go on with it, from the checkpoints in a folder's `run`."""
    trained: list[PolyprunePreTrainedModel] = []
    material = TextMaterial.of(run, replace(models, keep=trained.append), out_of_time)
    paths = RunPaths(work / "run")
    for _ in follow(run, paths.out, progress=progress, force=force, material=material):
        pass
    kept = kept_step(run, paths)
    log = paths.log.read_text(encoding="utf-8")
    # What was not trained is given back as it was, with its own dropout and precision.
    model = trained[0] if kept else models.student
    return Recovery(model, log, losses_before(paths.out), kept)
