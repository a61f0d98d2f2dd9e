"""What a model folder carries beside its weights: tokenizer, side files, certificate."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

CARD = "README.md"
CERTIFICATE = "certificate.json"
GATING = "gating.safetensors"
"""What makes a folder elastic: the gates of every size, one row per language."""
SIDE_FILES = (
    # tokenizers
    "tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt",
    "sentencepiece*", "spiece.model", "chat_template*",
    # sentence-transformers
    "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json",
    # the original's licence
    "LICENSE*", "LICENCE*", "NOTICE*",
)  # fmt: skip


def add_side_files(new: Path, source: Path | None, newer: Path | None = None) -> None:
    """Put what lies beside the weights of `source` into a new folder of weights and config.

    A side file that `newer` has already stays as it is there: a tokenizer that has grown since.
    """
    for weights in new.glob("*.safetensors"):  # which safetensors writes for one user alone
        shutil.copymode(new / "config.json", weights)
    if source is not None and source.is_dir():
        carry_side_files(source, new, newer or new)


def carry_side_files(source: Path, target: Path, newer: Path) -> None:
    """Copy tokenizer, sentence-transformers modules and licence from one folder to another."""
    for path in _side_files(source):
        name = path.relative_to(source)
        if not (newer / name).exists() and not (target / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / name)


def _side_files(source: Path) -> Iterator[Path]:
    for pattern in SIDE_FILES:
        yield from (path for path in source.glob(pattern) if path.is_file())
    for module in _modules(source):
        folder = (source / module).resolve()
        if module and folder.is_relative_to(source.resolve()):  # never out of the folder
            yield from (path for path in (source / module).rglob("*") if path.is_file())


def _modules(source: Path) -> list[str]:
    """The folders of a sentence-transformers model; the transformer itself lives in the root."""
    try:
        modules = json.loads((source / "modules.json").read_text(encoding="utf-8"))
        return [str(module["path"]) for module in modules]
    except (OSError, ValueError, KeyError, TypeError):
        return []  # no sentence-transformers model, or none that it could load


def write_certificate(folder: Path, differences: Mapping[str, float] | None = None) -> None:
    """Write `certificate.json`: what the model was checked against, and a hash of every file.

    `differences` holds the largest |gated − shrunk| on a probe batch in each kept language.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    certificate = {
        "largest_difference": max(differences.values()) if differences else None,
        "differences": dict(differences or {}),
        "sha256": {
            path.relative_to(folder).as_posix(): sha256(path)
            for path in files
            if path.name != CERTIFICATE
        },
    }
    text = json.dumps(certificate, indent=2, ensure_ascii=False) + "\n"
    (folder / CERTIFICATE).write_text(text, encoding="utf-8")


def update_checksum(folder: Path, name: str) -> None:
    """Let the certificate vouch for a file that was written anew; nothing without a certificate."""
    certificate = read_certificate(folder)
    if certificate is not None and isinstance(certificate.get("sha256"), dict):
        certificate["sha256"][name] = sha256(folder / name)
        text = json.dumps(certificate, indent=2, ensure_ascii=False) + "\n"
        (folder / CERTIFICATE).write_text(text, encoding="utf-8")


def read_certificate(folder: Path) -> dict | None:
    """The certificate of a folder, or None where there is none."""
    path = folder / CERTIFICATE
    if not path.is_file():
        return None
    try:
        certificate = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        certificate = None
    if not isinstance(certificate, dict):  # it vouches for nothing, itself included
        return {"sha256": {CERTIFICATE: "not valid JSON"}}
    return certificate


def checksum_mismatches(folder: Path, pattern: str = "*") -> list[str]:
    """The files that are missing or differ from what `certificate.json` says of them."""
    hashes = (read_certificate(folder) or {}).get("sha256", {})
    return [
        name
        for name, expected in hashes.items()
        if Path(name).match(pattern)
        and not ((folder / name).is_file() and sha256(folder / name) == expected)
    ]


def sha256(path: Path) -> str:
    """The SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def swapped_in(folder: Path) -> Iterator[Path]:
    """A temporary folder whose files replace those of `folder` once the block has ended well.

    When anything goes wrong, a full disk or Ctrl-C, what was in `folder` is still there.
    """
    there = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        # Inside `folder`: on the same disk, and writable wherever the folder is.
        with tempfile.TemporaryDirectory(prefix=".saving.", dir=folder) as temporary:
            new = Path(temporary)
            yield new
            written = [path.relative_to(new) for path in new.rglob("*") if path.is_file()]
            for name in written:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (new / name).replace(folder / name)
            _remove_stale_weights(folder, {str(name) for name in written})
    except BaseException:
        if not there:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _remove_stale_weights(folder: Path, written: set[str]) -> None:
    """Remove the one file, or the shards and the index, that the new weights took the place of."""
    one, index = "model.safetensors", "model.safetensors.index.json"
    if one in written or index in written:
        stale = (folder / one, folder / index, folder / GATING)
        for path in (*stale, *folder.glob("model-*-of-*.safetensors")):
            if path.name not in written:
                path.unlink(missing_ok=True)
