"""What a model folder carries beside its weights: tokenizer, side files, certificate."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

CERTIFICATE = "certificate.json"
SIDE_FILES = (
    # tokenizers
    "tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt",
    "sentencepiece*", "spiece.model", "chat_template*",
    # sentence-transformers
    "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json",
    # the original's licence
    "LICENSE*", "LICENCE*", "NOTICE*",
)  # fmt: skip


def carry_side_files(source: Path, target: Path) -> None:
    """Copy tokenizer, sentence-transformers modules and licence from one model folder to another.

    Files that are already in `target` are newer and stay.
    """
    for path in _side_files(source):
        copy = target / path.relative_to(source)
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def _side_files(source: Path) -> Iterator[Path]:
    for pattern in SIDE_FILES:
        yield from (path for path in source.glob(pattern) if path.is_file())
    modules = source / "modules.json"
    if modules.is_file():
        for module in json.loads(modules.read_text(encoding="utf-8")):
            if module["path"]:  # the transformer itself lives in the folder's root
                yield from (path for path in (source / module["path"]).rglob("*") if path.is_file())


def share_weights(folder: Path) -> None:
    """Let whoever may read the config read the weights, which safetensors writes for one user."""
    for weights in folder.glob("*.safetensors"):
        shutil.copymode(folder / "config.json", weights)


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


def read_certificate(folder: Path) -> dict | None:
    """The certificate of a folder, or None where there is none."""
    path = folder / CERTIFICATE
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def broken_seals(folder: Path, pattern: str = "*") -> list[str]:
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
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        new = Path(temporary)
        yield new
        folder.mkdir(exist_ok=True)
        written = [path.relative_to(new) for path in new.rglob("*") if path.is_file()]
        for stale in folder.glob("model*.safetensors*"):  # shards of an earlier, larger model
            if stale.relative_to(folder) not in written:
                stale.unlink()
        for name in written:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).replace(folder / name)
