"""Two more types of tasks for texts and pairs: a number each, or any number of labels."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch

from ..model.network.readouts import SENTENCE_CLASSIFICATION
from .classification import LabelSetPreprocessor, NumberPreprocessor
from .encoded_input import EncodedInput
from .examples import SentencePair
from .task_types import FineTunedTask, known_labels, matched


@dataclass(frozen=True, slots=True)
class Regression(FineTunedTask):
    """Predicts a number for each text or pair."""

    preprocessing: NumberPreprocessor = field(default_factory=NumberPreprocessor)
    readout = SENTENCE_CLASSIFICATION
    problem = "regression"

    def gold(self, examples: Sequence[SentencePair]):
        """Return the numbers."""
        return known_labels([pair.label for pair in examples])

    def label(self, examples: Sequence[SentencePair], gold: Sequence[float]):
        """Set one number each."""
        return [replace(pair, label=float(number)) for pair, number in matched(examples, gold)]

    def outputs(self, labels: Sequence[str]):
        """Return the one output."""
        return 1

    def label_tensors(self, encoded: Sequence[EncodedInput]):
        """Return the numbers of a batch."""
        return {"labels": torch.tensor([each.labels[0] for each in encoded], dtype=torch.float32)}


@dataclass(frozen=True, slots=True)
class MultiLabelClassification(FineTunedTask):
    """Predicts any number of labels for each text or pair."""

    preprocessing: LabelSetPreprocessor = field(default_factory=LabelSetPreprocessor)
    readout = SENTENCE_CLASSIFICATION
    problem = "multi_label_classification"

    def gold(self, examples: Sequence[SentencePair]):
        """Return the labels of each."""
        return known_labels([pair.label for pair in examples])

    def label(self, examples: Sequence[SentencePair], gold: Sequence[Sequence[str]]):
        """Set the labels of each."""
        return [replace(pair, label=tuple(labels)) for pair, labels in matched(examples, gold)]

    def said(self, example: SentencePair):
        """Return all its labels."""
        return example.label if isinstance(example.label, tuple) else ()

    def label_tensors(self, encoded: Sequence[EncodedInput]):
        """Return a row of ones and zeros for each of a batch."""
        return {"labels": torch.tensor([each.labels for each in encoded], dtype=torch.float32)}
