"""Masked language modeling's question: which words were here?"""

from typing import Any

import torch
from torch import Tensor

from ..errors import ConfigError

MASKED, REPLACED, KEPT = 0.8, 0.1, 0.1
"""Of the words to predict: shown as the mask, as a random word, as they are (Devlin et al.)."""


def mask_words(
    ids: Tensor, tokenizer: Any, generator: torch.Generator, share: float = 0.15
) -> tuple[Tensor, Tensor]:
    """The tokens with some of them hidden, and labels that are −100 where nothing was.

    As in fairseq, int(share · words + U(0, 1)) words of each example are drawn without
    replacement, but at least one; unlike there, never a special token.
    """
    if tokenizer.mask_token_id is None:
        raise ConfigError(
            "This tokenizer has no mask token, so that words cannot be masked. Score with another "
            "loss: --loss contrastive."
        )
    special = torch.tensor(sorted(tokenizer.all_special_ids))
    words = ~torch.isin(ids, special)
    count = words.sum(1)
    wanted = (share * count + torch.rand(len(ids), generator=generator)).int().clamp(min=1)
    # The place of each word in a random order of its example's words; specials come last.
    dice = torch.rand(ids.shape, generator=generator).where(words, 2.0)
    place = dice.argsort(1).argsort(1)
    chosen = words & (place < wanted[:, None])
    fate = torch.rand(ids.shape, generator=generator)
    random = _random_words(ids, special, len(tokenizer), generator)
    hidden = ids.where(fate >= MASKED, torch.full_like(ids, tokenizer.mask_token_id))
    hidden = hidden.where((fate < MASKED) | (fate >= MASKED + REPLACED), random)
    return hidden.where(chosen, ids), ids.where(chosen, -100)


def _random_words(
    ids: Tensor, special: Tensor, vocabulary: int, generator: torch.Generator
) -> Tensor:
    """Random tokens, none of them special."""
    allowed = torch.ones(vocabulary, dtype=torch.bool)
    allowed[special[special < vocabulary]] = False
    candidates = allowed.nonzero()[:, 0]
    return candidates[torch.randint(len(candidates), ids.shape, generator=generator)]
