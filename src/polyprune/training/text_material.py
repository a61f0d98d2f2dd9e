"""Text as training data: streamed, mixed over languages, partly held out."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator

from ..corpora.corpus import development_files, open_corpus
from ..corpora.held_out import hold_out
from ..corpora.positions import StreamPosition
from ..corpora.prefetching import prefetch
from ..corpora.stream import ProcessShard, StreamConfig, check_shard, stream
from ..corpora.text import open_text, text_folder
from ..corpora.text_sources import TextFile, TextSource
from ..errors import ConfigError
from ..loading.hub import load
from ..loading.reading import fitting_tokenizer
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.network.source import ModelSource
from ..progress import Progress
from .held_out_loss import (
    HeldOutBatches,
    add_teacher,
    held_out_examples,
    held_out_losses,
    held_out_micro_batches,
)
from .prepare import prepare_in_memory, prepare_model, starting_folder
from .run_config import Run
from .run_paths import RunPaths
from .session import Material, ModelsInMemory, Session
from .step_batches import Collator, StepBatch
from .teacher import check_readout, checked_teacher, load_teacher
from .teacher_targets import TeacherEmbedder, TeacherTargets, make_targets
from .training_module import TrainingModule


@dataclass(frozen=True, slots=True)
class TextMaterial(Material):
    """The text sources of a run."""

    sources: dict[str, TextSource]
    models: ModelsInMemory | None = None
    """The models of the run, where they are not named in it."""
    out_of_time: Callable[[], bool] | None = None
    """Says when the run is to end, whatever its steps."""

    @classmethod
    def of(
        cls,
        run: Run,
        models: ModelsInMemory | None = None,
        out_of_time: Callable[[], bool] | None = None,
    ) -> "TextMaterial":
        """Open the text sources that a run names."""
        if run.objective.labels:
            raise ConfigError("Text has no labels: objective.labels is for polyprune finetune.")
        text = run.corpus
        sources = open_text(text.source, text.languages, text.parallel, text.damaged)
        if text.lines_apart:
            sources = {
                code: replace(each, longest=1) if isinstance(each, TextFile) else each
                for code, each in sources.items()
            }
        return cls(sources, models, out_of_time)

    def check(self, run: Run, accelerator: Accelerator) -> None:
        """Raise if batches cannot be shared between so many processes."""
        processes = accelerator.num_processes
        check_shard(stream_config(run, None, processes), process_shard(run, accelerator, {}))

    def keep(self, model: PolyprunePreTrainedModel, paths: RunPaths) -> None:
        """Hand the trained model to whoever gave the models, or write it to its folder."""
        if self.models is None:
            super(TextMaterial, self).keep(model, paths)
        else:
            self.models.keep(model)

    @property
    def files(self) -> dict[str, Any]:
        """The size of each language's text."""
        sizes = {code: source.size for code, source in sorted(self.sources.items())}
        return {"text": sizes, **({} if self.models is None else self.models.hashes)}

    def open(
        self, run: Run, paths: RunPaths, accelerator: Accelerator, progress: Progress
    ) -> Session:
        """Hold out text, prepare the model, and embed the text with the teacher if it is cached."""
        sources, models = self.sources, self.models
        with accelerator.main_process_first():
            if models is None:
                start = starting_folder(run, paths, sources)
            else:
                start = models.student.source.folder or Path("?")
            given = _measured_on(run)
            withheld = hold_out(sources, run.corpus.held_out, paths.held_out, given)
            if models is None:
                prepare_model(run, paths, start, list(sources), progress)
        model = load(paths.prepared) if models is None else prepare_in_memory(run, models.student)
        tokenizer = fitting_tokenizer(model, strict=True)
        check_readout(run, model)
        teacher, reader = self._teacher(run, start, model, tokenizer)
        elastic = model.elastic
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
                        paths.targets,
                        progress,
                    ).narrowed(model.shape.width)
        return TextSession(
            run=run,
            paths=paths,
            accelerator=accelerator,
            sources=sources,
            withheld=withheld,
            start=start,
            tokenizer=tokenizer,
            rows=() if elastic is None else elastic.rows,
            teacher=teacher,
            student=None if models is None else model,
            targets=targets,
            out_of_time=self.out_of_time,
        )

    def _teacher(
        self, run: Run, start: Path, model: PolyprunePreTrainedModel, tokenizer: Any
    ) -> tuple[PolyprunePreTrainedModel | None, Any]:
        """Return the teacher, and its tokenizer if it differs from the student's."""
        if not run.objective.needs_teacher:
            return None, None
        if self.models is not None:
            teacher = deepcopy(self.models.teacher).float()
        else:
            teacher = load_teacher(run, start)
        return checked_teacher(run, teacher, model, tokenizer)


@dataclass(frozen=True)  # without slots, so that what is computed once is kept
class TextSession(Session):
    """A run on text that is ready to train."""

    sources: dict[str, TextSource]
    withheld: dict[str, int]
    """For each language, the number of the document up to which every tenth is held out."""
    targets: TeacherTargets | None
    out_of_time: Callable[[], bool] | None = None

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

    def time_is_up(self) -> bool:
        """Whether whoever gave the run so much time says so."""
        return self.out_of_time is not None and self.out_of_time()

    def held_out(self, system: Any, density: float) -> dict[str, float]:
        """Return the held-out loss of each language."""
        return held_out_losses(system, self._held_out_batches, self.accelerator, density)

    def dense(self) -> dict[str, float] | None:
        """Return the dense model's held-out losses, if the objective predicts masked words."""
        in_memory = self.student is not None  # which has been cut already
        if self.run.model.start == "fresh" or in_memory or not self.run.objective.mlm:
            return None
        dense = load(self.start, dtype=torch.float32)
        system = TrainingModule(dense, self.run.objective).to(self.accelerator.device)
        return held_out_losses(system, self._held_out_batches, self.accelerator)

    @cached_property
    def _held_out_batches(self) -> HeldOutBatches:
        """Return this process's held-out micro-batches."""
        batches = held_out_micro_batches(
            held_out_examples(self.paths.held_out, self.tokenizer, self.stream_config),
            replace(self.collator, targets=None),
            self.accelerator.process_index,
            self.accelerator.num_processes,
        )
        if self.teacher is None:
            return batches
        return add_teacher(batches, self.teacher, self.run.objective)


def _measured_on(run: Run) -> dict[str, Path]:
    """Return the files that nothing is trained on: all, in a run that only cuts."""
    folder = text_folder(run.corpus.source)
    if run.phases or not folder.is_dir():
        return development_files(folder)
    return open_corpus(folder).files


def stream_config(run: Run, start: Path | None, processes: int) -> StreamConfig:
    """Return how lines become examples."""
    prefix = run.corpus.prefix
    if prefix is None:  # a fine-tuned model reads what its task gives it
        prefix = ModelSource.at(start).prompt if run.objective.unit == "line" else ""
    return StreamConfig(
        exponent=run.corpus.exponent,
        block=run.corpus.block,
        window=run.corpus.window,
        unit=run.objective.unit,
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
