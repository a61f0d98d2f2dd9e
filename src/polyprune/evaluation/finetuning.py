"""Fine-tuning: the examples of a task as training data for the training loop."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator, DistributedType
from accelerate.utils import gather_object

from ..corpora.padding import input_tensors
from ..corpora.positions import StreamPosition
from ..corpora.prefetching import prefetch
from ..errors import ConfigError
from ..loading.finding import find
from ..loading.hub import load
from ..loading.reading import fitting_tokenizer
from ..progress import Progress
from ..pruning.selection.ranking import unflatten
from ..training.objectives import Objective
from ..training.phases import Phase
from ..training.run_config import Run
from ..training.run_paths import RunPaths
from ..training.run_sections import (
    BatchConfig,
    EngineConfig,
    SavingConfig,
    StartConfig,
    TeacherConfig,
)
from ..training.session import Material, Session
from ..training.step_batches import StepBatch
from .encoded_input import EncodedInput
from .example_store import ExampleStore, epoch_batches
from .finetune_config import FineTuneConfig, TaskTeacher, Trial
from .gate_rows import gate_row
from .readout_init import gating_config, prepare_for_task
from .task_teacher import load_task_teacher
from .task_types import Predictor
from .tasks import fine_tuned_type
from .training_data import read_development

MICRO_BATCH_SIZE = {"sentence-classification": 32, "token-classification": 32, "span": 8}
"""Examples per micro-batch; small, because question windows are long."""

SIZES = (0.3, 0.5, 0.7)
"""The sparsities at which an elastic model is scored on dev."""


def finetuning_run(setup: FineTuneConfig, setting: Trial, examples: int) -> Run:
    """Return the training run that fine-tunes on `examples` examples."""
    defaults, an_epoch = setup.defaults, -(-examples // setting.batch)
    steps = setting.epochs * an_epoch
    every = min(defaults.every, an_epoch)
    precision: Any = setup.precision  # which has been checked
    return Run(
        phases=(
            Phase(
                steps=steps,
                train="weights",
                name="fine-tuning",
                learning_rate=setting.learning_rate,
                weight_decay=defaults.weight_decay,
                words=setup.words,
                warmup=min(defaults.warmup, steps // 10),
            ),
        ),
        model=StartConfig(start=setup.model),
        objective=_objective(setup.teacher),
        teacher=TeacherConfig(None if setup.teacher is None else setup.teacher.model),
        gating=gating_config(setup.model, setup.sparsity),
        batch=BatchConfig(
            setting.batch, min(setting.batch, MICRO_BATCH_SIZE[setup.task.kind.readout.name])
        ),
        engine=EngineConfig(precision, betas=(0.9, 0.999), epsilon=1e-8),
        saving=SavingConfig(
            every=max(every, 500),
            keep=1,
            held_out_every=every,
            final=defaults.final if setup.development else "last",
        ),
        seed=setting.seed,
    )


def _objective(teacher: TaskTeacher | None) -> Objective:
    """The loss of gold labels, or that and the loss of a teacher's outputs."""
    if teacher is None:
        return Objective(labels=1.0)
    weight = teacher.weight
    return Objective(labels=1 - weight, outputs=weight, temperature=teacher.temperature)


@dataclass(frozen=True, slots=True)
class TaskMaterial(Material):
    """The encoded examples of a task as training data."""

    setup: FineTuneConfig
    examples: Path

    @property
    def files(self) -> dict[str, Any]:
        """What the run trains on."""
        setup = self.setup
        return {
            "task": {
                "name": setup.task.name,
                "version": setup.task.version,
                "data": setup.data,
                "regime": setup.regime,
                "languages": setup.training,
                "limit": setup.limit,
                "sparsity": setup.sparsity,
                "fallback": setup.fallback,
                "precision": setup.precision,
                **setup.task.identity(),
            }
        }

    def check(self, run: Run, accelerator: Accelerator) -> None:
        """Raise if the model would be sharded, which fine-tuning cannot do."""
        if accelerator.distributed_type == DistributedType.FSDP:
            raise ConfigError(
                "Fine-tuning runs on copies of the model (DDP): launch without --use_fsdp."
            )

    def open(
        self, run: Run, paths: RunPaths, accelerator: Accelerator, progress: Progress
    ) -> Session:
        """Prepare a model with the task's readout, and open its examples."""
        setup = self.setup
        with accelerator.main_process_first():
            prepare_for_task(setup.model, setup.task, setup.sparsity, paths.prepared, run.seed)
        model = load(paths.prepared, verify=False)
        elastic, tokenizer = model.elastic, fitting_tokenizer(model, strict=True)
        teacher = None
        if setup.teacher is not None:
            teacher = load_task_teacher(setup.teacher.model, model, tokenizer)
            teacher.to(accelerator.device)
        return TaskSession(
            run=run,
            paths=paths,
            accelerator=accelerator,
            start=find(setup.model),
            tokenizer=tokenizer,
            rows=() if elastic is None else elastic.rows,
            teacher=teacher,
            student=None,
            setup=setup,
            store=ExampleStore(self.examples),
        )


@dataclass(frozen=True)  # without slots, so that what is read once is kept
class TaskSession(Session):
    """A fine-tuning run that is ready to train."""

    setup: FineTuneConfig
    store: ExampleStore

    @property
    def trained_on(self) -> str:
        """The name of the task."""
        return self.setup.task.title

    @property
    def trained_languages(self) -> tuple[str, ...]:
        """The languages that are fine-tuned on."""
        return tuple(self.setup.training)

    def step_batches(self, position: StreamPosition | None) -> Iterator[StepBatch]:
        """Yield the batch of every step, epoch after epoch, each of examples of similar length."""
        return prefetch(self._works(position.number if position else 0), self.run.engine.ahead)

    def _works(self, step: int) -> Iterator[StepBatch]:
        size, seed = self.run.batch.size, self.run.seed
        an_epoch = -(-len(self.store) // size)
        while True:
            epoch, first = divmod(step, an_epoch)
            for batch in epoch_batches(self.store.lengths, size, seed, epoch)[first:]:
                step += 1
                yield self._work(batch, StreamPosition(step))

    def _work(self, batch: np.ndarray, position: StreamPosition) -> StepBatch:
        process, processes = self.accelerator.process_index, self.accelerator.num_processes
        own = batch[process::processes]
        # Of an epoch's last batch some have less than others, or an example that does not count.
        weight = len(own) * processes / len(batch)
        taken = self.store.take((own if len(own) else batch[-1:]).tolist())
        micro_batch_size = self.run.batch.micro_batch_size
        parts = [taken[i : i + micro_batch_size] for i in range(0, len(taken), micro_batch_size)]
        ids = (np.asarray(each.ids, dtype=np.int32).tobytes() for _, each in taken)
        return StepBatch(
            micro_batches=[self._tensors(part) for part in parts],
            position=position,
            tokens=sum(len(each.ids) for _, each in taken),
            checksum=zlib.crc32(b"".join(ids)),
            weight=weight,
        )

    def _tensors(self, taken: Sequence[tuple[str, EncodedInput]]) -> dict[str, torch.Tensor]:
        encoded = [each for _, each in taken]
        batch = input_tensors(encoded, self.tokenizer)
        batch |= fine_tuned_type(self.setup.task).label_tensors(encoded)
        if len(self.rows) > 1:
            batch["rows"] = torch.tensor([self._row(code) for code, _ in taken])
        return batch

    def _row(self, code: str) -> int:
        """Return the index of a language's row of gates."""
        return self.rows.index(gate_row(code, self.rows, self.setup.fallback or "en"))

    def held_out(self, system: Any, density: float) -> dict[str, float]:
        """Return each language's error on dev: 1 − score.

        A model of every size is looked at in several, `SIZES`, and the mean over them counts.
        """
        plain, accelerator = self.accelerator.unwrap_model(system), self.accelerator
        languages = list(self._development)[accelerator.process_index :: accelerator.num_processes]
        densities = [1 - size for size in SIZES] if self.run.gating.every_size else [density]
        wrong = {
            code: 1 - mean(self._score(plain, code, each) for each in densities) / 100
            for code in languages
        }
        found: dict[str, float] = {}
        for part in gather_object([wrong]):
            found |= part
        return {code: found[code] for code in self._development if code in found}

    def _score(self, plain: Any, code: str, density: float) -> float:
        gates = None
        if plain.gating is not None:
            with torch.no_grad():
                gates = plain.gating.flat(density)[[self._row(code)]]
                gates = unflatten(gates, plain.gating.counts)
        examples, gold = self._development[code]
        task = self.setup.task
        subject = Predictor(plain.model, self.tokenizer, gates)
        predictions = task.kind.predict(subject, examples, examples)
        return next(iter(task.score(gold, predictions, code).values()))

    @cached_property
    def _development(self) -> dict[str, tuple[list[Any], Any]]:
        return read_development(self.setup)
