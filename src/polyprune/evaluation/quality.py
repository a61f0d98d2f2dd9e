"""What models can do without any task: find translations, and guess hidden words."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ..corpora.batching import Batching
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import SILENT, Progress
from .retrieval import nearest
from .sentence_embedding import EmbeddingConfig, embed


def find_translations(
    model: PolyprunePreTrainedModel,
    tokenizer: Any,
    lines: Mapping[str, Sequence[str]],
    pivot: str,
    progress: Progress = SILENT,
) -> dict[str, float]:
    """The percentage of lines of each language whose nearest line of `pivot` is at their place."""
    way = EmbeddingConfig.of(model)
    database = embed(model, list(lines[pivot]), tokenizer, way)
    found = {}
    for code in progress.track("retrieval", [code for code in lines if code != pivot]):
        own = embed(model, list(lines[code]), tokenizer, way)
        right = nearest(database, own) == torch.arange(len(own))
        found[code] = percent(int(right.sum()), len(own))
    return found


def guess_words(
    model: PolyprunePreTrainedModel,
    tokenizer: Any,
    lines: Mapping[str, Sequence[str]],
    progress: Progress = SILENT,
) -> dict[str, float]:
    """The percentage of masked words of each language that a masked LM puts first."""
    batching = Batching(tokenizer, size=32)
    found = {}
    training = model.training
    model.eval()
    for code in progress.track("masked words", list(lines)):
        right = asked = 0
        for batch in batching.masked(lines[code]):
            hidden = batch["labels"] != -100
            with torch.inference_mode():
                output: Any = model(batch["input_ids"], batch["attention_mask"])
            right += int((output.logits.argmax(-1) == batch["labels"])[hidden].sum())
            asked += int(hidden.sum())
        found[code] = percent(right, asked)
    model.train(training)
    return found


def percent(part: int, whole: int) -> float:
    """Not a number where there is nothing to take a part of."""
    return 100 * part / whole if whole else float("nan")
