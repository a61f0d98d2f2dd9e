"""`polyprune export`: a file for ONNX Runtime or OpenVINO, compared with the model first."""

from typing import TYPE_CHECKING

import polyprune

from ..api.requests.export import ExportRequest
from .command import ModelName, command

if TYPE_CHECKING:
    from ..api.export import ExportResult


@command(ExportRequest)
def export(model: ModelName, request: ExportRequest) -> "ExportResult":
    """Write a model as a file for ONNX Runtime or OpenVINO, once it does what the model does.

    The file is opened and compared with the model on real text, language by language. In single
    precision it has to be equal; otherwise the differences are told, and written beside it.

    Example: polyprune export sprout --to onnx --precision int8 --out sprout-onnx
    """
    return polyprune.export(model, request)
