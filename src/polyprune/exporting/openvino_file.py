"""Convert an ONNX file to OpenVINO's two files."""

from pathlib import Path

from ..errors import ConfigError


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
            "Export it --to onnx."
        ) from error
