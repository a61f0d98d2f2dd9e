"""Recovery: train a pruned model with the model it was pruned from as its teacher."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..corpora.text import open_text
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import SILENT, Progress
from .objectives import Objective
from .phases import Phase
from .run import follow
from .run_config import Run
from .run_paths import RunPaths
from .run_results import dense_losses
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

BYTES_PER_LINE = 150
"""A rough average, to estimate how many times the text will be read."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """A recovered model, and how its training went."""

    model: PolyprunePreTrainedModel
    log: str
    """The lines of `training.jsonl`, one per step."""
    before: dict[str, float]
    """Held-out losses by language before the first step, where there are any."""

    @property
    def entries(self) -> list[dict[str, Any]]:
        """What each step came to."""
        return [json.loads(line) for line in self.log.splitlines()]


def plan_recovery(
    student: PolyprunePreTrainedModel,
    teacher: str,
    text: CorpusConfig,
    steps: int,
    batch: int = 64,
    seed: int = 0,
) -> Run:
    """Return the config of a recovery run that suits the pruned model's readout."""
    readout = student.readout_kind
    text = replace(text, block=min(text.block, student.longest_input))
    objective = Objective(mlm=1.0)
    if readout.embeds:
        objective = Objective(embeddings=1.0, translations=1.0 if text.parallel else 0.0)
    elif readout.has_task:
        objective = Objective(outputs=1.0)
    sources = open_text(text.source, text.languages, text.parallel, text.damaged)
    lines = sum(source.size for source in sources.values()) // BYTES_PER_LINE
    # Without a cache the teacher embeds every line, and every translation, each time.
    again = 2 * steps * batch > lines and lines < MOST // 2
    return Run(
        phases=(
            Phase(
                steps=steps,
                train="weights",
                name="recovery",
                learning_rate=3e-4 if readout.embeds else 2e-4,
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
        seed=seed,
        saving=SavingConfig(
            every=max(20, steps // 10), held_out_every=max(20, steps // 10), keep=1, trackers=()
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
    shutil.rmtree(work / "text", ignore_errors=True)
    for folder in (work / "run", work):
        folder.rmdir()


def recover_model(
    run: Run,
    student: PolyprunePreTrainedModel,
    teacher: PolyprunePreTrainedModel,
    work: Path,
    *,
    progress: Progress = SILENT,
    force: bool = False,
) -> Recovery:
    """Train a model in memory, or go on with it, from the checkpoints in a folder's `run`."""
    trained: list[PolyprunePreTrainedModel] = []
    material = TextMaterial.of(run, ModelsInMemory(student, teacher, keep=trained.append))
    out = work / "run"
    for _ in follow(run, out, progress=progress, force=force, material=material):
        pass
    log = RunPaths(out).log.read_text(encoding="utf-8")
    return Recovery(trained[0], log, dense_losses(out))
