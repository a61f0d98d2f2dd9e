"""MODELS FOR OTHER RUNTIMES: ONNX and OpenVINO files, compared with the model before kept."""
