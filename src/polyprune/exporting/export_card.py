"""The README of an exported folder: how to run it, and how far it is from the model."""

from pathlib import Path
from typing import TYPE_CHECKING

from .runtimes import RUNTIMES

if TYPE_CHECKING:
    from .export_model import ExportReport

SNIPPETS = {
    "onnx": """\
import onnxruntime
from transformers import AutoTokenizer

tokenizer, session = AutoTokenizer.from_pretrained("{folder}"), onnxruntime.InferenceSession("{folder}/{file}")
batch = tokenizer(["{prompt}Habari ya asubuhi!"], padding=True, truncation=True, max_length={longest}, return_tensors="np")
print(session.run(None, {{port.name: batch[port.name] for port in session.get_inputs()}})[0])
""",  # noqa: E501
    "openvino": """\
import openvino
from transformers import AutoTokenizer

tokenizer, model = AutoTokenizer.from_pretrained("{folder}"), openvino.Core().compile_model("{folder}/{file}", "CPU")
batch = tokenizer(["{prompt}Habari ya asubuhi!"], padding=True, truncation=True, max_length={longest}, return_tensors="np")
print(model({{port.any_name: batch[port.any_name] for port in model.inputs}})[0])
""",  # noqa: E501
}
"""One entry per runtime."""

PRECISIONS = {
    "fp32": "single precision",
    "fp16": "weights stored in half precision, computed in single",
    "int8": "weights and inputs of products in bytes, words in one byte per value",
}


def write_export_card(folder: Path, report: "ExportReport") -> None:
    """Write `README.md`."""
    (folder / "README.md").write_text(card_text(report), encoding="utf-8")


def snippet(report: "ExportReport") -> str:
    """Return three lines of Python that run the file with its tokenizer."""
    return SNIPPETS[report.runtime].format(
        folder=report.out.name,
        file=RUNTIMES[report.runtime].file,
        prompt=report.prompt,
        longest=report.longest,
    )


def card_text(report: "ExportReport") -> str:
    """Return the text of the README."""
    runtime = RUNTIMES[report.runtime]
    rows = "\n".join(
        f"| {code} | {each.largest:.1e} | {each.cosine:.5f} | {each.agreement:.0%} |"
        for code, each in report.differences.items()
    )
    shape = "(batch, sequence)"
    calibrated = ""
    if report.calibrated:
        counts = ", ".join(f"{code} {count}" for code, count in report.calibrated.items())
        calibrated = f"\nRanges of inputs were taken from lines of text: {counts}.\n"
    return f"""\
# {report.out.name}

A {report.readout} model for {runtime.title}, {report.precision}: {PRECISIONS[report.precision]}. \
Exported by polyprune.

```python
{snippet(report)}```

- in: {", ".join(f"`{name}`" for name in report.inputs)}, each {shape} of int64, at most \
{report.longest} tokens
- out: {", ".join(f"`{name}`" for name in report.outputs)}
- {report.bytes / 1e6:.1f} MB; the model's weights were {report.bytes_before / 1e6:.1f} MB
- made with {", ".join(f"{name} {number}" for name, number in report.versions.items())}
{calibrated}
Its outputs were compared with those of the model before it was kept, on sentences of every
language: the largest difference of any number that comes out, the mean cosine of the vectors, and
how often the first choice (of embeddings, the nearest other sentence) is the same.

| language | largest difference | cosine | agreement |
|---|---|---|---|
{rows}

`export.json` has the same for programs, `certificate.json` a hash of every file.
"""
