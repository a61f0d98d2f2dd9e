"""Train a tokenizer on text: a Unigram model of word pieces, as XLM-R's is.

The `UnigramTrainer` of tokenizers goes through the words in an order that differs from run to run,
and with it the scores. Here the pieces are first those that byte-pair merges give, which are always
the same, and more than wanted. Then, round by round, the words are split with them in the likeliest
way, pieces are scored by how often they were used, and those used least are dropped.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from math import log
from typing import Any

from ..errors import ConfigError, DataError

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""Tokens 0 to 3, as in XLM-R; `<mask>` is the last."""

SURPLUS = (2.0, 1.5, 1.2, 1.0)
"""The number of pieces in each round, as a multiple of those wanted."""

LONGEST = 16
"""The maximum number of characters of a piece, as in SentencePiece."""


def train_tokenizer(lines: Iterable[str], vocabulary: int) -> Any:
    """Train a transformers tokenizer of up to `vocabulary` tokens; it is deterministic."""
    room = vocabulary - len(SPECIAL) - 1
    if room < 2:
        raise ConfigError(
            f"A vocabulary of {vocabulary} has no room for words beside the {len(SPECIAL) + 1} "
            "special tokens. Choose some thousands."
        )
    words = _count_words(lines)
    if not words:
        raise DataError("There is no text to make a tokenizer from. Give some thousand lines.")
    letters = _alphabet(words, room // 2)
    counts = _merged(words, letters, int(max(SURPLUS) * room))
    for surplus in SURPLUS:
        counts = _use(words, _score(counts, letters, int(surplus * room)))
    return _assemble(_score(counts, letters, room))


def _count_words(lines: Iterable[str]) -> dict[str, int]:
    """Count words, with `▁` in place of the blank before them, in a reproducible order."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(unicodedata.normalize("NFKC", line).split())
    return {f"▁{word}": counts[word] for word in sorted(counts)}


def _alphabet(words: Mapping[str, int], most: int) -> list[str]:
    """Return the letters that are always pieces: all, or as many as fit."""
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for letter in word:
            counts[letter] += count
    return sorted(counts, key=lambda letter: (-counts[letter], letter))[:most]


def _merged(words: Mapping[str, int], letters: list[str], most: int) -> dict[str, int]:
    """Return the pieces of byte-pair merging, and how often words use them."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(
        vocab_size=most + 1,
        special_tokens=["<unk>"],
        initial_alphabet=letters,
        limit_alphabet=len(letters),
        max_token_length=LONGEST,
        show_progress=False,
    )
    repeated = (" ".join([word] * count) for word, count in words.items())
    tokenizer.train_from_iterator(repeated, trainer)
    return _count_pieces(words, tokenizer)


def _score(counts: Mapping[str, int], letters: list[str], most: int) -> dict[str, float]:
    """Return the log-probability of the most used pieces, always including letters."""
    always = set(letters)
    others = sorted(counts.keys() - always, key=lambda piece: (-counts[piece], piece))
    kept = [*letters, *others[: most - len(letters)]]
    # A letter that is never used alone is still likelier than an unknown one.
    weights = {piece: max(counts.get(piece, 0), 0.5) for piece in kept}
    total = sum(weights.values())
    return {piece: log(weight / total) for piece, weight in weights.items()}


def _use(words: Mapping[str, int], scores: Mapping[str, float]) -> dict[str, int]:
    """Count how often each piece is used when words are split in the most likely way."""
    from tokenizers import Tokenizer

    return _count_pieces(words, Tokenizer(_unigram(scores)))


def _count_pieces(words: Mapping[str, int], tokenizer: Any) -> dict[str, int]:
    counts: Counter[int] = Counter()
    waiting = list(words)
    for start in range(0, len(waiting), 4096):
        some = waiting[start : start + 4096]
        for word, encoding in zip(some, tokenizer.encode_batch_fast(some), strict=True):
            for token in encoding.ids:
                counts[token] += words[word]
    pieces = {tokenizer.id_to_token(token): count for token, count in counts.items()}
    return {piece: count for piece, count in pieces.items() if piece not in SPECIAL}


def _unigram(scores: Mapping[str, float]) -> Any:
    from tokenizers import models

    pieces = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return models.Unigram([*((token, 0.0) for token in SPECIAL), *pieces], SPECIAL.index("<unk>"))


def _assemble(scores: Mapping[str, float]) -> Any:
    """Build the tokenizer with these pieces; it normalizes and frames text as XLM-R's does."""
    from tokenizers import (
        AddedToken,
        Regex,
        Tokenizer,
        decoders,
        normalizers,
        pre_tokenizers,
        processors,
    )
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(_unigram(scores))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace("▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[(token, SPECIAL.index(token)) for token in ("<s>", "</s>")],
    )
    roles = zip(("bos", "pad", "eos", "unk"), SPECIAL, strict=True)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        cls_token="<s>",
        sep_token="</s>",
        # A word is masked together with the blank before it.
        mask_token=AddedToken("<mask>", lstrip=True, special=True),
        **{f"{role}_token": token for role, token in roles},
    )
