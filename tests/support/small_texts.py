"""Small files of text, packed or not, and a tokenizer of one token a word."""

import gzip
import json
import lzma
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from backports import zstd
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from polyprune.corpora.positions import StreamPosition

PACK = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstd.compress}
BOS, PAD, EOS, UNK, MASK = range(5)
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
WORDS = [f"w{i}" for i in range(400)]

endings = st.sampled_from(sorted(PACK))
shapes = st.lists(st.integers(1, 4), min_size=1, max_size=12)
"""How many lines each document has."""


def pack(path: Path, text: str) -> Path:
    """A text file, packed as its name says."""
    ending = path.suffix if path.suffix in PACK else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(PACK[ending](text.encode()))
    return path


def numbered(shape: Sequence[int], first: int = 0) -> list[list[str]]:
    """Documents of so many lines, no two of them alike: `w0 w0`, `w1`, `w2 w2 w2`."""
    lines = (" ".join([f"w{i}"] * (i % 3 + 1)) for i in range(first, first + sum(shape)))
    return [list(islice(lines, count)) for count in shape]


def cc100(documents: Iterable[Iterable[str]]) -> str:
    """A blank line after each document."""
    return "".join("".join(f"{line}\n" for line in document) + "\n" for document in documents)


def flat(documents: Iterable[Iterable[str]]) -> list[str]:
    return [line for document in documents for line in document]


def take(iterator: Iterator, count: int) -> list:
    return list(islice(iterator, count))


def saved(position: Any) -> Any:
    """As it is after a run was stopped: written and read."""
    if isinstance(position, StreamPosition):
        return StreamPosition.from_dict(saved(position.as_dict()))
    return json.loads(json.dumps(position))


def make_tokenizer(**changes) -> PreTrainedTokenizerFast:
    """One token a word, between <s> and </s>."""
    words = Tokenizer(WordLevel({w: i for i, w in enumerate(SPECIAL + WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = WhitespaceSplit()
    words.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", BOS), ("</s>", EOS)]
    )
    roles = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}
    named = {f"{role}_token": token for role, token in (roles | changes).items()}
    return PreTrainedTokenizerFast(tokenizer_object=words, **named)


TOKENIZER = make_tokenizer()


def lines_of(ids: Sequence[int]) -> list[str]:
    """The lines that a block was packed of."""
    lines: list[list[str]] = [[]]
    for token in ids[1:]:
        if token == EOS:
            lines.append([])
        else:
            lines[-1].append((SPECIAL + WORDS)[token])
    return [" ".join(line) for line in lines[:-1]]
