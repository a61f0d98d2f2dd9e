"""The residual streams of a cut model and of the uncut one, side by side, sublayer by sublayer."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from torch import Tensor, nn

from ...model.network.gated_model import PolyprunePreTrainedModel
from ..criteria.losses import Batch
from .least_squares import LeastSquares
from .moments import sentences_alike


class StreamSublayer(NamedTuple):
    """A sublayer with its norm, which is before it or after its sum with the stream."""

    part: Any
    norm: Any
    pre_norm: bool

    def seen(self, x: Tensor) -> Tensor:
        """What it makes its features of."""
        return self.norm(x) if self.pre_norm else x

    def features(self, x: Tensor, keys: Tensor) -> Tensor:
        """What enters its last projection; nothing where no component is left."""
        if not isinstance(self.part.leaving, nn.Linear):
            return x[..., :0]
        return self.part.features(self.seen(x), keys)

    def sum(self, x: Tensor, features: Tensor) -> Tensor:
        """The stream and what the sublayer adds to it."""
        return x + self.part.leaving(features if features.shape[-1] else x)

    def after(self, total: Tensor) -> Tensor:
        """The stream that the next sublayer gets."""
        return total if self.pre_norm else self.norm(total)


def sublayers_of(layer: Any) -> tuple[StreamSublayer, StreamSublayer]:
    """Attention and the feed-forward network of a layer."""
    return (
        StreamSublayer(layer.attention, layer.attention_norm, layer.pre_norm),
        StreamSublayer(layer.feed_forward, layer.feed_forward_norm, layer.pre_norm),
    )


class Streams:
    """Both streams on the same batches; they advance together."""

    def __init__(
        self,
        model: PolyprunePreTrainedModel,
        uncut: PolyprunePreTrainedModel,
        batches: Sequence[Batch],
        means: float,
    ):
        self.means = means
        self.masks = [batch["attention_mask"].bool() for batch in batches]
        self.ours, self.theirs = (
            [
                each.encoder.embedding(batch["input_ids"], batch.get("token_type_ids"))
                for batch in batches
            ]
            for each in (model, uncut)
        )

    def before(self, own: StreamSublayer, whole: StreamSublayer) -> LeastSquares:
        """What our stream misses of theirs as this sublayer sees them, given ours."""
        found = LeastSquares(means=0.0)
        for ours, theirs, mask in zip(self.ours, self.theirs, self.masks, strict=True):
            seen = own.seen(ours).float()
            found.add(seen, whole.seen(theirs).float() - seen, sentences_alike(mask))
        return found

    def after(self, own: StreamSublayer, whole: StreamSublayer) -> LeastSquares:
        """What our stream misses after this sublayer, given our features; theirs goes on."""
        found = LeastSquares(self.means)
        for i, mask in enumerate(self.masks):
            keys = mask[:, None, None]
            self.theirs[i] = whole.sum(self.theirs[i], whole.features(self.theirs[i], keys))
            features = own.features(self.ours[i], keys)
            missing = self.theirs[i] - own.sum(self.ours[i], features)
            found.add(features.float(), missing.float(), sentences_alike(mask))
        return found

    def advance(self, own: StreamSublayer, whole: StreamSublayer) -> None:
        """Both go on to what the next sublayer gets.

        Our features are computed once more: those of all batches take more room than both streams.
        """
        for i, mask in enumerate(self.masks):
            features = own.features(self.ours[i], mask[:, None, None])
            self.ours[i] = own.after(own.sum(self.ours[i], features))
            self.theirs[i] = whole.after(self.theirs[i])
