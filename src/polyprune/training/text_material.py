"""Text as training data: streamed, mixed over languages, partly held out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator

from ..corpora.corpus import development_files
from ..corpora.held_out import hold_out
from ..corpora.positions import StreamPosition
from ..corpora.prefetching import prefetch
from ..corpora.stream import ProcessShard, StreamConfig, check_shard, stream
from ..corpora.text import open_text, text_folder
from ..corpora.text_sources import TextSource
from ..errors import ConfigError
from ..loading.hub import find, load_tokenizer
from ..model.network.modeling_polyprune import PolyprunePreTrainedModel
from ..model.network.source import prompt_of
from ..progress import Progress
from ..pruning.gates.elastic import load
from .held_out_loss import (
    HeldOutBatches,
    held_out_examples,
    held_out_losses,
    held_out_micro_batches,
)
from .prepare import check_length, prepare_model, starting_folder, tokenizer_of
from .run_config import Run
from .run_paths import RunPaths
from .session import Material, Session
from .step_batches import Collator, StepBatch
from .teacher_targets import TeacherEmbedder, TeacherTargets, make_targets
from .training_module import TrainingModule


@dataclass(frozen=True, slots=True)
class TextMaterial(Material):
    """The text sources of a run."""

    sources: dict[str, TextSource]

    @classmethod
    def of(cls, run: Run, accelerator: Accelerator) -> "TextMaterial":
        """Open the text sources that a run names."""
        processes = accelerator.num_processes
        check_shard(stream_config(run, None, processes), process_shard(run, accelerator, {}))
        if run.objective.labels:
            raise ConfigError("Text has no labels: objective.labels is for polyprune finetune.")
        text = run.corpus
        return cls(open_text(text.source, text.languages, text.parallel, text.damaged))

    @property
    def files(self) -> dict[str, Any]:
        """The size of each language's text."""
        return {"text": {code: source.size for code, source in sorted(self.sources.items())}}

    def open(
        self, run: Run, places: RunPaths, accelerator: Accelerator, progress: Progress
    ) -> Session:
        """Hold out text, prepare the model, and embed the text with the teacher if it is cached."""
        sources = self.sources
        with accelerator.main_process_first():
            start = starting_folder(run, places, sources)
            given = development_files(text_folder(run.corpus.source))
            withheld = hold_out(sources, run.corpus.held_out, places.held_out, given)
            prepare_model(run, places, start, list(sources), progress)
        model = load(places.prepared)
        tokenizer = tokenizer_of(places.prepared, model)
        check_readout(run, model)
        teacher, reader = _teacher(run, start, model, tokenizer)
        elastic: Any = model.elastic
        targets = None
        if teacher is not None:
            teacher.to(accelerator.device)
            if run.teacher.cache:
                with accelerator.main_process_first():
                    made = stream_config(run, start, accelerator.num_processes)
                    targets = make_targets(
                        TeacherEmbedder(teacher, reader),
                        tokenizer,
                        sources,
                        made,
                        places.targets,
                        progress,
                    ).narrowed(model.shape.width)
        return TextSession(
            run=run,
            places=places,
            accelerator=accelerator,
            sources=sources,
            withheld=withheld,
            start=start,
            tokenizer=tokenizer,
            rows=() if elastic is None else elastic.rows,
            teacher=teacher,
            targets=targets,
        )


@dataclass(frozen=True)  # without slots, so that what is computed once is kept
class TextSession(Session):
    """A run on text that is ready to train."""

    sources: dict[str, TextSource]
    withheld: dict[str, int]
    """For each language, the number of the document up to which every tenth is held out."""
    targets: TeacherTargets | None

    @property
    def collator(self) -> Collator:
        """The collator that turns examples into tensors."""
        many = len(self.rows) > 1
        return Collator(
            tokenizer=self.tokenizer,
            micro_batch_size=self.run.batch.micro_batch_size,
            masked=self.run.objective.masked,
            seed=self.run.seed,
            rows={code: row for row, code in enumerate(self.rows)} if many else {},
            targets=self.targets,
        )

    @property
    def stream_config(self) -> StreamConfig:
        """Return how lines become examples."""
        return stream_config(self.run, self.start, self.accelerator.num_processes)

    def step_batches(self, position: StreamPosition | None) -> Iterator[StepBatch]:
        """Yield this process's part of each step's batch from a position on, prefetched."""
        made = self.stream_config
        if position is not None and self.run.corpus.lanes is None:
            made = replace(made, lanes=position.lanes)  # as many as the run began with
        share = process_shard(self.run, self.accelerator, self.withheld)
        examples = stream(self.sources, self.tokenizer, made, share, position)
        return prefetch(self.collator.step_batches(examples), self.run.engine.ahead)

    def held_out(self, system: Any, density: float) -> dict[str, float]:
        """Return the held-out loss of each language."""
        return held_out_losses(system, self._held_out_batches, self.accelerator, density)

    def dense(self) -> dict[str, float] | None:
        """Return the dense model's held-out losses, if the objective predicts masked words."""
        if self.run.model.start == "fresh" or not self.run.objective.mlm:
            return None
        dense = load(self.start, dtype=torch.float32)
        system = TrainingModule(dense, self.run.objective).to(self.accelerator.device)
        return held_out_losses(system, self._held_out_batches, self.accelerator)

    @cached_property
    def _held_out_batches(self) -> HeldOutBatches:
        """Return this process's held-out micro-batches."""
        return held_out_micro_batches(
            held_out_examples(self.places.held_out, self.tokenizer, self.stream_config),
            replace(self.collator, targets=None),
            self.accelerator.process_index,
            self.accelerator.num_processes,
        )


def stream_config(run: Run, start: Path | None, processes: int) -> StreamConfig:
    """Return how lines become examples."""
    prefix = run.corpus.prefix
    by_line = run.objective.by_line
    if prefix is None:
        prefix = prompt_of(start) if by_line else ""
    return StreamConfig(
        exponent=run.corpus.exponent,
        block=run.corpus.block,
        window=run.corpus.window,
        unit="line" if by_line else "block",
        prefix=prefix,
        seed=run.seed,
        lanes=run.corpus.lanes or processes,
    )


def process_shard(run: Run, accelerator: Accelerator, withheld: Mapping[str, int]) -> ProcessShard:
    """Return this process's shard of every batch."""
    return ProcessShard(
        batch=run.batch.size,
        process=accelerator.process_index,
        processes=accelerator.num_processes,
        held_out=withheld,
    )


def check_readout(run: Run, model: PolyprunePreTrainedModel) -> None:
    """Raise if a model's readout does not fit the objective."""
    wanted, kind = set(run.objective.active), model.readout_kind
    if wanted & {"mlm", "soft"} and kind != "masked-lm":
        raise ConfigError(
            f"This model has no masked-LM readout but {kind}, so it cannot learn mlm or soft. For "
            "a sentence encoder, use embeddings."
        )
    if "outputs" in wanted and kind in ("masked-lm", "hidden-states"):
        raise ConfigError(f"A model with the readout {kind} has no outputs. Use mlm or embeddings.")


def _teacher(
    run: Run, start: Path, model: PolyprunePreTrainedModel, tokenizer: Any
) -> tuple[PolyprunePreTrainedModel | None, Any]:
    """Load the teacher, and its tokenizer if that differs from the student's."""
    if not run.objective.needs_teacher:
        return None, None
    if run.teacher.start is None and run.model.start == "fresh":
        raise ConfigError("A fresh model has no teacher of its own: set teacher.start.")
    folder = find(run.teacher.start) if run.teacher.start else start
    teacher = load(folder, dtype=torch.float32)
    known = load_tokenizer(folder)
    same = known is None or known.get_vocab() == tokenizer.get_vocab()
    if not same and (not run.teacher.cache or run.corpus.parallel is not None):
        raise ConfigError(
            f"The teacher in {folder} reads other words than the student: they must share a "
            "tokenizer, or only embed lines (teacher.cache = true, without corpus.parallel)."
        )
    _check_widths(run, model, teacher)
    check_length(run, teacher)
    if not run.teacher.cache:
        check_readout(run, teacher)
    return teacher.requires_grad_(False).eval(), None if same else known


def _check_widths(
    run: Run, model: PolyprunePreTrainedModel, teacher: PolyprunePreTrainedModel
) -> None:
    wanted, ours, theirs = set(run.objective.active), model.shape, teacher.shape
    fits = ours.width == theirs.width or (run.teacher.cache and ours.width < theirs.width)
    if not fits and wanted & {"cosine", "embeddings", "translations"}:
        raise ConfigError(
            f"The teacher is {theirs.width} wide, the student {ours.width}: learn from relations "
            "or similarities, not from hidden states or embeddings. Those of a wider teacher can "
            "be learned with teacher.cache = true."
        )
    if ours.heads[-1] != theirs.heads[-1] and wanted & {"attention", "values"}:
        raise ConfigError(
            f"The teacher's last layer has {theirs.heads[-1]} heads, the student's "
            f"{ours.heads[-1]}: learn from relations, not from attention and values."
        )
