"""What was measured, as tables of at most 80 columns, and what to make of them."""

from collections.abc import Iterator, Mapping
from textwrap import fill
from typing import Any

from ..quantities import readable
from ..reporting.tables.table import Table
from .result import WIDTH, make_table


def measured_tables(answer: Mapping[str, Any]) -> Iterator[Table | str]:
    """Sizes; then speed, latency, best batch sizes and a GPU's roofs, as far as they are there."""
    models = _short_names(answer["models"])
    yield _sizes(models)
    if "measured" in answer:
        yield _speed(models, answer)
        yield _latency(models, answer["measured"])
        if any("best_batch" in each for each in models):
            yield _best_batches(models, answer["measured"])
        for note in answer["measured"]["notes"]:
            yield _wrapped(note)
        if answer["noise"]["warnings"]:
            yield _wrapped(f"Not a quiet machine: {'; '.join(answer['noise']['warnings'])}.")
    if "gpu" in answer:
        yield _gpu(models, answer["gpu"])
        yield _wrapped("From data sheets, at best. Width pays from so many tokens in a batch on.")


def _sizes(models: list[dict[str, Any]]) -> Table:
    counts = ("parameters", "embedding_parameters", "encoder_parameters", "readout_parameters")
    return make_table(
        ["model", "parameters", "embedding", "encoder", "readout", "weights", "multiply\n–adds"],
        [
            [
                each["model"],
                *(readable(each[name]) for name in counts),
                readable(each["bytes"], "B"),
                readable(each["multiply_adds"]),
            ]
            for each in models
        ],
        title=f"one sequence of {models[0]['tokens']} tokens",
    )


def _speed(models: list[dict[str, Any]], answer: Mapping[str, Any]) -> Table:
    machine, measured = answer["machine"], answer["measured"]
    rows = []
    for each in models:
        speed = each["speed"]
        rows.append(
            [
                each["model"],
                _count(speed["sentences_per_second"]),
                _count(speed["tokens_per_second"]),
                *_faster(speed),
                "–" if each["ideal_ratio"] is None else f"{each['ideal_ratio']:.2f}×",
                readable(each["peak_memory_bytes"], "B"),
            ]
        )
    return make_table(
        ["model", "sentences\na second", "tokens\na second", "faster", "95 %", "ideal", "memory"],
        rows,
        title=f"{_sentences(measured['batch'], measured)} at a time on {_place(machine, measured)}",
    )


def _latency(models: list[dict[str, Any]], measured: dict[str, Any]) -> Table:
    shown = sorted({p for each in models for p in each["latency"]["percentile_seconds"]}, key=_of)
    return make_table(
        ["model", *(f"{_of(p)} % within" for p in shown), "sentences"],
        [
            [
                each["model"],
                *(_milliseconds(each["latency"]["percentile_seconds"].get(p)) for p in shown),
                f"{each['latency']['calls']:,}",
            ]
            for each in models
        ],
        title=f"Latency: {_sentences(1, measured)} at a time",
    )


def _best_batches(models: list[dict[str, Any]], measured: dict[str, Any]) -> Table:
    why = {"memory": "memory is full", "speed": "no faster", "largest": "large enough"}
    return make_table(
        ["model", "batch", "memory", "sentences\na second", "faster", "95 %", "beyond it"],
        [
            [
                each["model"],
                f"{best['batch']}",
                readable(best["peak_memory_bytes"], "B"),
                _count(best["sentences_per_second"]),
                *_faster(best),
                why[best["stopped_by"]],
            ]
            for each in models
            for best in (each["best_batch"],)
        ],
        title=f"Best batch size within {readable(measured['memory_budget_bytes'], 'B')}",
    )


def _gpu(models: list[dict[str, Any]], gpu: dict[str, Any]) -> Table:
    rows = []
    for each in models:
        own = each["gpu"]
        rows.append(
            [
                each["model"],
                *(f"{1e3 * own[name]:.3g}" for name in ("compute", "memory", "launch", "seconds")),
                own["binds"],
                f"{own['ratio']:.2f}×",
                f"from {own['break_even_tokens']:,}",
            ]
        )
    return make_table(
        [
            "model",
            "compute",
            "memory",
            "launch",
            "at best",
            "bound by",
            "faster",
            "width pays",
        ],
        rows,
        title=f"A {gpu['name']} on paper: {gpu['batch']} × {gpu['tokens']} tokens, "
        f"{gpu['precision']}, in milliseconds",
    )


def _wrapped(sentence: str) -> str:
    """Below a table, as wide as it."""
    return fill(sentence, WIDTH) + "\n"


def _short_names(models: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Folders by the last part of their paths, where that tells them apart."""
    names = [each["model"].rstrip("/").rpartition("/")[2] for each in models]
    if len(set(names)) < len(names):
        return models
    return [{**each, "model": name} for each, name in zip(models, names, strict=True)]


def _sentences(batch: int, measured: dict[str, Any]) -> str:
    many = "1 sentence" if batch == 1 else f"{batch} sentences"
    if measured["corpus"]:
        return f"{many} of {measured['corpus']}"
    return f"{many} of {measured['tokens']} tokens"


def _place(machine: dict[str, Any], measured: dict[str, Any]) -> str:
    if measured["device"].startswith("cuda"):
        return f"{machine.get('gpu', 'a GPU')}, {measured['precision']}"
    threads = machine["threads"]
    return f"{machine['cpu']}, {threads} thread{'s' if threads > 1 else ''}"


def _faster(speed: dict[str, Any]) -> tuple[str, str]:
    """The ratio to the first and its interval, to as many digits as there is to know."""
    if speed["low"] == speed["high"] == 1:  # the first, beside itself
        return "1×", ""
    digits = 3 if speed["high"] - speed["low"] < 0.02 else 2
    low, high = f"{speed['low']:.{digits}f}", f"{speed['high']:.{digits}f}"
    return f"{speed['ratio']:.{digits}f}×", f"{low}–{high}"


def _milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{1e3 * seconds:.3g} ms"


def _count(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _of(percentile: str) -> int:
    return int(percentile.removeprefix("p"))
