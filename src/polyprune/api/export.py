"""`polyprune.export`: a file for ONNX Runtime or OpenVINO, compared with the model first."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..exporting import export_model
from ..exporting.export_card import snippet
from ..exporting.export_model import ExportConfig, ExportReport
from ..exporting.export_text import export_texts
from ..exporting.runtimes import runtime_named
from ..progress import Progress
from ..quantities import readable
from ..reporting.tables.table import Table
from ..storage import atomic_folder, refuse_to_overwrite
from .inputs import ModelLike, resolve_corpus, resolve_model, work_folder
from .requests.export import ExportRequest
from .result import Result, make_table
from .verb import verb


@dataclass(frozen=True, slots=True, repr=False)
class ExportResult(Result):
    """An exported folder, how large it is, and how far its outputs are from the model's."""

    report: ExportReport
    temporary: Any = None
    """Keeps the folder for as long as the result, where no place was given."""

    @property
    def folder(self) -> Path:
        """The exported folder."""
        return self.report.out

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Copy the exported folder to another place, and return its path."""
        with atomic_folder(Path(folder), force=force) as new:
            shutil.copytree(self.folder, new, dirs_exist_ok=True)
        return Path(folder)

    def as_dict(self) -> dict[str, Any]:
        """What was written, and the differences by language."""
        return self.report.as_dict() | ({"out": None} if self.temporary else {})

    def summary(self) -> Iterator[Table | str]:
        """The differences to the model, the sizes, and how to run it."""
        made = self.report
        yield make_table(
            ["language", "largest\ndifference", "cosine", "agreement"],
            [
                [code, f"{each.largest:.1e}", f"{each.cosine:.5f}", f"{each.agreement:.0%}"]
                for code, each in made.differences.items()
            ],
            title=f"{made.runtime} {made.precision} against the model",
        )
        sizes = f"Weights {readable(made.bytes_before, 'B')}, file {readable(made.bytes, 'B')}."
        if self.temporary:
            yield sizes
        else:
            yield f"{sizes} Written to {made.out}. Run it:\n"
            yield snippet(made)


@verb(ExportRequest)
def export(model: ModelLike, request: ExportRequest, progress: Progress) -> ExportResult:
    """Write a model as a file for ONNX Runtime or OpenVINO, once it does what the model does.

    The file is opened and compared with the model on real text, language by language. In single
    precision it has to be equal; otherwise the differences are in the result, and written beside
    it.
    """
    config = ExportConfig(request.to, request.precision, request.pooled, request.threads)
    out, temporary = work_folder(request.out)
    # Before anything is loaded, not only when it is written.
    refuse_to_overwrite(out, force=request.force)
    runtime_named(request.to).need(to_make=True)
    loaded = resolve_model(model)
    corpus = resolve_corpus(request.corpus)
    texts = export_texts(loaded, corpus, request.languages)
    report = export_model.export(loaded, out, config, texts, force=request.force)
    return ExportResult(report, temporary)
