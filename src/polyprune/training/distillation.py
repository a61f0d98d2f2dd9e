"""Distillation losses: imitate the teacher's words, hidden states, attention or embeddings.

Every loss is a number that is 0 when student and teacher agree. Gradients reach the student only.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import gcd
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..errors import ConfigError
from ..model.network.encoder import Encoder
from ..model.network.tensor_types import Bool, Float


def layers_to_keep(layers: int, kept: int | None = None) -> tuple[int, ...]:
    """The teacher's layers that a student starts from, half of them unless told otherwise.

    For 12 layers these are 0, 2, 4, 7, 9, 11, as in the code of DistilBERT (Sanh et al., 2019): not
    every second layer, but the first, the last, and others as evenly between as whole numbers go.
    """
    kept = (layers + 1) // 2 if kept is None else kept
    if not 1 <= kept <= layers:
        raise ValueError(f"Of {layers} layers a student keeps from 1 to {layers}, got {kept}.")
    gaps = max(kept - 1, 1)
    # i * (layers - 1) / gaps, rounded half up, without leaving the whole numbers.
    return tuple((2 * i * (layers - 1) + gaps) // (2 * gaps) for i in range(kept))


def soft_cross_entropy(
    student: Float[Tensor, "tokens vocab"],
    teacher: Float[Tensor, "tokens vocab"],
    temperature: float = 2.0,
) -> Float[Tensor, ""]:
    """Mean over tokens of T² KL(teacher ‖ student), both softened by T (Sanh et al., 2019).

    DistilBERT takes it on all tokens but padding, not on the masked ones alone. T² keeps the
    gradient at about the same size whatever T is (Hinton et al., 2015).
    """
    _check_temperature(temperature)
    return _mean(divergence(student / temperature, teacher / temperature)) * temperature**2


def soft_binary_cross_entropy(
    student: Float[Tensor, "rows labels"],
    teacher: Float[Tensor, "rows labels"],
    temperature: float = 2.0,
) -> Float[Tensor, ""]:
    """Mean over rows of T² Σ KL(teacher ‖ student) of labels that are each there or not.

    What `soft_cross_entropy` is where one label excludes the others.
    """
    _check_temperature(temperature)
    s, t = (_precise(x) / temperature for x in (student, teacher.detach()))
    wanted = t.sigmoid()
    missed, least = (
        F.binary_cross_entropy_with_logits(x, wanted, reduction="none") for x in (s, t)
    )
    return _mean((missed - least).sum(-1)) * temperature**2


def squared_difference(
    student: Float[Tensor, "rows values"], teacher: Float[Tensor, "rows values"]
) -> Float[Tensor, ""]:
    """Mean over rows of ‖s − t‖², for models that predict numbers."""
    return _mean((_precise(student) - _precise(teacher.detach())).square().sum(-1))


def cosine_distance(
    student: Float[Tensor, "tokens width"], teacher: Float[Tensor, "tokens width"]
) -> Float[Tensor, ""]:
    """Mean over tokens of 1 − cos of the hidden states (Sanh et al., 2019)."""
    return _mean(1 - F.cosine_similarity(_precise(student), _precise(teacher.detach()), dim=-1))


def hidden_error(
    student: Float[Tensor, "tokens width"], teacher: Float[Tensor, "tokens width"]
) -> Float[Tensor, ""]:
    """The mean over tokens of ‖s − t‖², as a share of the teacher's variance: 1 − R².

    A share, so that a weight means the same for every model. Around their mean, because much of
    what hidden states have in common tells no token from another.
    """
    s, t = _precise(student), _precise(teacher.detach())
    # Of few tokens, or of equal ones, there is no variance.
    least = 1e-3 * t.square().sum() + torch.finfo(t.dtype).tiny
    spread = (t - t.mean(0)).square().sum().maximum(least)
    return (s - t).square().sum() / spread


def embedding_distance(
    student: Float[Tensor, "batch width"], teacher: Float[Tensor, "batch width"]
) -> Float[Tensor, ""]:
    """Mean over sentences of ‖s − t‖² = 2 − 2 cos, both embeddings brought to length 1."""
    # By the difference: 2 − 2 cos would lose half of the digits when they nearly agree.
    s, t = (F.normalize(_precise(x), dim=-1) for x in (student, teacher.detach()))
    return _mean((s - t).square().sum(-1))


def similarity_relation(
    student: Float[Tensor, "batch student_width"],
    teacher: Float[Tensor, "batch teacher_width"],
    temperature: float = 0.05,
) -> Float[Tensor, ""]:
    """Mean over sentences of KL(teacher ‖ student) of which others of the batch are like them.

    Widths may differ. Nothing can be learned from fewer than three sentences: the loss is then 0.
    """
    _check_temperature(temperature)
    others = ~torch.eye(len(student), dtype=torch.bool, device=student.device)

    def similarities(x: Tensor) -> Tensor:  # (b, w) -> (b, b - 1)
        x = F.normalize(_precise(x), dim=-1)
        return (x @ x.T / temperature)[others].view(len(x), len(x) - 1)

    return _mean(divergence(similarities(student), similarities(teacher)))


class Projections(NamedTuple):
    """The queries, keys and values of one layer's heads."""

    queries: Float[Tensor, "batch heads seq head_width"]
    keys: Float[Tensor, "batch heads seq head_width"]
    values: Float[Tensor, "batch heads seq head_width"]

    @property
    def heads(self) -> int:
        """How many heads there are."""
        return self.queries.shape[1]

    @property
    def width(self) -> int:
        """The width of all heads together."""
        return self.heads * self.queries.shape[3]


@contextmanager
def capture_projections(encoder: Encoder, layer: int = -1) -> Iterator[list[Projections]]:
    """A list that gets one layer's queries, keys and values at every forward pass in the block.

    They carry gradients if the pass does. Gates act after them: a closed head is there as well.
    """
    attention: Any = encoder.layers[layer].attention
    if attention.project is None:
        number = range(encoder.shape.layers)[layer]
        raise ConfigError(
            f"Layer {number}, counted from 0, has lost all its heads, so there is no attention "
            "to distill. Keep at least one in every layer when pruning (`min_heads=1`), or use "
            "the triple loss."
        )
    passes: list[Projections] = []

    def keep(project: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        # (b, s, 3*h*e) -> 3 × (b, h, s, e), as `Attention` does
        split = output.unflatten(-1, (3, attention.heads, attention.head_width))
        passes.append(Projections(*split.permute(2, 0, 3, 1, 4)))

    hook = attention.project.register_forward_hook(keep)
    try:
        yield passes
    finally:
        hook.remove()


def attention_relation(
    student: Projections, teacher: Projections, mask: Bool[Tensor, "batch seq"] | None = None
) -> Float[Tensor, ""]:
    """L_AT: mean over heads and queries of KL of softmax(QKᵀ/√d) (Wang et al., 2020)."""
    _check_heads(student, teacher)
    ours, theirs = _scores(student.queries, student.keys), _scores(teacher.queries, teacher.keys)
    return _relation_divergence(ours, theirs, mask)


def value_relation(
    student: Projections, teacher: Projections, mask: Bool[Tensor, "batch seq"] | None = None
) -> Float[Tensor, ""]:
    """L_VR: mean over heads and places of KL of softmax(VVᵀ/√d) (Wang et al., 2020)."""
    _check_heads(student, teacher)
    ours, theirs = _scores(student.values, student.values), _scores(teacher.values, teacher.values)
    return _relation_divergence(ours, theirs, mask)


def relation_loss(
    student: Projections,
    teacher: Projections,
    relations: int | None = None,
    mask: Bool[Tensor, "batch seq"] | None = None,
) -> Float[Tensor, ""]:
    """Mean KL of the QQᵀ, KKᵀ and VVᵀ relations, for any numbers of heads (Wang et al., 2021).

    The heads of each side are joined, then split into as many relation heads on both:
    `common_relations` of the two widths unless told otherwise.
    """
    if relations is None:
        relations = common_relations(student.width, teacher.width)
    if relations < 1 or student.width % relations or teacher.width % relations:
        raise ValueError(
            f"{relations} relation heads do not divide both the student's width {student.width} "
            f"and the teacher's {teacher.width}. The most, up to 48, that do: "
            f"{common_relations(student.width, teacher.width)}."
        )
    losses = []
    for ours, theirs in zip(student, teacher, strict=True):
        s, t = _split_again(ours, relations), _split_again(theirs, relations)
        losses.append(_relation_divergence(_scores(s, s), _scores(t, t), mask))
    return torch.stack(losses).mean()


def common_relations(student_width: int, teacher_width: int, wanted: int = 48) -> int:
    """The largest number of relation heads, up to `wanted`, that divides both widths.

    48 is what Wang et al. (2021) use for a base-sized teacher.
    """
    common = gcd(student_width, teacher_width)
    if wanted < 1 or common < 1:
        raise ValueError(
            f"Widths and relation heads are counted from 1, got widths {student_width} and "
            f"{teacher_width}, {wanted} relation heads."
        )
    return max(i for i in range(1, min(wanted, common) + 1) if common % i == 0)


def divergence(
    student: Float[Tensor, "*rows choices"], teacher: Float[Tensor, "*rows choices"]
) -> Float[Tensor, "*rows"]:
    """KL(teacher ‖ student) of the distributions with these logits, row by row."""
    ours, theirs = (_precise(x).log_softmax(-1) for x in (student, teacher.detach()))
    return F.kl_div(ours, theirs, reduction="none", log_target=True).sum(-1)


def _scores(
    left: Float[Tensor, "batch heads seq head_width"],
    right: Float[Tensor, "batch heads seq head_width"],
) -> Float[Tensor, "batch heads seq seq"]:
    # Divided first: in half precision the undivided products may overflow.
    return (left / left.shape[-1] ** 0.5) @ right.mT


def _relation_divergence(
    student: Float[Tensor, "batch heads seq seq"],
    teacher: Float[Tensor, "batch heads seq seq"],
    mask: Bool[Tensor, "batch seq"] | None,
) -> Float[Tensor, ""]:
    """Mean divergence over heads and queries; padding is neither looked at nor counted."""
    if mask is None:
        return _mean(divergence(student, teacher))
    absent = ~mask[:, None, None]  # (b, s) -> (b, 1, 1, s)
    # Finite, unlike −∞, whose difference between teacher and student is not a number.
    student, teacher = (x.masked_fill(absent, torch.finfo(x.dtype).min) for x in (student, teacher))
    return _mean(divergence(student, teacher).transpose(1, 2)[mask])  # (b, h, s) -> (n, h)


def _split_again(
    x: Float[Tensor, "batch heads seq head_width"], relations: int
) -> Float[Tensor, "batch relations seq relation_width"]:
    joined = x.transpose(1, 2).flatten(2)  # (b, h, s, e) -> (b, s, h*e)
    return joined.unflatten(-1, (relations, -1)).transpose(1, 2)  # -> (b, r, s, h*e/r)


def _check_heads(student: Projections, teacher: Projections) -> None:
    if student.heads != teacher.heads:
        raise ValueError(
            f"The student has {student.heads} heads and the teacher {teacher.heads}: their "
            "attention cannot be compared head by head. Use relation_loss(), which takes any "
            "numbers of heads."
        )


def _check_temperature(temperature: float) -> None:
    if not temperature > 0:
        raise ValueError(f"A temperature is greater than 0, got {temperature}.")


def _mean(rows: Tensor) -> Tensor:
    """The mean, but 0 of no rows: a batch may happen to have no word to learn from."""
    return rows.sum() / max(rows.numel(), 1)


def _precise(x: Tensor) -> Tensor:
    """Cast to single precision, unless it is more precise already."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
