"""Exporting: ONNX and OpenVINO files, which are compared with the model before they are kept."""
