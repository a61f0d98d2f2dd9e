"""`polyprune.recover`: train a pruned model on, to win back what was lost."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from ..corpora.corpus import open_corpus
from ..errors import ConfigError, DataError
from ..evaluation.fidelity import HeldOutText
from ..loading.reading import Reading, scoring_text
from ..measuring.timed_recovery import TimedRecovery
from ..model.fidelity import Fidelity
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import Progress
from ..pruning.criteria.scoring import ScoringText
from ..reporting.tables.table import Table
from ..storage import atomic_folder, refuse_to_overwrite
from ..training.recovery import (
    Recovery,
    RecoverySettings,
    plan_recovery,
    recover_model,
    recovery_folder,
)
from ..training.run_config import Run
from ..training.run_paths import RunPaths
from ..training.run_sections import CorpusConfig
from ..training.session import ModelsInMemory
from .comparing import compared, recovery_lines
from .fidelity_table import describe_fidelity
from .inputs import (
    ModelLike,
    bundled_text,
    model_name,
    resolve_corpus,
    resolve_model,
    text_source,
)
from .requests.recover import RecoverRequest
from .requests.shared import TextLike
from .result import ModelResult, make_table
from .verb import verb


@dataclass(frozen=True, slots=True, repr=False)
class RecoverResult(ModelResult):
    """A recovered model, and how its training went."""

    model: PolyprunePreTrainedModel
    recovery: Recovery
    fidelity: Fidelity | None = None
    """What it has of its teacher, by language; None where nothing was compared."""
    out: Path | None = None

    @property
    def log(self) -> list[dict[str, Any]]:
        """What each step came to: `step`, `losses`, and held-out losses where they were taken."""
        return self.recovery.entries

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write the model's folder with the log of its training, and return its path."""
        with atomic_folder(Path(folder), force=force) as new:
            self.model.save_pretrained(new)
            (new / "training.jsonl").write_text(self.recovery.log, encoding="utf-8")
        return Path(folder)

    def as_dict(self) -> dict[str, Any]:
        """The last losses, which step is kept, and the held-out losses before and after."""
        last = self.log[-1] if self.log else {"step": 0, "losses": {}}
        choice = self.recovery.choice
        return {
            "out": None if self.out is None else str(self.out),
            "steps": last["step"],
            "kept_step": self.recovery.kept,
            **({} if self.fidelity is None else {"fidelity": self.fidelity.as_dict()}),
            "parameters": self.model.num_parameters(),
            "losses": last["losses"],
            "held_out": self.recovery.after,
            "held_out_before": self.recovery.before,
            **({} if choice is None else {"chosen": asdict(choice)}),
        }

    def summary(self) -> Iterator[Table | str]:
        """What it has of its teacher; losses of steps, and held-out ones by language."""
        if self.fidelity is not None:
            yield from describe_fidelity(self.fidelity)
        log, before, after = self.log, self.recovery.before, self.recovery.after
        if log:
            shown = sorted({0, len(log) // 2, len(log) - 1})
            rows = [[log[i]["step"], f"{log[i]['losses']['total']:.3f}"] for i in shown]
            yield make_table(["step", "loss"], rows, title="recovery")
        if before and not self.recovery.left_out:
            rows = [[code, f"{before[code]:.4f}", f"{loss:.4f}"] for code, loss in after.items()]
            yield make_table(["language", "before", "after"], rows, title="held-out loss")
        yield from describe_choice(self.recovery)
        if self.out is not None:
            yield f"Written to {self.out} after {len(log)} steps."


def describe_choice(recovery: Recovery) -> Iterator[str]:
    """Say which step was kept, where there was something to choose by."""
    if not recovery.before:
        return
    best, steps = fmean(recovery.after.values()), len(recovery.entries)
    if recovery.left_out:
        yield (
            f"Recovery was left out: after none of its steps was the held-out loss below the "
            f"{best:.4f} of the model as it was, so that is what is kept."
        )
    elif recovery.kept < steps:
        yield f"Step {recovery.kept} of {steps} is kept: its held-out loss, {best:.4f}, was lowest."


@verb(RecoverRequest)
def recover(model: ModelLike, request: RecoverRequest, progress: Progress) -> RecoverResult:
    """Train a pruned model on text, with the model that it was cut from as its teacher.

    A masked language model guesses words, a sentence encoder learns the teacher's embeddings, a
    model with another readout its outputs. What is best on held-out lines is kept, and that may be
    the model as it was. With `steps="auto"`, short trials choose the learning rate, and the rest
    of the minutes is trained with it. The teacher of what `polyprune.prune` returns is the model
    that was pruned, unless another is given. With `out`, a recovery that was stopped or killed goes
    on from its last checkpoint when it is asked for again.
    """
    if request.out is not None:  # before anything is loaded, not only when it is written
        refuse_to_overwrite(Path(request.out), force=request.force)
    corpus = request.corpus if request.corpus is not None else bundled_text(model)
    if corpus is None:
        raise ConfigError("Recovery trains on text: give `corpus`, with a folder of it.")
    student = resolve_model(model)
    teacher = request.teacher
    if teacher is None and isinstance(model, ModelResult):
        teacher = model.original
    if teacher is None and not student.readout_kind.predicts_words:
        raise ConfigError("This model learns from the one that it was cut from: give `teacher`.")
    teacher = student if teacher is None else teacher
    named = (resolve_model(teacher), model_name(teacher))
    return recovered(student, named, corpus, request, progress)


def recovered(
    student: PolyprunePreTrainedModel,
    teacher: tuple[PolyprunePreTrainedModel, str],
    corpus: TextLike,
    request: RecoverRequest,
    progress: Progress,
    read: int = 0,
) -> RecoverResult:
    """Train a model in memory as a request has it, and write it where that is wanted.

    `read` lines of each language were read before, when it was cut.
    """
    out = None if request.out is None else Path(request.out)
    with recovery_folder(out) as work:
        text = CorpusConfig(
            source=text_source(corpus, work),
            languages=request.languages,  # pyright: ignore[reportArgumentType]
            parallel=request.parallel,
            prefix=request.prefix,
            block=min(request.tokens, 512),
            held_out=request.held_out,
        )
        settings = RecoverySettings(
            1 if request.timed else int(request.steps),
            request.chosen_batch,
            request.learning_rate,
            request.seed,
        )

        def plan(settings: RecoverySettings) -> Run:
            run = plan_recovery(student, teacher[1], text, settings)
            if out is None:  # nobody could go on from a checkpoint
                run = replace(run, saving=replace(run.saving, every=run.steps))
            return run

        models = ModelsInMemory(student, teacher[0])
        if request.timed:
            timed = TimedRecovery(request.chosen_minutes, plan, settings, models, work)
            recovery = timed.recover(progress, force=request.force)
        else:
            force = request.force
            recovery = recover_model(plan(settings), models, work, progress=progress, force=force)
        result = RecoverResult(recovery.model, recovery, None, out)
        if teacher[0] is not student:
            kept = RunPaths(work / "run").held_out
            found = _held_out(teacher[0], corpus, kept, request, read)
            if found is not None:
                fidelity = compared(teacher[0], result.model, *found, progress=progress)
                result = replace(result, fidelity=fidelity)
        if out is not None:
            result.save(out, force=request.force)
    return result


def _held_out(
    teacher: PolyprunePreTrainedModel,
    corpus: TextLike,
    kept: Path,
    request: RecoverRequest,
    read: int,
) -> tuple[ScoringText, HeldOutText] | None:
    """Lines to compare on: those that training kept apart in a folder, where there are any."""
    try:
        source = resolve_corpus(corpus)
    except DataError:  # a data set, of which only the lines that were kept apart are at hand
        if not any(kept.glob("*.txt")):
            return None
        source = open_corpus(kept)
    reading = Reading(tokens=min(request.tokens, 512), prefix=request.prefix)
    text = scoring_text(teacher, source, request.languages, None, reading)  # pyright: ignore[reportArgumentType]
    held_out = recovery_lines(text, kept, request.compare, read)
    return None if held_out is None else (text, held_out)
