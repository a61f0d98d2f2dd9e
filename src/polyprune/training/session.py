"""What all steps of a run share: text, tokenizer, teacher, and the machine it runs on."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator, DistributedDataParallelKwargs, InitProcessGroupKwargs
from accelerate.tracking import LOGGER_TYPE_TO_CLASS, get_available_trackers

from ..corpora.corpus import development_files
from ..corpora.held_out import hold_out
from ..corpora.prefetch import prefetch
from ..corpora.sources import Position, Source
from ..corpora.stream import Mixing, Share, stream
from ..errors import ConfigError, UnknownName
from ..model.hub import find
from ..model.modeling_polyprune import PolyprunePreTrainedModel
from ..model.sentences import pooling_of, prompt_of
from ..pruning.elastic import load
from .plan import Run
from .prepare import Places, prepare_model, starting_folder, tokenizer_of
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
        share = Share(
            batch=self.run.batch.size,
            process=self.accelerator.process_index,
            processes=self.accelerator.num_processes,
            held_out=self.withheld,
        )
        examples = stream(self.sources, self.tokenizer, self.mixing, share, position)
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


def mixing(run: Run, start: Path, processes: int) -> Mixing:
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
    partial = not {"mlm", "soft"} & set(run.objective.wanted)
    handlers = [
        DistributedDataParallelKwargs(broadcast_buffers=False, find_unused_parameters=partial),
        InitProcessGroupKwargs(timeout=timedelta(days=1)),  # others wait while one scores
    ]
    try:
        return Accelerator(
            mixed_precision=run.engine.precision,
            log_with=list(run.saving.trackers) or None,
            project_dir=places.out / "tracking",
            kwargs_handlers=handlers,
        )
    except ValueError as error:  # half precision on a machine without
        raise ConfigError(f"engine.precision = {run.engine.precision!r}: {error}") from error


def open_session(
    run: Run, places: Places, sources: dict[str, Source], accelerator: Accelerator, watch: Any
) -> Session:
    """Prepare a run, or find it prepared: the main process first, the others after it."""
    with accelerator.main_process_first():
        start = starting_folder(run, places, sources)
        withheld = hold_out_text(run, places, sources)
        prepare_model(run, places, start, list(sources), watch)
    model = load(places.prepared)
    tokenizer = tokenizer_of(places.prepared, model)
    _check_length(run, model)
    teacher = _teacher(run, start, model)
    elastic: Any = model.elastic
    targets = None
    if teacher is not None:
        teacher.to(accelerator.device)
        if run.teacher.cache:
            with accelerator.main_process_first():
                made = mixing(run, start, accelerator.num_processes)
                targets = make_targets(teacher, tokenizer, sources, made, places.out)
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


def hold_out_text(run: Run, places: Places, sources: dict[str, Source]) -> dict[str, int]:
    """Write the held-out text; what training has to leave out in each language."""
    return hold_out(sources, run.corpus.held_out, places.held_out, _development(run))


def _development(run: Run) -> dict[str, Path]:
    folder = Path(run.corpus.source).expanduser()
    return development_files(folder) if folder.is_dir() else {}


def _check_length(run: Run, model: PolyprunePreTrainedModel) -> None:
    config = model.config
    first = (config.pad_token_id or 0) + 1 if config.padded_positions else 0
    longest = model.shape.positions - first
    if run.corpus.block > longest:
        raise ConfigError(
            f"corpus.block is {run.corpus.block}, but this model has positions for {longest}."
        )


def _teacher(
    run: Run, start: Path, model: PolyprunePreTrainedModel
) -> PolyprunePreTrainedModel | None:
    if not run.objective.taught:
        return None
    if run.teacher.start is None and run.model.start == "fresh":
        raise ConfigError("A fresh model needs a teacher to be taught: set teacher.start.")
    teacher = load(find(run.teacher.start) if run.teacher.start else start)
    wanted = set(run.objective.wanted)
    same_words = teacher.shape.vocab_size == model.shape.vocab_size
    same_width = teacher.shape.width == model.shape.width
    if not same_words:
        raise ConfigError(
            f"The teacher has {teacher.shape.vocab_size:,} words, the student "
            f"{model.shape.vocab_size:,}: they must share a tokenizer."
        )
    if not same_width and wanted & {"cosine", "embeddings", "translations"}:
        raise ConfigError(
            f"The teacher is {teacher.shape.width} wide, the student {model.shape.width}: learn "
            "from relations or similarities, not from hidden states or embeddings."
        )
    return teacher.requires_grad_(False).eval()
