"""Write a graph as an ONNX file, and convert that to OpenVINO's files."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from ..errors import ConfigError
from .export_graph import ExportGraph

OPSET = 20
"""The first opset with GELU; from 23 on attention is one operation, which few runtimes support."""

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write_onnx(graph: ExportGraph, path: Path, *, token_types: bool = False) -> None:
    """Write the graph; `token_types` says whether the model takes `token_type_ids`."""
    import onnx_ir
    from onnx_ir.passes.common import ClearMetadataAndDocStringPass

    inputs = INPUTS if token_types else INPUTS[:2]
    # Sizes that an exporter cannot take for constants: neither 0 nor 1, nor one another.
    ids = torch.full((2, 7), 3)
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    example = (ids, mask, torch.zeros_like(ids))[: len(inputs)]
    free = torch.export.Dim.DYNAMIC
    # Names for one input are enough: the exporter sees that the others have the same axes.
    axes = {name: {0: free, 1: free} for name in inputs} | {inputs[0]: {0: "batch", 1: "sequence"}}
    with _quietly(), torch.no_grad():
        program = torch.onnx.export(
            graph.eval(),
            example,
            dynamo=True,
            verbose=False,
            opset_version=OPSET,
            input_names=list(inputs),
            output_names=list(graph.outputs),
            dynamic_shapes=axes,
        )
    assert program is not None
    for port in program.model.graph.inputs:
        fixed = [size for size in port.shape or () if isinstance(size, int)]
        assert not fixed, f"{port.name} came out with fixed sizes: {port.shape}"
    # Where every operation stood in whose source: else the file says where polyprune is installed.
    ClearMetadataAndDocStringPass()(program.model)
    path.parent.mkdir(parents=True, exist_ok=True)
    size = sum(value.nbytes for value in _weights(program.model))
    beside = f"{path.name}.data" if size > TOO_LARGE else None
    onnx_ir.save(program.model, path, external_data=beside)


TOO_LARGE = 1_900_000_000
"""The size limit of a protocol buffer file; larger weights are stored beside it."""


def _weights(model) -> list:
    return [
        value.const_value
        for value in model.graph.initializers.values()
        if value.const_value is not None
    ]


@contextmanager
def _quietly() -> Iterator[None]:
    """Silence the exporter's warnings inside the block."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)


def write_openvino(source: Path, path: Path, *, half: bool) -> None:
    """Write `path` and the weights beside it; `half` stores them in half precision."""
    import openvino

    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        openvino.save_model(openvino.convert_model(source), path, compress_to_fp16=half)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1]
        raise ConfigError(
            f"OpenVINO {openvino.__version__} does not take this model ({reason}). "
            "Export it `to='onnx'`."
        ) from error
