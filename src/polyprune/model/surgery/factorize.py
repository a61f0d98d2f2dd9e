"""E = Ê diag(G_e) P (Eq. 3): give the word table ranks that can be pruned."""

from dataclasses import replace

import torch
from torch import Tensor

from ..network.gated_model import Model
from ..network.tensor_types import Float

ROWS = 8_192
"""Rows of the table worked on at a time, so that no second table is needed in double precision."""


def factorize(
    model: Model,
    start: str = "spectral",
    frequencies: Float[Tensor, " words"] | None = None,
) -> Model:
    """The same model with its plain word table split into Ê and P.

    `spectral` orders the ranks by how much of the table they carry, so that the first r are its
    best rank-r approximation; with `frequencies`, the best for tokens as frequent as these.
    `identity` (Ê = E, P = I) leaves the table's own columns to be pruned.
    """
    if model.shape.factorized:
        raise ValueError("The word table of this model is factorized already.")
    table = model.encoder.embedding.words.weight.detach()
    if start == "identity":
        eye = torch.eye(model.shape.width, dtype=table.dtype, device=table.device)
        words, project = table.clone(), eye
    elif start == "spectral":
        words, project = factorize_table(table, frequencies)
    else:
        raise ValueError(f"A factorized table starts 'spectral' or 'identity', not {start!r}.")
    state = {
        name: tensor.detach().clone()
        for name, tensor in model.state_dict().items()
        if name != "encoder.embedding.words.weight"
    }
    state["encoder.embedding.words.weight"] = words
    state["encoder.embedding.project.weight"] = project.T.contiguous()
    return model.rebuilt(replace(model.shape, factorized=True), state)


def factorize_table(
    table: Float[Tensor, "vocab width"],
    frequencies: Float[Tensor, " words"] | None = None,
    out: Float[Tensor, "vocab width"] | None = None,
) -> tuple[Float[Tensor, "vocab rank"], Float[Tensor, "rank width"]]:
    """Ê = E V and P = Vᵀ, where V holds the eigenvectors of Eᵀ diag(f) E, largest first.

    V is orthogonal, so E = Ê P exactly at full rank; and V's first r columns are the leading right
    singular vectors of diag(f)^½ E, so E V_r V_rᵀ is the table's best rank-r approximation, errors
    weighted by f. The Gram matrix is as wide as the encoder, however long the vocabulary. Ê goes to
    `out`, which may be `table` itself where there is no room for two.
    """
    if frequencies is not None and len(frequencies) != len(table):
        raise ValueError(
            f"{len(frequencies)} frequencies for {len(table)} words: give one for each."
        )
    gram = torch.zeros(table.shape[1], table.shape[1], dtype=torch.float64, device=table.device)
    for i in range(0, len(table), ROWS):
        rows = table[i : i + ROWS].float()
        weighted = rows if frequencies is None else rows * frequencies[i : i + ROWS, None].float()
        gram += (rows.T @ weighted).double()
    if not gram.isfinite().all():
        raise ValueError("There are words whose embeddings are not finite numbers.")
    vectors = torch.linalg.eigh(gram).eigenvectors.flip(1).float()
    words = torch.empty_like(table) if out is None else out
    for i in range(0, len(table), ROWS):
        words[i : i + ROWS] = (table[i : i + ROWS].float() @ vectors).to(table.dtype)
    return words, vectors.T.contiguous().to(table.dtype)
