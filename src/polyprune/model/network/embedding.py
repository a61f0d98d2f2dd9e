"""The embedding (Eq. 3): all that is to be known of it, from its tables to its kernels."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .shape import EncoderShape, Wiring
from .sublayer import Kernel, State, by_token, scale_columns
from .tensor_types import Float, Int


class Embedding(nn.Module):
    """Words, E = Ê diag(G_e) P (Eq. 3) or a plain table, plus positions and token types."""

    CUT = ("words", "project")
    """The modules that `cut` makes anew."""

    def __init__(self, shape: EncoderShape, wiring: Wiring):
        super().__init__()
        self.wiring = wiring
        padding = wiring.padding_id
        self.words = nn.Embedding(shape.vocab_size, shape.rank, padding_idx=padding)  # Ê
        self.project = (  # P
            nn.Linear(shape.rank, shape.width, bias=False) if shape.factorized else None
        )
        self.positions = nn.Embedding(
            shape.positions, shape.width, padding_idx=padding if wiring.padded_positions else None
        )
        self.types = nn.Embedding(shape.token_types, shape.width) if shape.token_types else None
        self.norm = None if wiring.pre_norm else nn.LayerNorm(shape.width, eps=wiring.norm_epsilon)
        self.dropout = nn.Dropout(wiring.dropout)

    def forward(
        self,
        tokens: Int[Tensor, "batch seq"],
        token_types: Int[Tensor, "batch seq"] | None = None,
        gate: Float[Tensor, "#batch *seq rank"] | None = None,
    ) -> Float[Tensor, "batch seq width"]:
        """The input of the first layer."""
        x = self.words(tokens)
        if gate is not None:
            x = x * by_token(gate).to(x)
        if self.project is not None:
            x = self.project(x)
        x = x + self._positions(tokens)
        if self.types is not None:
            x = x + (self.types.weight[0] if token_types is None else self.types(token_types))
        if self.norm is not None:
            x = self.norm(x)
        return self.dropout(x)

    def unembed(
        self,
        x: Float[Tensor, "batch seq width"],
        gate: Float[Tensor, "#batch *each rank"] | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """X Eᵀ, the tied output of masked language modeling: the rank gate acts here too."""
        if self.project is not None:
            x = F.linear(x, self.project.weight.T)
        if gate is not None:
            x = x * by_token(gate).to(x)
        return F.linear(x, self.words.weight)

    def exportable(self, ids: Tensor, types: Tensor | None, words: Any) -> Tensor:
        """The input of the first layer, in operations that every runtime has.

        `words` looks ids up: the table, or what stands in for it in another precision.
        """
        x = words(ids)
        if self.project is not None:
            x = self.project(x)
        if self.wiring.padded_positions:
            padding = self.wiring.padding_id or 0
            present = ids.ne(padding).long()
            x = x + self.positions(present.cumsum(1) * present + padding)
        else:
            x = x + self.positions(torch.arange(ids.shape[1], device=ids.device))
        if self.types is not None:
            x = x + (self.types.weight[0] if types is None else self.types(types))
        return x if self.norm is None else self.norm(x)

    def _positions(self, tokens: Tensor) -> Tensor:
        padding, seq = self.wiring.padding_id or 0, tokens.shape[1]
        first = padding + 1 if self.wiring.padded_positions else 0
        if seq > self.positions.num_embeddings - first:
            raise ValueError(
                f"{seq} tokens in a sequence, but this encoder has positions for "
                f"{self.positions.num_embeddings - first}. Truncate when tokenizing: "
                "tokenizer(text, truncation=True)."
            )
        if not self.wiring.padded_positions:
            return self.positions.weight[:seq]
        present = tokens.ne(padding).int()
        return self.positions(present.cumsum(1) * present + padding)

    def cut(self, gate: Float[Tensor, " rank"], factorized: bool) -> State:
        """Ê and P with the ranks whose gate is not 0, or one plain table.

        The gate goes into P alone: the input path multiplies by it and so does the tied output.
        """
        words = self.words.weight.detach()
        if not factorized and self.project is None:
            return {"words.weight": scale_columns(words, gate)}
        if self.project is None:
            project = torch.eye(words.shape[1], dtype=words.dtype, device=words.device)
        else:
            project = self.project.weight.detach()
        project = scale_columns(project, gate)
        if not factorized:
            return {"words.weight": words @ project.T}
        keep = gate.nonzero()[:, 0]
        return {"words.weight": words[:, keep], "project.weight": project[:, keep]}

    def folded(self) -> State:
        """Ê P as one plain table: the same function."""
        words = self.words.weight.detach()
        if self.project is None:
            return {"words.weight": words}
        return {"words.weight": words @ self.project.weight.detach().T}

    def magnitudes(self) -> Float[Tensor, " rank"]:
        """The root mean square of each column of the word table."""
        return self.words.weight.detach().float().square().mean(0).sqrt()

    @staticmethod
    def parameters_each(shape: EncoderShape) -> int:
        """The parameters of one rank: its column of Ê and its row of P."""
        return shape.vocab_size + shape.width

    @staticmethod
    def parameter_count(shape: EncoderShape, norm: bool = True) -> int:
        """Words (Ê and P, or one table), positions, token types and their norm."""
        words = shape.vocab_size * shape.rank
        project = shape.rank * shape.width if shape.factorized else 0
        rows = shape.positions + shape.token_types + (2 if norm else 0)
        return words + project + rows * shape.width

    @staticmethod
    def multiply_adds(shape: EncoderShape) -> int:
        """The products of P for one token."""
        return shape.rank * shape.width if shape.factorized else 0

    @staticmethod
    def kernels(shape: EncoderShape, words: int) -> list[Kernel]:
        """The product with P on a GPU, for so many tokens."""
        return [Kernel.product(words, shape.rank, shape.width)] if shape.factorized else []
