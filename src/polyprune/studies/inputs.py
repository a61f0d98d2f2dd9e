"""The inputs of a study: its data, and hashes of its files."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..corpora.text import text_folder
from ..errors import ConfigError
from ..loading.finding import find
from ..measuring.machine import machine
from ..versions import versions
from .cell_store import folder_hash
from .study_cells import InputHashes
from .study_config import Study


def prepare_data(study: Study, out: Path) -> str:
    """Return the folder of the tasks; write the miniature to `out/data` if needed."""
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


def find_labels(study: Study) -> Study:
    """Return the study with the full path of its labels; raise if there is no such folder."""
    if study.labels is None:
        return study
    folder = Path(study.labels).expanduser().resolve()
    if not folder.is_dir():
        raise ConfigError(f"There is no folder {study.labels} of labels. Give another `labels`.")
    return replace(study, labels=str(folder))


def hash_inputs(study: Study, data: str) -> tuple[InputHashes, Path]:
    """Hash the study's model, data and corpus; return the hashes and the model's folder."""
    model = find(study.model).resolve()
    corpus = study.corpus or ""
    if corpus and text_folder(corpus).is_dir():
        corpus = folder_hash(text_folder(corpus))
    labels = "" if study.labels is None else folder_hash(Path(study.labels))
    return InputHashes(folder_hash(model), folder_hash(Path(data)), corpus, labels), model


def environment_facts() -> dict[str, Any]:
    """Return the versions and hardware that results may depend on."""
    return {
        "commit": _commit(),
        "versions": versions(),
        "machine": machine(),
    }


def _commit() -> str | None:
    """Return the commit of the source code, if it is a git repository."""
    here = Path(__file__).parent
    try:
        asked = ["git", "-C", str(here), "rev-parse", "--short=12", "HEAD"]
        run = subprocess.run(asked, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout.strip() or None if run.returncode == 0 else None
