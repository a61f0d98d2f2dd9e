"""From lines to examples: blocks of whole lines for masked language modeling, or single lines."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any, Literal, NamedTuple

from ..errors import ConfigError, DataError
from .cursor import BEGINNING, Cursor
from .positions import CursorPosition, PackerPosition
from .task_inputs import BETWEEN, encode_inputs
from .text_sources import Line, TextSource

Unit = Literal["block", "line", "input"]

TOKENIZED = 256
"""The number of lines tokenized together, which a fast tokenizer does on all cores."""


class PackedTokens(NamedTuple):
    """The tokens of an example before it has its number in the run."""

    ids: list[int]
    pair: list[int] | None = None
    """The tokens of the translation, if there is one."""
    text: str | None = None
    """The text of a line, without the prefix; None for blocks."""
    types: list[int] | None = None
    """The types of the tokens of an input, if its tokenizer has any."""


@dataclass(frozen=True, slots=True)
class Packing:
    """How lines become examples: tokenizer, block size, unit, prefix."""

    tokenizer: Any
    """A transformers tokenizer that nothing else uses, because packing changes its settings."""
    block: int = 512
    """The number of tokens in a block with its special tokens, or the maximum of a line."""
    unit: Unit = "block"
    prefix: str = ""
    """A prefix for every line, such as `query: ` for e5; not for blocks."""


def pack(
    cursor: Cursor, packing: Packing, start: PackerPosition | None = None
) -> Iterator[tuple[PackedTokens, PackerPosition]]:
    """Yield a cursor's examples from a position on, each with the position after it.

    The position is that of the cursor, and how many tokens of the line that begins there are in
    the examples before.
    """
    if packing.unit != "block":
        return _single(cursor, packing, start)
    if cursor.source.paired:
        raise ConfigError("Translations cannot be packed into blocks. Choose the unit `line`.")
    return _blocks(cursor, packing, start)


def pack_once(source: TextSource, code: str, packing: Packing) -> Iterator[PackedTokens]:
    """Yield the examples of all of a language's text, every line once."""
    for tokens, position in pack(Cursor(source, code), packing):
        if position["cursor"]["epoch"] > 0:
            return
        yield tokens


def _blocks(
    cursor: Cursor, packing: Packing, start: PackerPosition | None
) -> Iterator[tuple[PackedTokens, PackerPosition]]:
    """Pack blocks `<s> line </s> line </s> …` of as many whole lines as fit, across documents.

    This is fairseq's `complete` mode. An epoch's last block ends with it, so that no block has
    the same line twice.
    """
    first, last = _ends(packing.tokenizer)
    ids, epoch = [first], 0
    position = start or PackerPosition(cursor=BEGINNING, offset=0)
    for piece, line_epoch, after in _pieces(cursor, packing, start):
        full = len(ids) + len(piece) + 1 > packing.block or line_epoch != epoch
        if len(ids) > 1 and full:
            yield PackedTokens(ids), position
            ids = [first]
        ids += piece
        ids.append(last)
        epoch, position = line_epoch, after


def _pieces(
    cursor: Cursor, packing: Packing, start: PackerPosition | None
) -> Iterator[tuple[list[int], int, PackerPosition]]:
    """Yield the tokens of lines, split at the block size, with their epoch and next position."""
    room = packing.block - 2
    offset = start["offset"] if start else 0
    for (ids, *_), before, after in _tokenized(cursor, packing, start):
        for begin in range(offset, len(ids), room):
            end = begin + room
            rest = end < len(ids)
            position = PackerPosition(cursor=before if rest else after, offset=end if rest else 0)
            yield ids[begin:end], after["epoch"], position
        offset = 0


def _single(
    cursor: Cursor, packing: Packing, start: PackerPosition | None
) -> Iterator[tuple[PackedTokens, PackerPosition]]:
    """Yield one example per line, with its translation if there is one."""
    for tokens, _, after in _tokenized(cursor, packing, start):
        yield tokens, {"cursor": after, "offset": 0}


def _tokenized(
    cursor: Cursor, packing: Packing, start: PackerPosition | None
) -> Iterator[tuple[PackedTokens, CursorPosition, CursorPosition]]:
    """Yield each line's tokens, and the cursor's positions before and after it."""
    before = start["cursor"] if start else BEGINNING
    epoch, count = before["epoch"], 8
    lines = cursor.lines(before)
    while some := list(islice(lines, count)):
        for tokens, (_, after) in zip(
            _tokens([line for line, _ in some], packing), some, strict=True
        ):
            if tokens.ids:
                yield tokens, before, after
                epoch = after["epoch"]
            before = after
        count = min(2 * count, TOKENIZED)
        if before["epoch"] - epoch > cursor.lane.lanes:
            raise DataError(
                f"No line of {cursor.source.name} has a token. Leave {cursor.code} out."
            )


def _tokens(lines: list[Line], packing: Packing) -> Iterator[PackedTokens]:
    """Tokenize lines; a line without tokens yields none."""
    texts = [line if isinstance(line, str) else line[0] for line in lines]
    if packing.unit == "block":
        return map(PackedTokens, _ids(texts, packing))
    if packing.unit == "input":
        return _inputs(texts, packing)
    pairs = [line[1] for line in lines if not isinstance(line, str)]
    return map(
        PackedTokens, _ids(texts, packing), _ids(pairs, packing) if pairs else repeat(None), texts
    )


def _inputs(texts: list[str], packing: Packing) -> Iterator[PackedTokens]:
    """Tokenize what a fine-tuned model reads: a text, or two of them with a tab between."""
    lines = [packing.prefix + text for text in texts]
    for text, found in zip(
        texts, encode_inputs(lines, packing.tokenizer, packing.block), strict=True
    ):
        least = packing.tokenizer.num_special_tokens_to_add(pair=BETWEEN in text)
        ids = found.ids if len(found.ids) > least else []
        yield PackedTokens(ids, None, text, found.types)


def _ids(texts: list[str], packing: Packing) -> list[list[int]]:
    """Tokenize texts; with special tokens if each line is an example."""
    silent = {"return_attention_mask": False, "return_token_type_ids": False, "verbose": False}
    if packing.unit == "block":
        return packing.tokenizer(texts, add_special_tokens=False, **silent)["input_ids"]
    texts = [packing.prefix + text for text in texts]
    cut = {"truncation": True, "max_length": packing.block}
    special = packing.tokenizer.num_special_tokens_to_add()
    rows = packing.tokenizer(texts, **cut, **silent)["input_ids"]
    return [row if len(row) > special else [] for row in rows]


def _ends(tokenizer: Any) -> tuple[int, int]:
    """Return the tokens that begin a block and end a line."""
    first = _either(tokenizer.bos_token_id, tokenizer.cls_token_id)
    last = _either(tokenizer.eos_token_id, tokenizer.sep_token_id)
    if first is None or last is None:
        raise ConfigError(
            "This tokenizer has no token for the beginning or the end of a text, so that lines "
            "cannot be packed into blocks. Choose the unit `line`."
        )
    return first, last


def _either(one: int | None, other: int | None) -> int | None:
    return other if one is None else one
