"""What `polyprune.export` is asked for."""

from dataclasses import dataclass
from typing import Annotated

from ..request import Option, Request
from .shared import Force, Languages, Out, TextLike


@dataclass(frozen=True, kw_only=True)
class ExportRequest(Request):
    """The runtime and the precision of the file, and the text that it is compared on."""

    out: Out = None
    to: Annotated[str, Option("The runtime: onnx or openvino.")] = "onnx"
    precision: Annotated[
        str, Option("fp32, fp16 (half the file) or int8 (a quarter, and faster).")
    ] = "fp32"
    corpus: Annotated[
        TextLike,
        Option(
            "Text to compare on and take int8's ranges from: a folder, one file per language "
            "(sw.txt, ur.txt.xz), or sample."
        ),
    ] = "sample"
    languages: Languages = None
    pooled: Annotated[
        bool,
        Option(
            "For sentence encoders: one vector per sentence, or the hidden states.",
            flag="--pooled/--hidden",
        ),
    ] = False
    threads: Annotated[int, Option("Threads that the runtime may use; 0 is all.", least=0)] = 0
    force: Force = False
