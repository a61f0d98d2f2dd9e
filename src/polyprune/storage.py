"""Atomic writes: files and folders appear completely or not at all."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import ConfigError


@contextmanager
def atomic_folder(path: Path, *, force: bool = False) -> Iterator[Path]:
    """A temporary sibling of `path` to write into, renamed to `path` once the block has ended well.

    When anything goes wrong, a full disk or Ctrl-C, the temporary folder is removed and whatever
    was at `path` before is still there.
    """
    refuse_to_overwrite(path, force=force)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    temporary.chmod(0o755)  # mkdtemp's 0700 would keep others from reading the model
    try:
        yield temporary
        _replace(path, temporary)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def final_name(path: Path) -> str:
    """Return the final name of a temporary folder of `atomic_folder`."""
    found = re.fullmatch(r"\.(.+)\.[a-z0-9_]{8}", path.name)
    return found.group(1) if found else path.resolve().name


@contextmanager
def atomic_file(path: Path, *, force: bool = False) -> Iterator[Path]:
    """A temporary name beside `path`, renamed to `path` once the block has ended well."""
    refuse_to_overwrite(path, force=force, kind="file")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.touch()  # so that a place where nothing can be written says so itself
    mode = temporary.stat().st_mode
    try:
        yield temporary
        temporary.chmod(mode)  # safetensors would keep others from reading it
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def refuse_to_overwrite(path: Path, *, force: bool, kind: str = "folder") -> None:
    """Raise unless `path` is free, or holds our own kind of output and `force` is set."""
    other = path.is_dir() if kind == "file" else path.is_file()
    if other:
        there = "folder" if kind == "file" else "file"
        raise ConfigError(
            f"{path} is a {there} that exists already. Choose another name for the {kind}."
        )
    if path.is_dir() and any(path.iterdir()) and not (path / "config.json").is_file():
        raise ConfigError(
            f"{path} is a folder of something else. Choose another name for the model."
        )
    if path.exists() and not force:
        raise ConfigError(
            f"{path} exists already. Choose another name, or pass `force` to replace it."
        )


def cache_folder() -> Path:
    """Return the cache folder of this machine: `polyprune` in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "polyprune"


def _replace(path: Path, new: Path) -> None:
    if not path.exists():
        new.rename(path)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
    path.rename(old / path.name)
    try:
        new.rename(path)
    except OSError:
        (old / path.name).rename(path)
        raise
    finally:
        if path.exists():
            shutil.rmtree(old, ignore_errors=True)
