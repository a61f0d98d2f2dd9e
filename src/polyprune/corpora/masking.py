"""Masking for masked language modeling."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import ConfigError

MASKED, REPLACED, KEPT = 0.8, 0.1, 0.1
"""The shares of words to predict that become the mask, a random word, or stay (Devlin et al.)."""


def mask_words(
    ids: Tensor, tokenizer: Any, generator: torch.Generator, share: float = 0.15
) -> tuple[Tensor, Tensor]:
    """Mask some tokens; return them and labels that are −100 where nothing is masked.

    As in fairseq, int(share · words + U(0, 1)) words of each example are drawn without
    replacement, but at least one; unlike there, never a special token.
    """
    if tokenizer.mask_token_id is None:
        raise ConfigError(
            "This tokenizer has no mask token, so words cannot be masked. Score with another "
            "loss: `loss='contrastive'`."
        )
    special, candidates = _vocabulary(len(tokenizer), tuple(sorted(tokenizer.all_special_ids)))
    words = ~torch.isin(ids, special)
    count = words.sum(1)
    wanted = (share * count + torch.rand(len(ids), generator=generator)).int().clamp(min=1)
    # The place of each word in a random order of its example's words; specials come last.
    dice = torch.rand(ids.shape, generator=generator).where(words, 2.0)
    place = dice.argsort(1).argsort(1)
    chosen = words & (place < wanted[:, None])
    fate = torch.rand(ids.shape, generator=generator)
    random = candidates[torch.randint(len(candidates), ids.shape, generator=generator)]
    hidden = ids.where(fate >= MASKED, torch.full_like(ids, tokenizer.mask_token_id))
    hidden = hidden.where((fate < MASKED) | (fate >= MASKED + REPLACED), random)
    return hidden.where(chosen, ids), ids.where(chosen, -100)


def mask_example(
    ids: Sequence[int], tokenizer: Any, seed: int, number: int, share: float = 0.15
) -> tuple[Tensor, Tensor]:
    """Mask one example; return its tokens and labels, the same for the same example number.

    An example's number is its place in the run, so that a line is asked about differently in every
    epoch, and alike in any number of processes.
    """
    state = np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)
    generator = torch.Generator().manual_seed(int(state[0]))
    # Through numpy, which reads a list three times as fast.
    row = torch.from_numpy(np.array([ids], dtype=np.int64))
    hidden, labels = mask_words(row, tokenizer, generator, share)
    return hidden[0], labels[0]


@lru_cache(maxsize=8)
def _vocabulary(size: int, special: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Return special and other tokens; cached, as finding them takes longer than masking."""
    specials = torch.tensor(special)
    allowed = torch.ones(size, dtype=torch.bool)
    allowed[specials[specials < size]] = False
    return specials, allowed.nonzero()[:, 0]
