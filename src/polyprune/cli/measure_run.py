"""What `polyprune measure` answers, as one value: sizes, and what was measured of whom."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from ..errors import ConfigError
from ..loading.hub import find, load_tokenizer
from ..measuring.calls import Precision
from ..measuring.loaders import ModelLoader, device_named
from ..measuring.machine import machine
from ..measuring.measurement import (
    Entry,
    MeasureConfig,
    MeasurementReport,
    ModelMeasurement,
    measure,
)
from ..measuring.roofline import bound, break_even_tokens
from ..measuring.speed import SpeedResult
from ..measuring.workload import Workload, real_sentences
from ..progress import progress_of
from ..quantities import parse_bytes
from .measure_given import Given, find_all, size_of

PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class Options:
    """As given on the command line."""

    speed: bool
    batch: int
    tokens: int
    corpus: str | None
    memory: str | None
    threads: int | None
    rounds: int
    device: str
    precision: str
    gpu: str | None
    anyway: bool


@dataclass(frozen=True, slots=True)
class ExportLoader:
    """The model of an exported folder, in the runtime that it was exported for."""

    path: str
    threads: int

    def prepare(self) -> None:
        """Import the runtime."""
        from ..exporting.runners import read_export_record
        from ..exporting.runtimes import runtime_named

        card = read_export_record(Path(self.path)) or {}
        runtime = runtime_named(str(card.get("runtime")))
        runtime.need()
        for package in runtime.runs_with:
            import_module(package)

    def __call__(self) -> Any:
        """A function of arrays."""
        from ..exporting.runners import load_runner

        return load_runner(self.path, self.threads)


def answer_of(models: Sequence[str], options: Options) -> dict[str, Any]:
    """What is printed, or made into tables."""
    precision = _precision(options.precision)
    given = find_all(models)
    _check_lengths(given, options)
    answer: dict[str, Any] = {"models": [size_of(each, options.tokens) for each in given]}
    if options.speed:
        answer |= _run(given, answer["models"], options, precision)
    if options.gpu is not None:
        answer["gpu"] = _estimate(given, answer["models"], options, precision)
    return answer


def _run(
    given: Sequence[Given], answers: list[dict[str, Any]], options: Options, precision: Precision
) -> dict[str, Any]:
    """Run all, put what was found beside their sizes, and say what it was found on."""
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    threads, device = torch.get_num_threads(), device_named(options.device)
    asked = MeasureConfig(
        _workload(given, options),
        batch=options.batch,
        rounds=options.rounds,
        threads=threads,
        memory=parse_bytes(options.memory, "An amount of memory"),
        precision=precision,
    )
    entrants = [
        Entry(each.name, _loader(each, threads, device), each.config.shape) for each in given
    ]
    report = measure(entrants, asked, progress=progress_of(None))
    if not options.anyway:
        report.noise.check()
    for each, found in zip(answers, report.models.values(), strict=True):
        each |= _record(found)
    about = _about(report, asked, options, device)
    about["measured"]["notes"] = [
        f"{each.name} was exported with its {each.readout} readout and is run with it; models that "
        "are no exports run without."
        for each in given
        if each.export and each.readout != "hidden-states"
    ]
    return about


def _loader(given: Given, threads: int, device: str) -> ModelLoader | ExportLoader:
    if given.export:
        return ExportLoader(str(Path(given.path).expanduser()), threads)
    return ModelLoader(given.path, device)


def _about(
    report: MeasurementReport, asked: MeasureConfig, options: Options, device: str
) -> dict[str, Any]:
    return {
        "measured": {
            "batch": asked.batch,
            "tokens": None if options.corpus else options.tokens,
            "corpus": options.corpus,
            "rounds": asked.rounds,
            "memory_budget_bytes": asked.memory,
            "device": device,
            "precision": asked.precision,
            "interval": "95 %, of the ratio to the first model",
        },
        "noise": report.noise.record(),
        "machine": machine(),
    }


def _record(found: ModelMeasurement) -> dict[str, Any]:
    """What was found of a model, for JSON."""
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
            "tried": [asdict(each) for each in found.best.trials],
            **_speed(found.at_best),
        }
    return record


def _speed(speed: SpeedResult) -> dict[str, Any]:
    record = asdict(speed)
    record["percentile_seconds"] = {f"p{p}": t for p, t in record.pop("percentiles").items()}
    return record


def _workload(given: Sequence[Given], options: Options) -> Workload:
    """What all of them can read."""
    words = min(each.config.shape.vocab_size for each in given)
    if options.corpus is None:
        return Workload(words, options.tokens)
    tokenizers = (load_tokenizer(find(each.path)) for each in given)
    tokenizer = next((each for each in tokenizers if each is not None), None)
    if tokenizer is None:
        raise ConfigError(
            "None of the models has a tokenizer to read --corpus with. Leave it out to measure "
            "sentences of --tokens tokens."
        )
    return real_sentences(options.corpus, tokenizer, words, options.tokens)


def _estimate(
    given: Sequence[Given], answers: list[dict[str, Any]], options: Options, precision: Precision
) -> dict[str, Any]:
    """Put beside each model what a GPU could make of it, and say which GPU."""
    name = str(options.gpu)
    every = [
        bound(
            each.config.shape,
            name,
            batch=options.batch,
            tokens=options.tokens,
            precision=precision,
        )
        for each in given
    ]
    for each, own, answer in zip(given, every, answers, strict=True):
        answer["gpu"] = {
            **asdict(own),
            "ratio": every[0].seconds / own.seconds,
            "break_even_tokens": break_even_tokens(each.config.shape, name, precision=precision),
        }
    return {
        "name": name,
        "batch": options.batch,
        "tokens": options.tokens,
        "precision": precision,
        "is": "an estimate from data sheets, not a measurement",
    }


def _check_lengths(given: Sequence[Given], options: Options) -> None:
    if not options.speed:
        return
    for each in given:
        config = each.config
        first = (config.pad_token_id or 0) + 1 if config.padded_positions else 0
        longest = config.shape.positions - first
        if options.tokens > longest:
            raise ConfigError(
                f"{each.name} reads up to {longest} tokens, not --tokens {options.tokens}."
            )


def _precision(name: str) -> Precision:
    for known in PRECISIONS:
        if known == name:
            return known
    raise ConfigError(f"--precision is {', '.join(PRECISIONS[:-1])} or float16, not {name!r}.")
