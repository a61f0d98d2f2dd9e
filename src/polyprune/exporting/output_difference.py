"""The difference between an export's outputs and its model's, per language, on real text."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from ..evaluation.fidelity import cosines, nearest_others
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..pruning.criteria.losses import pool
from .export_graph import POOLED
from .export_text import ExportTexts, RandomTokens
from .runners import Runner

BY_TOKEN = ("last_hidden_state", "logits")
"""The outputs that may have one vector per token."""


@dataclass(frozen=True, slots=True)
class OutputDifference:
    """The difference between a model's outputs and its export's."""

    largest: float
    """The largest |model − export| of any output value."""
    cosine: float
    """The mean cosine between the output vectors."""
    agreement: float
    """The share of logits with the same first choice; of embeddings, the share of sentences whose
    nearest other sentence of the language is the same."""


def compare_outputs(
    model: PolyprunePreTrainedModel,
    runner: Runner,
    texts: ExportTexts | RandomTokens,
    pooling: str | None = None,
) -> dict[str, OutputDifference]:
    """Compare a model with its export; return the differences in each language, without padding."""
    seen: dict[str, _RunningDifference] = defaultdict(_RunningDifference)
    training = model.training
    model.eval()
    for probe in texts.to_compare():
        arrays = {name: tensor.numpy() for name, tensor in probe.batch.items()}
        found = runner(arrays)
        places = (arrays["attention_mask"].astype(bool), probe.counted.numpy())
        for name, one in _expected(model, probe.batch, pooling).items():
            seen[probe.language].add(name, one, found[name], places)
    model.train(training)
    return {code: each.difference() for code, each in seen.items()}


@torch.inference_mode()
def _expected(
    model: PolyprunePreTrainedModel, batch: Mapping[str, Tensor], pooling: str | None
) -> dict[str, np.ndarray]:
    """Return the model's own outputs, by the export's output names."""
    output = model(**batch)
    if pooling is not None:
        pooled = pool(output.last_hidden_state, batch["attention_mask"], pooling)
        return {POOLED: pooled.numpy()}
    return {name: tensor.numpy() for name, tensor in output.items()}


@dataclass(slots=True)
class _RunningDifference:
    """The running differences in one language."""

    largest: float = 0.0
    cosines: list[np.ndarray] = field(default_factory=list)
    agreed: list[np.ndarray] = field(default_factory=list)
    sentences: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    """The sentence embeddings of the model and of the export."""

    def add(
        self, name: str, a: np.ndarray, b: np.ndarray, places: tuple[np.ndarray, np.ndarray]
    ) -> None:
        """Add one output of a batch; `places` masks the tokens that exist, and those that count."""
        mask, asked = places
        if name in BY_TOKEN and a.ndim == 3:
            rows = (a[mask], b[mask])
        elif name.endswith("_logits"):  # the ends of a span: a number for every token
            rows = (np.where(mask, a, 0.0), np.where(mask, b, 0.0))
        else:
            rows = (a, b)
        # Not a number is no small difference, and max() might overlook it.
        distance = np.abs(rows[0] - rows[1]).max(initial=0.0)
        self.largest = max(self.largest, float(distance) if np.isfinite(distance) else np.inf)
        self.cosines.append(cosines(*rows))
        if name == "last_hidden_state":
            self.sentences.extend(zip(_means(a, mask), _means(b, mask), strict=True))
        elif name == POOLED:
            self.sentences.extend(zip(a, b, strict=True))
        elif name != "pooler_output":
            same = rows[0].argmax(-1) == rows[1].argmax(-1)
            self.agreed.append(same[asked[mask]] if a.ndim == 3 else same)

    def difference(self) -> OutputDifference:
        """Return the overall difference."""
        agreed = self.agreed
        if len(self.sentences) > 2:
            ours, theirs = map(np.stack, zip(*self.sentences, strict=True))
            agreed = [nearest_others(ours) == nearest_others(theirs)]
        share = float(np.concatenate(agreed).mean()) if agreed else 1.0
        return OutputDifference(self.largest, float(np.concatenate(self.cosines).mean()), share)


def _means(states: np.ndarray, mask: np.ndarray) -> np.ndarray:
    present = mask[:, :, None]
    return (states * present).sum(1) / present.sum(1)
