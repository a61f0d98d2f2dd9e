"""What all steps of a run share: text, tokenizer, teacher, and the machine it runs on."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from accelerate import (
    Accelerator,
    DistributedDataParallelKwargs,
    DistributedType,
    InitProcessGroupKwargs,
)
from accelerate.state import AcceleratorState
from accelerate.tracking import LOGGER_TYPE_TO_CLASS, get_available_trackers

from ..corpora.corpus import development_files
from ..corpora.held_out import hold_out
from ..corpora.prefetch import prefetch
from ..corpora.sources import Position, Source
from ..corpora.stream import Mixing, Share, check_share, stream
from ..corpora.text import text_folder
from ..errors import ConfigError, UnknownName
from ..model.hub import find, load_tokenizer
from ..model.modeling_polyprune import PolyprunePreTrainedModel
from ..model.sentences import pooling_of, prompt_of
from ..pruning.elastic import load
from .places import Places
from .plan import Run
from .prepare import check_length, prepare_model, starting_folder, tokenizer_of
from .pressure import Pressure
from .system import System
from .targets import Targets, make_targets
from .work import Desk, Work


@dataclass(frozen=True, slots=True)
class Session:
    """A run on this machine, ready to train."""

    run: Run
    places: Places
    accelerator: Accelerator
    sources: dict[str, Source]
    withheld: dict[str, int]
    """Documents of each language before which some are held out."""
    start: Path
    tokenizer: Any
    rows: tuple[str, ...]
    """What each row of gates is for; none without gates."""
    teacher: PolyprunePreTrainedModel | None
    targets: Targets | None

    @property
    def desk(self) -> Desk:
        """How examples become batches."""
        many = len(self.rows) > 1
        return Desk(
            tokenizer=self.tokenizer,
            at_once=self.run.batch.at_once,
            masked=self.run.objective.by_block,
            seed=self.run.seed,
            rows={code: row for row, code in enumerate(self.rows)} if many else {},
            targets=self.targets,
        )

    @property
    def mixing(self) -> Mixing:
        """How lines become examples."""
        return mixing(self.run, self.start, self.accelerator.num_processes)

    def works(self, position: Position | None) -> Iterator[Work]:
        """This process's work, step by step, from a position on; prepared in the background."""
        made = self.mixing
        if position is not None and self.run.corpus.lanes is None:
            made = replace(made, lanes=position["lanes"])  # as many as the run began with
        share = share_of(self.run, self.accelerator, self.withheld)
        examples = stream(self.sources, self.tokenizer, made, share, position)
        return prefetch(self.desk.works(examples), self.run.engine.ahead)

    def system(self, model: PolyprunePreTrainedModel) -> System:
        """A model with its gates and what weighs on them."""
        elastic: Any = model.elastic
        pressure = None
        if elastic is not None and self.run.gating.trainable:
            spread = elastic.weights.spread(elastic.gating.counts)
            weights = torch.cat(spread.leaves()).float()
            pressure = Pressure(self.run.penalties, weights, elastic.rows)
        if self.run.engine.checkpointing:
            model.gradient_checkpointing_enable()
        if self.run.engine.compile:
            model.encoder.compile(dynamic=True)
        return System(
            model,
            self.run.objective,
            None if elastic is None else elastic.gating,
            pressure,
            self.teacher,
            pooling_of(self.start),
        )


def mixing(run: Run, start: Path | None, processes: int) -> Mixing:
    """How lines become examples."""
    prefix = run.corpus.prefix
    by_line = run.objective.by_line
    if prefix is None:
        prefix = prompt_of(start) if by_line else ""
    return Mixing(
        exponent=run.corpus.exponent,
        block=run.corpus.block,
        window=run.corpus.window,
        unit="line" if by_line else "block",
        prefix=prefix,
        seed=run.seed,
        lanes=run.corpus.lanes or processes,
    )


def make_accelerator(run: Run, places: Places) -> Accelerator:
    """The engine: whatever `accelerate launch` set up, or this one process."""
    for tracker in run.saving.trackers:
        if tracker not in LOGGER_TYPE_TO_CLASS:
            raise UnknownName(
                "tracker", tracker, LOGGER_TYPE_TO_CLASS, "See Accelerate's documentation."
            )
        if tracker not in [str(getattr(each, "value", each)) for each in get_available_trackers()]:
            raise ConfigError(f"The tracker {tracker} is not installed: pip install {tracker}.")
    # Losses on inner layers leave what is above them without a gradient.
    partial = not {"mlm", "soft", "outputs"} & set(run.objective.wanted)
    handlers = [
        DistributedDataParallelKwargs(find_unused_parameters=partial),
        InitProcessGroupKwargs(timeout=timedelta(days=1)),  # others wait while one scores
    ]
    # A process may do one run after the other, each with settings of its own.
    AcceleratorState._reset_state()
    try:
        accelerator = Accelerator(
            mixed_precision=run.engine.precision,
            log_with=list(run.saving.trackers) or None,
            project_dir=places.tracking,
            kwargs_handlers=handlers,
        )
    except ValueError as error:  # half precision on a machine without
        raise ConfigError(f"engine.precision = {run.engine.precision!r}: {error}") from error
    except RuntimeError as error:  # sharding without anything to shard on
        why = str(error).partition("\n")[0]
        raise ConfigError(
            f"Accelerate cannot start: {why} On a machine without GPUs, launch with --cpu alone."
        ) from error
    check_share(mixing(run, None, accelerator.num_processes), share_of(run, accelerator, {}))
    _check_sharding(run, accelerator)
    return accelerator


def _check_sharding(run: Run, accelerator: Accelerator) -> None:
    """Raise where FSDP would shard or round what has to be whole, or there is none."""
    if int(os.environ.get("WORLD_SIZE", "1")) != accelerator.num_processes:
        raise ConfigError(
            f"{os.environ['WORLD_SIZE']} processes were launched that do not know of each other. "
            "On a machine without GPUs, launch them with --cpu."
        )
    if accelerator.distributed_type != DistributedType.FSDP:
        if os.environ.get("ACCELERATE_USE_FSDP", "").lower() == "true":
            raise ConfigError("Accelerate shards models on GPUs only: launch without --use_fsdp.")
        return
    if not accelerator.is_fsdp2:
        raise ConfigError("Sharded training needs version 2: accelerate launch --fsdp_version 2.")
    if run.gating.kind != "none" and not run.gating.cut_first:
        raise ConfigError(
            "Gates cannot be sharded: train them without --use_fsdp, on copies of the model (DDP)."
        )


def share_of(run: Run, accelerator: Accelerator, withheld: Mapping[str, int]) -> Share:
    """Which part of every batch is this process's."""
    return Share(
        batch=run.batch.size,
        process=accelerator.process_index,
        processes=accelerator.num_processes,
        held_out=withheld,
    )


def open_session(
    run: Run, places: Places, sources: dict[str, Source], accelerator: Accelerator, watch: Any
) -> Session:
    """Prepare a run, or find it prepared: the main process first, the others after it."""
    with accelerator.main_process_first():
        start = starting_folder(run, places, sources)
        given = development_files(text_folder(run.corpus.source))
        withheld = hold_out(sources, run.corpus.held_out, places.held_out, given)
        prepare_model(run, places, start, list(sources), watch)
    model = load(places.prepared)
    tokenizer = tokenizer_of(places.prepared, model)
    check_readout(run, model)
    teacher = _teacher(run, start, model, tokenizer)
    elastic: Any = model.elastic
    targets = None
    if teacher is not None:
        teacher.to(accelerator.device)
        if run.teacher.cache:
            with accelerator.main_process_first():
                made = mixing(run, start, accelerator.num_processes)
                targets = make_targets(teacher, tokenizer, sources, made, places.targets, watch)
    return Session(
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


def check_readout(run: Run, model: PolyprunePreTrainedModel) -> None:
    """Raise if a model cannot do what it is to be trained for."""
    wanted, kind = set(run.objective.wanted), model.readout_kind
    if wanted & {"mlm", "soft"} and kind != "masked-lm":
        raise ConfigError(
            f"This model has no masked-LM readout but {kind}, so it cannot learn mlm or soft. For "
            "a sentence encoder, use embeddings."
        )
    if "outputs" in wanted and kind in ("masked-lm", "hidden-states"):
        raise ConfigError(f"A model with the readout {kind} has no outputs. Use mlm or embeddings.")


def _teacher(
    run: Run, start: Path, model: PolyprunePreTrainedModel, tokenizer: Any
) -> PolyprunePreTrainedModel | None:
    if not run.objective.taught:
        return None
    if run.teacher.start is None and run.model.start == "fresh":
        raise ConfigError("A fresh model needs a teacher to be taught: set teacher.start.")
    folder = find(run.teacher.start) if run.teacher.start else start
    teacher = load(folder, dtype=torch.float32)
    known = load_tokenizer(folder)
    if known is not None and known.get_vocab() != tokenizer.get_vocab():
        raise ConfigError(
            f"The teacher in {folder} reads other words than the student: they must share a "
            "tokenizer."
        )
    _check_widths(run, model, teacher)
    check_length(run, teacher)
    check_readout(run, teacher)
    return teacher.requires_grad_(False).eval()


def _check_widths(
    run: Run, model: PolyprunePreTrainedModel, teacher: PolyprunePreTrainedModel
) -> None:
    wanted, ours, theirs = set(run.objective.wanted), model.shape, teacher.shape
    if ours.width != theirs.width and wanted & {"cosine", "embeddings", "translations"}:
        raise ConfigError(
            f"The teacher is {theirs.width} wide, the student {ours.width}: learn from relations "
            "or similarities, not from hidden states or embeddings."
        )
    if ours.heads[-1] != theirs.heads[-1] and wanted & {"attention", "values"}:
        raise ConfigError(
            f"The teacher's last layer has {theirs.heads[-1]} heads, the student's "
            f"{ours.heads[-1]}: learn from relations, not from attention and values."
        )
