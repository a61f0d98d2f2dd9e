"""Fine-tuning: the examples of a task as what the one training loop trains on."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import gather_object

from ..corpora.prefetch import prefetch
from ..corpora.sources import Position
from ..errors import ConfigError, UnknownName
from ..model.hub import find
from ..pruning.budget import unflatten
from ..pruning.elastic import load
from ..training.objectives import Objective
from ..training.phases import Phase
from ..training.places import Places
from ..training.plan import Batch, Engine, Run, Saving, Start
from ..training.prepare import tokenizer_of
from ..training.session import Material, Session
from ..training.work import Work
from .encoded import Encoded
from .kinds import Learned, Subject
from .predict import label_tensors, tensors
from .rows import row_of
from .start import gating_of, prepare
from .store import Store, order, write_store
from .tasks import Recipe, Task

Regime = Literal["transfer", "translate-train-all"]
REGIMES = {
    "transfer": "English alone, evaluated in every language",
    "translate-train-all": "all languages together: translations or, for POS and NER, people's own",
}

DEV = 1000
"""Examples of each language that are looked at during training, where there are several."""


AT_ONCE = {"sentence-classification": 32, "token-classification": 32, "span": 8}
"""Examples in a pass: windows of questions are long."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What is fine-tuned, for what, on what."""

    model: str
    """A folder, a Hugging Face id, or `e5-small`."""
    task: Task
    data: str
    """A folder or a data set; see `readers`."""
    regime: Regime = "transfer"
    languages: tuple[str, ...] | None = None
    """To train on; those of the regime unless given."""
    limit: int | None = None
    """Examples of each language that are trained on."""
    sparsity: float | None = None
    """The one size of an elastic model to fine-tune; all of them unless given."""
    words: bool = True
    """Whether the word table is trained too."""

    def __post_init__(self):
        if self.regime not in REGIMES:
            raise UnknownName("regime", self.regime, REGIMES, f"There are: {', '.join(REGIMES)}.")
        if self.task.recipe is None:
            raise ConfigError(
                f"{self.task.title} has nothing to train on: polyprune evaluate MODEL --task "
                f"{self.task.name} takes any encoder."
            )

    @property
    def recipe(self) -> Recipe:
        """Of the task."""
        assert self.task.recipe is not None
        return self.task.recipe

    @property
    def training(self) -> list[str]:
        """The languages to train on."""
        if self.languages is None and self.regime == "transfer":
            return ["en"]
        return self.task.find(self.data, self.split, self.languages)

    @property
    def split(self) -> Literal["train", "translated"]:
        """What is trained on."""
        return "train" if self.regime == "transfer" else "translated"

    @property
    def development(self) -> list[str]:
        """The languages that a model is chosen by, as far as there is dev data."""
        wanted = self.training if self.regime == "transfer" else self.task.languages
        return self.task.reader.languages(self.data, "dev", wanted)


@dataclass(frozen=True, slots=True)
class Setting:
    """What the paper searches over, and the chance that is left."""

    learning_rate: float
    epochs: int
    seed: int = 1
    batch: int = 32

    def __post_init__(self):
        if self.epochs < 1 or self.batch < 1:
            raise ConfigError("Epochs and batches are 1 or more.")

    @property
    def name(self) -> str:
        """For a folder."""
        return f"lr-{self.learning_rate:g}-epochs-{self.epochs}-seed-{self.seed}"


def encode_training(setup: Setup, path: Path, watch: Any = lambda _, things: things) -> Store:
    """What is trained on, tokenised and written to a file, or found there."""
    if path.is_file():
        return Store(path)
    model = load(setup.model)
    tokenizer = tokenizer_of(find(setup.model), model)
    preprocessing = _kind(setup.task).fitted(model)

    def examples() -> Iterator[tuple[str, Encoded]]:
        for code in setup.training:
            read = setup.task.reader.read(setup.data, setup.split, code)
            some = watch(f"Reading {code}", islice(read, setup.limit))
            for each in preprocessing.encode(some, tokenizer, setup.task.labels, training=True):
                yield code, each

    return write_store(path, examples())


def plan(setup: Setup, setting: Setting, examples: int) -> Run:
    """The run that fine-tunes on so many examples."""
    recipe, an_epoch = setup.recipe, -(-examples // setting.batch)
    steps = setting.epochs * an_epoch
    every = min(recipe.every, an_epoch)
    return Run(
        phases=(
            Phase(
                steps=steps,
                train="weights",
                name="fine-tuning",
                learning_rate=setting.learning_rate,
                weight_decay=recipe.weight_decay,
                words=setup.words,
                warmup=min(recipe.warmup, steps // 10),
            ),
        ),
        model=Start(start=setup.model),
        objective=Objective(labels=1.0),
        gating=gating_of(setup.model, setup.sparsity),
        batch=Batch(setting.batch, min(setting.batch, AT_ONCE[setup.task.kind.readout])),
        engine=Engine(betas=(0.9, 0.999), epsilon=1e-8),
        saving=Saving(
            every=max(every, 500),
            keep=1,
            held_out_every=every,
            final=recipe.final if setup.development else "last",
        ),
        seed=setting.seed,
    )


@dataclass(frozen=True, slots=True)
class TaskMaterial(Material):
    """The examples of a task."""

    setup: Setup
    examples: Path

    @property
    def files(self) -> dict[str, Any]:
        """What is trained on."""
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
            }
        }

    def open(self, run: Run, places: Places, accelerator: Accelerator, watch: Any) -> Session:
        """A model with the readout of the task, and its examples."""
        setup = self.setup
        with accelerator.main_process_first():
            prepare(setup.model, setup.task, setup.sparsity, places.prepared, run.seed)
        model = load(places.prepared, verify=False)
        elastic: Any = model.elastic
        return TaskSession(
            run=run,
            places=places,
            accelerator=accelerator,
            start=find(setup.model),
            tokenizer=tokenizer_of(places.prepared, model),
            rows=() if elastic is None else elastic.rows,
            teacher=None,
            setup=setup,
            store=Store(self.examples),
            preprocessing=_kind(setup.task).fitted(model),
        )


@dataclass(frozen=True)  # without slots, so that what is read once is kept
class TaskSession(Session):
    """Fine-tuning, ready to begin."""

    setup: Setup
    store: Store
    preprocessing: Any

    def works(self, position: Position | None) -> Iterator[Work]:
        """Batches of examples of similar length, epoch after epoch."""
        return prefetch(self._works(position["number"] if position else 0), self.run.engine.ahead)

    def _works(self, step: int) -> Iterator[Work]:
        size, seed = self.run.batch.size, self.run.seed
        an_epoch = -(-len(self.store) // size)
        while True:
            epoch, first = divmod(step, an_epoch)
            for batch in order(self.store.lengths, size, seed, epoch)[first:]:
                step += 1
                # As text's positions are, so that those of several processes can be merged.
                yield self._work(batch, {"number": step, "lanes": 1, "packers": {}})

    def _work(self, batch: np.ndarray, position: Position) -> Work:
        process, processes = self.accelerator.process_index, self.accelerator.num_processes
        # Of a last batch that is smaller than the processes are many, some see an example twice.
        own = batch[process::processes] if len(batch) > process else batch[-1:]
        taken = self.store.take(own.tolist())
        at_once = self.run.batch.at_once
        parts = [taken[i : i + at_once] for i in range(0, len(taken), at_once)]
        ids = (np.asarray(each.ids, dtype=np.int32).tobytes() for _, each in taken)
        return Work(
            passes=[self._tensors(part) for part in parts],
            position=position,
            tokens=sum(len(each.ids) for _, each in taken),
            checksum=zlib.crc32(b"".join(ids)),
        )

    def _tensors(self, taken: Sequence[tuple[str, Encoded]]) -> dict[str, torch.Tensor]:
        encoded = [each for _, each in taken]
        batch = tensors(encoded, self.tokenizer)
        batch |= label_tensors(encoded, self.setup.task.kind.readout)
        if len(self.rows) > 1:
            rows = [self.rows.index(row_of(code, self.rows)) for code, _ in taken]
            batch["rows"] = torch.tensor(rows)
        return batch

    def held_out(self, system: Any, density: float) -> dict[str, float]:
        """The share that each language gets wrong of its dev examples: 1 − score."""
        plain, accelerator = self.accelerator.unwrap_model(system), self.accelerator
        languages = list(self._development)[accelerator.process_index :: accelerator.num_processes]
        wrong = {code: 1 - self._score(plain, code, density) / 100 for code in languages}
        found: dict[str, float] = {}
        for part in gather_object([wrong]):
            found |= part
        return {code: found[code] for code in self._development if code in found}

    def _score(self, plain: Any, code: str, density: float) -> float:
        gates = None
        if plain.gating is not None:
            row = self.rows.index(row_of(code, self.rows))
            with torch.no_grad():
                gates = unflatten(plain.gating.flat(density)[[row]], plain.gating.counts)
        examples, gold = self._development[code]
        task = self.setup.task
        subject = Subject(plain.model, self.tokenizer, gates)
        predictions = task.kind.predict(subject, examples, lambda: examples)
        return next(iter(task.score(gold, predictions, code).values()))

    @cached_property
    def _development(self) -> dict[str, tuple[list[Any], Any]]:
        """The dev examples of every language that tells what is right, and what that is."""
        task, setup = self.setup.task, self.setup
        codes = setup.development
        most = DEV if len(codes) > 1 else None
        read = {
            code: list(islice(task.reader.read(setup.data, "dev", code), most)) for code in codes
        }
        both = {code: (examples, task.kind.gold(examples)) for code, examples in read.items()}
        return {code: (examples, gold) for code, (examples, gold) in both.items() if gold}


def _kind(task: Task) -> Learned:
    assert isinstance(task.kind, Learned)
    return task.kind
