"""What all steps of a run share: the training data, the model with its gates, the accelerator."""

import atexit
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from accelerate import (
    Accelerator,
    DistributedDataParallelKwargs,
    DistributedType,
    InitProcessGroupKwargs,
    PartialState,
)
from accelerate.state import AcceleratorState
from accelerate.tracking import LOGGER_TYPE_TO_CLASS, get_available_trackers
from accelerate.utils import is_torch_xla_available, parse_flag_from_env

from ..corpora.positions import StreamPosition
from ..errors import ConfigError, UnknownName
from ..model.files.fingerprint import fingerprint
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.network.source import ModelSource
from ..progress import Progress
from ..pruning.gates.dynamic_gating import DynamicGating
from ..pruning.gates.learned_gating import LearnedGating
from ..storage import atomic_folder
from .regularizer import GateRegularizer
from .run_config import Run
from .run_paths import RunPaths
from .step_batches import StepBatch
from .training_module import TrainingModule

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Session(ABC):
    """A run that is ready to train on this machine."""

    run: Run
    paths: RunPaths
    accelerator: Accelerator
    start: Path
    """The folder of the uncut model."""
    tokenizer: Any
    rows: tuple[str, ...]
    """The name of each row of gates; empty without gates."""
    teacher: PolyprunePreTrainedModel | None
    student: PolyprunePreTrainedModel | None
    """The model to train where it is in memory, else it is in `paths.prepared`."""

    @property
    def trained_on(self) -> str:
        """The name of the training data, for the model card."""
        return Path(self.run.corpus.source).name

    @property
    def trained_languages(self) -> tuple[str, ...]:
        """The languages of a task's training data; none for text, which has what it has."""
        return ()

    @abstractmethod
    def step_batches(self, position: StreamPosition | None) -> Iterator[StepBatch]:
        """Yield this process's part of each step's batch from a position on, prefetched."""

    @abstractmethod
    def held_out(self, system: Any, density: float) -> dict[str, float]:
        """Return each language's held-out loss or error rate; lower is better."""

    def time_is_up(self) -> bool:
        """Whether the run is to end with this step, though it has not done all of them."""
        return False

    def dense(self) -> dict[str, float] | None:
        """Return the same for the dense starting model; None if they are not comparable."""
        return None

    def system(self, model: PolyprunePreTrainedModel) -> TrainingModule:
        """Wrap a model, its gates and their penalties in one training module."""
        elastic = model.elastic
        regularizer = None
        if elastic is not None and self.run.gating.trainable:
            spread = elastic.weights.spread(elastic.gating.counts)
            weights = torch.cat(spread.leaves()).float()
            regularizer = GateRegularizer(self.run.penalties, weights, elastic.rows)
            if self.run.gating.common and isinstance(elastic.gating, LearnedGating | DynamicGating):
                elastic.gating.learn_in_common()
        if self.run.engine.checkpointing:
            checkpoint_activations(model)
        if self.run.engine.compile:
            model.encoder.compile(dynamic=True)
        return TrainingModule(
            model,
            self.run.objective,
            None if elastic is None else elastic.gating,
            regularizer,
            self.teacher,
            ModelSource.at(self.start).pooling,
        )


@dataclass(frozen=True, slots=True)
class ModelsInMemory:
    """The models of a run that nobody has to load, and what becomes of the trained one.

    Nothing of them is read or written but checkpoints: a run that is picked up again is given the
    same models again.
    """

    student: PolyprunePreTrainedModel
    """The model that training starts from; it stays as it is."""
    teacher: PolyprunePreTrainedModel
    keep: Callable[[PolyprunePreTrainedModel], None] = lambda model: None
    """Takes the trained model."""

    @property
    def hashes(self) -> dict[str, str]:
        """What says whether these are the models that a run began with."""
        return {"start": fingerprint(self.student), "teacher": fingerprint(self.teacher)}


class Material(ABC):
    """The data that a run trains on and is measured by: text, or the examples of a task."""

    @abstractmethod
    def check(self, run: Run, accelerator: Accelerator) -> None:
        """Raise if a run cannot be trained on this with so many processes."""

    def keep(self, model: PolyprunePreTrainedModel, paths: RunPaths) -> None:
        """Write the trained model to its folder."""
        with atomic_folder(paths.model) as new:
            model.save_pretrained(new)

    @property
    @abstractmethod
    def files(self) -> dict[str, Any]:
        """A description of the data files; if it changes, it is another run."""

    @abstractmethod
    def open(
        self, run: Run, paths: RunPaths, accelerator: Accelerator, progress: Progress
    ) -> Session:
        """Prepare a run unless it is prepared already; the main process goes first."""


WAITING = timedelta(days=1)
"""How long processes wait for each other, for instance while one scores or reads data."""


SEVERAL_ON_CPUS = "torchrun --nproc-per-node 2 -m polyprune …"
"""How several processes are launched where Accelerate's `--cpu` would start one."""


def all_processes() -> PartialState:
    """Return Accelerate's state of this process and those launched with it."""
    return PartialState(cpu=_on_cpus(), timeout=WAITING)


def _on_cpus() -> bool:
    """Return whether to compute on CPUs: if told so, or if processes find nothing else to share.

    Accelerate connects the processes of a machine without GPUs only if it is told to use CPUs.
    """
    if parse_flag_from_env("ACCELERATE_USE_CPU"):
        return True
    return _launched() > 1 and not (torch.accelerator.is_available() or is_torch_xla_available())


def _launched() -> int:
    """Return the number of processes that the launcher says it started."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def _warn_if_alone(accelerator: Accelerator) -> None:
    """Warn if several processes were asked for, but `accelerate launch --cpu` started one.

    For several it names their meeting point, and leaves it to MPI to start them.
    """
    asked = "ACCELERATE_MIXED_PRECISION" in os.environ and "MASTER_ADDR" in os.environ
    if asked and accelerator.num_processes == 1 and "WORLD_SIZE" not in os.environ:
        logger.warning(
            "One process trains, though more were asked for: accelerate launch --cpu starts one "
            "only. On CPUs, launch several with %s",
            SEVERAL_ON_CPUS,
        )


def checkpoint_activations(model: PolyprunePreTrainedModel) -> None:
    """Compute activations again in the backward pass instead of keeping them."""
    if hasattr(model, "activation_checkpointing_enable"):
        model.activation_checkpointing_enable()
    else:  # as older releases of transformers call it
        model.gradient_checkpointing_enable()


def make_accelerator(run: Run, paths: RunPaths) -> Accelerator:
    """Make the accelerator: what `accelerate launch` set up, or this single process."""
    for tracker in run.saving.trackers:
        if tracker not in LOGGER_TYPE_TO_CLASS:
            raise UnknownName(
                "tracker", tracker, LOGGER_TYPE_TO_CLASS, "See Accelerate's documentation."
            )
        if tracker not in [str(getattr(each, "value", each)) for each in get_available_trackers()]:
            raise ConfigError(f"The tracker {tracker} is not installed: pip install {tracker}.")
    # Losses on inner layers leave what is above them without a gradient.
    partial = not run.objective.uses_readout
    handlers = [
        DistributedDataParallelKwargs(find_unused_parameters=partial),
        InitProcessGroupKwargs(timeout=WAITING),
    ]
    if _on_cpus() and parse_flag_from_env("ACCELERATE_USE_FSDP"):
        raise ConfigError("Accelerate shards models on GPUs only: launch without --use_fsdp.")
    # A process may do one run after the other, each with settings of its own.
    AcceleratorState._reset_state()
    try:
        accelerator = Accelerator(
            cpu=_on_cpus(),
            mixed_precision=run.engine.precision,
            log_with=list(run.saving.trackers) or None,
            project_dir=paths.tracking,
            kwargs_handlers=handlers,
        )
    except ValueError as error:  # half precision on a machine without
        raise ConfigError(f"engine.precision = {run.engine.precision!r}: {error}") from error
    except RuntimeError as error:  # sharding without anything to shard on
        why = str(error).partition("\n")[0]
        raise ConfigError(
            f"Accelerate cannot start: {why} On a machine without GPUs, launch several processes "
            f"with {SEVERAL_ON_CPUS}"
        ) from error
    _check_sharding(run, accelerator)
    _warn_if_alone(accelerator)
    atexit.register(accelerator.state.destroy_process_group)
    return accelerator


def _check_sharding(run: Run, accelerator: Accelerator) -> None:
    """Raise if FSDP would shard or round gates, which must stay whole."""
    if _launched() != accelerator.num_processes:
        raise ConfigError(
            f"{_launched()} processes were launched that do not know of each other. Launch them "
            f"with accelerate launch --multi_gpu, or with {SEVERAL_ON_CPUS}"
        )
    if accelerator.distributed_type != DistributedType.FSDP:
        return
    if not accelerator.is_fsdp2:
        raise ConfigError("Sharded training needs version 2: accelerate launch --fsdp_version 2.")
    if run.gating.any and not run.gating.cut_first:
        raise ConfigError(
            "Gates cannot be sharded: train them without --use_fsdp, on copies of the model (DDP)."
        )
