"""`polyprune.measure`: parameters, bytes and multiply–adds; how fast, and in how much memory."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from ..device import device_named
from ..errors import ConfigError
from ..exporting.export_loader import ExportLoader, export_bytes, is_export
from ..loading.configs import own_config
from ..loading.conversion import readout_of
from ..loading.finding import find
from ..loading.hub import read_shape
from ..measuring import measurement
from ..measuring.loaders import ModelLoader
from ..measuring.machine import machine
from ..measuring.measurement import Entry, MeasureConfig, ModelMeasurement
from ..measuring.roofline import bound, break_even_tokens
from ..measuring.speed import SpeedResult
from ..measuring.workload import Workload, real_sentences
from ..model.footprint import footprint_of, weight_bytes
from ..model.network.configuration_polyprune import PolypruneConfig
from ..model.network.readouts import Readout
from ..model.network.source import ModelSource
from ..progress import Progress
from ..reporting.tables.table import Table
from .inputs import ModelLike, model_folder, named_models, resolve_corpus
from .measure_tables import measured_tables
from .requests.measure import MeasureRequest
from .result import Result
from .verb import verb


@dataclass(frozen=True, slots=True, repr=False)
class MeasureResult(Result):
    """What models hold and take; with `speed`, how fast they are beside the first."""

    models: tuple[dict[str, Any], ...]
    """One record per model, in the order given."""
    conditions: dict[str, Any]
    """What was measured on what machine, how noisy it was, and which GPU was estimated."""

    def as_dict(self) -> dict[str, Any]:
        """All models and the conditions; one model that was not run, alone."""
        if not self.conditions and len(self.models) == 1:
            return self.models[0]
        return {"models": list(self.models), **self.conditions}

    def summary(self) -> Iterator[Table | str]:
        """Sizes; then speed, latency, best batch sizes and a GPU's roofs, as far as known."""
        return measured_tables({"models": list(self.models), **self.conditions})


@verb(MeasureRequest)
def measure(
    models: ModelLike | Sequence[ModelLike] | Mapping[str, ModelLike],
    request: MeasureRequest,
    progress: Progress,
) -> MeasureResult:
    """Count the parameters, bytes and multiply–adds of models, side by side.

    One model, several, or a mapping from names to models; exported folders too. With `speed`, how
    fast they are: all in one run, in turns, with the ratio to the first and its interval, latency,
    and peak memory.
    """
    with ExitStack() as stack:
        # Peak memory is measured in processes of their own, which load models from folders.
        given = [
            ModelHeader.read(name, stack.enter_context(model_folder(model)))
            for name, model in named_models(models).items()
        ]
        if request.speed:
            _check_lengths(given, request.tokens)
        records = [header.sizes(request.tokens) for header in given]
        conditions: dict[str, Any] = {}
        if request.speed:
            conditions = _run(given, records, request, progress)
    if request.gpu is not None:
        conditions["gpu"] = _estimate(given, records, request)
    return MeasureResult(tuple(records), conditions)


@dataclass(frozen=True, slots=True)
class ModelHeader:
    """What is known of a model without loading its weights."""

    name: str
    path: str
    config: PolypruneConfig
    readout: Readout
    export: bool
    """Whether it is an exported folder."""

    @classmethod
    def read(cls, name: str, path: str) -> "ModelHeader":
        """Read the header of a folder, of an exported one too."""
        folder = Path(path).expanduser()
        if not is_export(folder):
            return cls(name, path, *read_shape(path), export=False)
        config = own_config(folder)
        return cls(name, path, config, readout_of(config.architectures), export=True)

    def sizes(self, tokens: int) -> dict[str, Any]:
        """Count what the model holds, and what one sequence of so many tokens takes."""
        size, shape = footprint_of(self.config, self.readout, tokens), self.config.shape
        folder = Path(self.path).expanduser()
        return {
            "model": self.name,
            "readout": self.readout.name,
            "parameters": size.parameters,
            **asdict(size),
            "bytes": export_bytes(folder) if self.export else weight_bytes(self.config, size),
            "layers": shape.layers,
            "heads": shape.heads,
            "units": shape.units,
            "rank": shape.rank,
        }

    def loader(self, threads: int, device: str) -> ModelLoader | ExportLoader:
        """What loads the model, here or in another process."""
        if self.export:
            return ExportLoader(str(Path(self.path).expanduser()), threads)
        return ModelLoader(self.path, device)


def _run(
    given: Sequence[ModelHeader],
    records: list[dict[str, Any]],
    request: MeasureRequest,
    progress: Progress,
) -> dict[str, Any]:
    """Run all, add what was found to their records, and return the conditions."""
    if request.threads is not None:
        torch.set_num_threads(request.threads)
    threads, device = torch.get_num_threads(), device_named(request.device)
    config = MeasureConfig(
        _workload(given, request),
        batch=request.batch,
        rounds=request.rounds,
        threads=threads,
        memory=request.memory,  # pyright: ignore[reportArgumentType]
        precision=request.precision,  # pyright: ignore[reportArgumentType]
    )
    entries = [
        Entry(header.name, header.loader(threads, device), header.config.shape) for header in given
    ]
    report = measurement.measure(entries, config, progress=progress)
    if not request.allow_noisy:
        report.noise.check()
    for record, found in zip(records, report.models.values(), strict=True):
        record |= _record(found)
    real = None if request.corpus is None else _corpus_name(request.corpus)
    return {
        "measured": {
            "batch": config.batch,
            "tokens": None if real else request.tokens,
            "corpus": real,
            "rounds": config.rounds,
            "memory_budget_bytes": config.memory,
            "device": device,
            "precision": config.precision,
            "interval": "95 %, of the ratio to the first model",
            "notes": [
                f"{header.name} was exported with its {header.readout} readout and is run with it; "
                "models that are no exports run without."
                for header in given
                if header.export and not header.readout.embeds
            ],
        },
        "noise": report.noise.record(),
        "machine": machine(),
    }


def _record(found: ModelMeasurement) -> dict[str, Any]:
    """What was measured of a model, for JSON."""
    record: dict[str, Any] = {
        "speed": _speed(found.speed),
        "ideal_ratio": found.ideal,
        "latency": _speed(found.latency),
        "peak_memory_bytes": found.memory.peak,
        "loaded_bytes": found.memory.weights,
    }
    if found.best is not None and found.at_best is not None:
        record["best_batch"] = {
            "batch": found.best.best.batch,
            "peak_memory_bytes": found.best.best.peak_bytes,
            "stopped_by": found.best.stopped,
            "tried": [asdict(trial) for trial in found.best.trials],
            **_speed(found.at_best),
        }
    return record


def _speed(speed: SpeedResult) -> dict[str, Any]:
    record = asdict(speed)
    record["percentile_seconds"] = {f"p{p}": t for p, t in record.pop("percentiles").items()}
    return record


def _corpus_name(corpus: Any) -> str:
    return "sentences" if isinstance(corpus, Mapping) else str(corpus)


def _workload(given: Sequence[ModelHeader], request: MeasureRequest) -> Workload:
    """Sentences that all models can read."""
    words = min(header.config.shape.vocab_size for header in given)
    if request.corpus is None:
        return Workload(words, request.tokens)
    tokenizers = (ModelSource.at(find(header.path)).tokenizer() for header in given)
    tokenizer = next((known for known in tokenizers if known is not None), None)
    if tokenizer is None:
        raise ConfigError(
            "None of the models has a tokenizer to read `corpus` with. Leave it out to measure "
            "sentences of `tokens` tokens."
        )
    return real_sentences(resolve_corpus(request.corpus), tokenizer, words, request.tokens)


def _estimate(
    given: Sequence[ModelHeader], records: list[dict[str, Any]], request: MeasureRequest
) -> dict[str, Any]:
    """Add what a GPU could make of each model to its record, and return which GPU."""
    name = str(request.gpu)
    precision: Any = request.precision  # which was checked
    bounds = [
        bound(
            header.config.shape,
            name,
            batch=request.batch,
            tokens=request.tokens,
            precision=precision,
        )
        for header in given
    ]
    for header, own, record in zip(given, bounds, records, strict=True):
        record["gpu"] = {
            **asdict(own),
            "ratio": bounds[0].seconds / own.seconds,
            "break_even_tokens": break_even_tokens(header.config.shape, name, precision=precision),
        }
    return {
        "name": name,
        "batch": request.batch,
        "tokens": request.tokens,
        "precision": precision,
        "is": "an estimate from data sheets, not a measurement",
    }


def _check_lengths(given: Sequence[ModelHeader], tokens: int) -> None:
    """Raise if a model cannot read so many tokens."""
    for header in given:
        longest = header.config.longest_input
        if tokens > longest:
            raise ConfigError(
                f"{header.name} reads up to {longest} tokens, not `tokens={tokens!r}`."
            )
