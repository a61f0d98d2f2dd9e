"""How much text is read, and in how many rounds, where nobody says."""

import math

SENTENCES = 300
"""Sentences of each language that gate gradients are taken over."""
TOKENS = 128
"""Tokens that a sentence is cut to."""
ROUNDS, ROUND = 3, 64
"""Rounds of the second-order rule, and sentences of each language in one of them."""
LEFT, MOST = 0.66, 6
"""The least that a round should leave of what there was, and the most rounds for that."""


def rounds_for(sparsity: float) -> int:
    """Rounds that each leave the same share: three, and more for very small models."""
    return max(ROUNDS, min(MOST, math.ceil(math.log(max(1 - sparsity, 1e-6), LEFT))))
