"""Small files of tasks, as text by their path."""

from pathlib import Path


def write(folder: Path, files: dict[str, str]) -> str:
    """A folder with these files, as readers take it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return str(folder)
