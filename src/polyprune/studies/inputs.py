"""What a study needs before its first cell: its data, and what its files hold."""

import subprocess
from pathlib import Path
from typing import Any

from ..corpora.text import text_folder
from ..errors import ConfigError
from ..loading.hub import find
from ..measuring.machine import machine
from ..training.run import versions
from .cell_store import folder_hash
from .study_cells import InputHashes
from .study_config import Study


def prepare_data(study: Study, out: Path) -> str:
    """Where the tasks are: the miniature is made in `out/data`, unless it is there."""
    if study.data != "miniature":
        if not Path(study.data).expanduser().is_dir():
            raise ConfigError(
                f"There is no folder {study.data}. Give one in XTREME's layout, or miniature."
            )
        return str(Path(study.data).expanduser().resolve())
    folder = out / "data"
    if not folder.is_dir():
        from ..miniature.write_tasks import write_miniature

        write_miniature(folder)
    return str(folder)


def hash_inputs(study: Study, data: str) -> tuple[InputHashes, Path]:
    """What model, data and corpus are, and the model's folder."""
    model = find(study.model).resolve()
    corpus = study.corpus or ""
    if corpus and text_folder(corpus).is_dir():
        corpus = folder_hash(text_folder(corpus))
    return InputHashes(folder_hash(model), folder_hash(Path(data)), corpus), model


def environment_facts() -> dict[str, Any]:
    """What results may depend on beside their settings."""
    return {
        "commit": _commit(),
        "versions": versions(),
        "machine": machine(),
    }


def _commit() -> str | None:
    """Of the source, where it is a repository."""
    here = Path(__file__).parent
    try:
        asked = ["git", "-C", str(here), "rev-parse", "--short=12", "HEAD"]
        run = subprocess.run(asked, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout.strip() or None if run.returncode == 0 else None
