"""Export a model to a folder for another runtime: written, opened, compared, and only then kept."""

import copy
import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from ..errors import CheckpointError, ConfigError
from ..model.network.folder import carry_side_files, write_certificate
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..provenance.origin import complete_history
from ..storage import atomic_folder
from .export_card import write_export_card
from .export_graph import ExportGraph
from .export_text import ExportTexts, RandomTokens
from .output_difference import OutputDifference, compare_outputs
from .quantization import quantize, to_half_precision
from .runners import EXPORT_RECORD, open_runner
from .runtime_files import write_onnx, write_openvino
from .runtimes import check_precision, runtime_named

EXACT_TOLERANCE = 1e-4
"""The tolerated difference of a single-precision export: rounding in another order."""


@dataclass(frozen=True, slots=True)
class ExportConfig:
    """The runtime, precision and options of an export."""

    runtime: str = "onnx"
    precision: str = "fp32"
    pooled: bool = False
    """Whether a sentence encoder outputs one vector per sentence rather than hidden states."""
    threads: int = 0
    """The threads that the runtime may use for the comparison; all if 0."""

    def __post_init__(self):
        runtime_named(self.runtime)
        check_precision(self.precision)


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written, its size, and its difference to the model."""

    out: Path
    runtime: str
    precision: str
    readout: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    longest: int
    """The maximum number of tokens of an input."""
    pooling: str | None
    prompt: str
    bytes_before: int
    """The bytes of the model's weights."""
    bytes: int
    """The bytes of the exported files."""
    calibrated: dict[str, int]
    """Lines per language that calibrated int8."""
    differences: dict[str, OutputDifference]
    versions: dict[str, str]

    @property
    def largest(self) -> float:
        """The largest difference in any language."""
        return max(each.largest for each in self.differences.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return asdict(self) | {"out": str(self.out), "largest_difference": self.largest}


def export(
    model: PolyprunePreTrainedModel,
    out: Path,
    plan: ExportConfig,
    texts: ExportTexts | RandomTokens,
    *,
    force: bool = False,
) -> ExportReport:
    """Export a model to a folder, which is kept only if its outputs match the model's."""
    runtime = runtime_named(plan.runtime)
    runtime.need(to_make=True)
    pooling = _pooling(model) if plan.pooled else None
    _refuse(model, plan, texts)
    complete_history(model)
    before = sum(weight.nbytes for weight in model.parameters())
    model = _single(model)
    with atomic_folder(out, force=force) as folder:
        graph = _write_model(model, folder, plan, texts, pooling)
        _write_config(model, folder)
        source = model.source.folder
        if source is not None and source.is_dir():
            carry_side_files(source, folder, folder)
        runner = open_runner(folder, plan.runtime, plan.threads)
        differences = compare_outputs(model, runner, texts, pooling)
        _check(differences, plan.precision)
        files = [path for path in (folder / runtime.file).parent.iterdir() if path.is_file()]
        made = ExportReport(
            out=out,
            runtime=plan.runtime,
            precision=plan.precision,
            readout=model.readout_kind.name,
            inputs=texts.inputs,
            outputs=graph.outputs,
            longest=model.longest_input,
            pooling=pooling,
            prompt=texts.prompt if isinstance(texts, ExportTexts) else "",
            bytes_before=before,
            bytes=sum(path.stat().st_size for path in files),
            calibrated=_lines(plan, texts),
            differences=differences,
            versions=_versions(plan.runtime),
        )
        text = json.dumps(made.as_dict() | {"out": out.name}, indent=2, ensure_ascii=False)
        (folder / EXPORT_RECORD).write_text(text + "\n", encoding="utf-8")
        write_export_card(folder, made)
        write_certificate(folder, {code: each.largest for code, each in differences.items()})
        del runner  # which may hold the files
    return made


def _write_model(
    model: PolyprunePreTrainedModel,
    folder: Path,
    plan: ExportConfig,
    texts: ExportTexts | RandomTokens,
    pooling: str | None,
) -> ExportGraph:
    graph = ExportGraph(model, pooling).eval()
    if plan.precision == "int8":
        assert isinstance(texts, ExportTexts)
        graph = quantize(graph, texts.to_calibrate())
    elif plan.precision == "fp16" and plan.runtime == "onnx":
        graph = to_half_precision(graph)
    types = "token_type_ids" in texts.inputs
    path = folder / runtime_named(plan.runtime).file
    if plan.runtime == "onnx":
        write_onnx(graph, path, token_types=types)
        return graph
    through = folder / ".onnx"  # OpenVINO's files are made of it
    write_onnx(graph, through / "model.onnx", token_types=types)
    write_openvino(through / "model.onnx", path, half=plan.precision == "fp16")
    shutil.rmtree(through)
    return graph


def _write_config(model: PolyprunePreTrainedModel, folder: Path) -> None:
    """Write the config without a reference to custom code, which tokenizers would ask about."""
    said = {name: value for name, value in model.config.to_dict().items() if name != "auto_map"}
    text = json.dumps(said, indent=2, ensure_ascii=False) + "\n"
    (folder / "config.json").write_text(text, encoding="utf-8")


def _single(model: PolyprunePreTrainedModel) -> PolyprunePreTrainedModel:
    """Return the model in single precision on the CPU, as the graph expects."""
    if model.dtype == torch.float32 and model.device.type == "cpu":
        return model
    return copy.deepcopy(model).to(device="cpu", dtype=torch.float32)  # pyright: ignore


def _pooling(model: PolyprunePreTrainedModel) -> str:
    source = model.source
    if source.folder is None or not (model.readout_kind.embeds and source.pools):
        raise ConfigError(
            "`pooled` is for sentence encoders, which say beside the model how sentences are "
            "pooled (1_Pooling). Leave it out."
        )
    other = source.beyond_pooling
    if other is not None:
        raise ConfigError(
            f"{source.folder.name} embeds sentences with {other}, which is not built in: leave "
            "`pooled` out, and do that yourself."
        )
    return source.pooling


def _refuse(
    model: PolyprunePreTrainedModel, plan: ExportConfig, texts: ExportTexts | RandomTokens
) -> None:
    if model.elastic is not None:
        raise ConfigError(
            "This folder holds a model of every size. Take one out first: "
            "polyprune shrink FOLDER --sparsity 0.5 --out small."
        )
    if plan.precision == "int8" and isinstance(texts, RandomTokens):
        raise ConfigError(
            "int8 takes its ranges from text, which a model without a tokenizer cannot read. "
            "Copy its tokenizer beside it, or choose fp32 or fp16."
        )


def _check(differences: dict[str, OutputDifference], precision: str) -> None:
    allowed = EXACT_TOLERANCE if precision == "fp32" else float("inf")
    code, worst = max(differences.items(), key=lambda item: item[1].largest)
    if not worst.largest < allowed:
        raise CheckpointError(
            f"The exported file differs from the model by {worst.largest:.2g} in {code}, and may "
            f"by {min(allowed, 1e30):.0e}: it was not kept. Try the other runtime, or other "
            "versions of torch, onnxscript and the runtime."
        )


def _lines(plan: ExportConfig, texts: ExportTexts | RandomTokens) -> dict[str, int]:
    if plan.precision != "int8" or isinstance(texts, RandomTokens):
        return {}
    return {code: len(lines) for code, lines in texts.calibrated.items()}


def _versions(runtime: str) -> dict[str, str]:
    from importlib.metadata import version

    wanted = {"onnx": ("onnxruntime",), "openvino": ("openvino",)}[runtime]
    return {name: version(name) for name in ("torch", "onnxscript", *wanted)}
