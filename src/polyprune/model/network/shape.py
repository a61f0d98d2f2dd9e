"""What a pruned encoder *is*, its widths layer by layer, and how its pieces are wired."""

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """The widths of an encoder. A dense model is simply one whose layers are all equally wide."""

    vocab_size: int
    positions: int
    """Rows of the position table; RoBERTa's has two more than the longest sequence."""
    token_types: int
    """Rows of the token-type table; 0 where the family has none."""
    width: int
    """d, the residual stream; pruning never changes it."""
    head_width: int
    """d / H in the dense model; pruning never changes it."""
    heads: tuple[int, ...]
    """Attention heads kept, layer by layer."""
    units: tuple[int, ...]
    """Feed-forward hidden units kept, layer by layer."""
    rank: int
    """Columns of the word table: `width` for a plain one, at most `width` for a factorized one."""
    factorized: bool = False
    """Whether words go through E = Ê diag(G_e) P (Eq. 3) rather than through one plain table."""
    attention: str = "softmax"
    """Which attention the layers have, by its name in `ATTENTIONS`; a family picks it."""
    feed_forward: str = "mlp"
    """Which network the layers have, by its name in `FEED_FORWARDS`; a family picks it."""

    def __post_init__(self):
        if len(self.heads) != len(self.units):
            raise ValueError(f"{len(self.heads)} layers of heads, but {len(self.units)} of units.")
        if not self.factorized and self.rank != self.width:
            raise ValueError(f"A plain table has rank {self.width}, its width, not {self.rank}.")

    @property
    def layers(self) -> int:
        """N, the number of layers."""
        return len(self.heads)

    @property
    def folding_pays(self) -> bool:
        """Whether one plain table is not larger than Ê and P together."""
        return self.vocab_size * self.width <= self.rank * (self.vocab_size + self.width)

    def keeping(self, heads: Sequence[int], units: Sequence[int], rank: int) -> "EncoderShape":
        """This shape with so many heads, units and ranks left; folded where that pays."""
        smaller = replace(self, heads=tuple(heads), units=tuple(units), rank=rank, factorized=True)
        if smaller.folding_pays:
            return replace(smaller, rank=self.width, factorized=False)
        return smaller


@dataclass(frozen=True, slots=True)
class Wiring:
    """How an encoder's pieces are put together: what its family fixes and pruning never touches."""

    pre_norm: bool = False
    """Normalize before each sublayer and once at the end (XLM-R XL), not after each."""
    padded_positions: bool = True
    """RoBERTa's positions start after the padding id and skip padding; BERT's are 0, 1, 2, …"""
    padding_id: int | None = 1
    norm_epsilon: float = 1e-5
    activation: str = "gelu"
    dropout: float = 0.1
    """The share of the embedding's outputs that training drops."""
    attention_dropout: float = 0.1
    """The share of attention probabilities that training drops."""
    attention_output_dropout: float = 0.1
    feed_forward_output_dropout: float = 0.1

    def __post_init__(self):
        if self.padded_positions and self.padding_id is None:
            raise ValueError("Positions that skip padding need a padding id: set pad_token_id.")
