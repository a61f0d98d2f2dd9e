"""The types of tasks: what they have in common, pair classification, tagging, span extraction."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from torch import Tensor

from ..errors import DataError
from ..model.network.components import Gates
from ..model.network.readouts import (
    SENTENCE_CLASSIFICATION,
    SPAN,
    TOKEN_CLASSIFICATION,
    Readout,
)
from .classification import PairPreprocessor
from .encoded_input import EncodedInput
from .examples import Answer, Question, SentencePair, TaggedSentence, UniqueIds
from .prediction import label_tensors, predict
from .question_answering import SpanPreprocessor
from .sentence_embedding import EmbeddingConfig, embed
from .tagging import TaggingPreprocessor


@dataclass(frozen=True, slots=True)
class Predictor:
    """A model with the tokenizer and gates that it predicts with."""

    model: Any
    tokenizer: Any
    gates: Gates | None = None
    """Gates to apply, if the model is not shrunk yet, as in training."""
    embedding: EmbeddingConfig | None = None
    """How sentences become vectors; the model's own way unless given."""
    device: str = "auto"
    """The device on which embeddings are compared; a GPU if there is one unless given."""

    @property
    def labels(self) -> list[str]:
        """The labels that the model can predict."""
        return labels_of(self.model.config)

    def embed(self, sentences: Sequence[str]) -> Any:
        """Return the embeddings of sentences."""
        way = self.embedding or EmbeddingConfig.of(self.model)
        return embed(self.model, sentences, self.tokenizer, way)


class TaskType(ABC):
    """What tasks of one type have in common."""

    readout: ClassVar[Readout]
    needs_dev: ClassVar[bool] = False
    """Whether a threshold is chosen on labelled dev examples."""

    @abstractmethod
    def gold(self, examples: Sequence[Any]) -> Any:
        """Return what should be predicted; None if the data has no labels."""

    @abstractmethod
    def label(self, examples: Sequence[Any], gold: Any) -> list[Any]:
        """Return the examples with these labels: the inverse of `gold`."""

    @abstractmethod
    def predict(self, subject: Predictor, examples: Sequence[Any], dev: Sequence[Any]) -> Any:
        """Return a model's predictions; `dev` holds examples for choosing a threshold."""

    def said(self, example: Any) -> Sequence[str]:
        """Return the labels of an example."""
        return ()

    def count(self, examples: Sequence[Any]) -> int:
        """Return the number of examples."""
        return len(examples)

    def compatible(self) -> "TaskType | None":
        """Return the variant that follows the official scripts exactly; None if it is the same."""
        return None

    def check_dev(self, examples: Sequence[Any]) -> None:
        """Raise unless a threshold can be chosen on these examples."""
        return


@dataclass(frozen=True, slots=True)
class FineTunedTask(TaskType):
    """A task type that a model is fine-tuned for."""

    preprocessing: Any
    problem: ClassVar[str | None] = None
    """What transformers calls the problem, where it is not one label each."""

    def outputs(self, labels: Sequence[str]) -> int | None:
        """Return how many outputs a readout for these labels has; None if it always has as many."""
        return len(labels) or None

    def label_tensors(self, encoded: Sequence[EncodedInput]) -> dict[str, Tensor]:
        """Return the label tensors that the loss takes."""
        return label_tensors(encoded, self.readout)

    def fitted(self, model: Any) -> Any:
        """Return the preprocessing with inputs that fit the model."""
        return self.preprocessing.fit(model.longest_input)

    def predict(self, subject, examples, dev):
        """Encode the examples, run the model, decode its predictions."""
        preprocessing = self.fitted(subject.model)
        encoded = list(preprocessing.encode(examples, subject.tokenizer))
        outputs = predict(subject.model, encoded, subject.tokenizer, subject.gates)
        return preprocessing.decode(examples, encoded, outputs, subject.labels)


@dataclass(frozen=True, slots=True)
class PairClassification(FineTunedTask):
    """Classifies the relation of two sentences."""

    preprocessing: PairPreprocessor = field(default_factory=PairPreprocessor)
    readout = SENTENCE_CLASSIFICATION

    def gold(self, examples: Sequence[SentencePair]):
        """Return the labels."""
        return known_labels([pair.label for pair in examples])

    def label(self, examples: Sequence[SentencePair], gold: Sequence[str]):
        """Set one label per pair."""
        return [replace(pair, label=label) for pair, label in matched(examples, gold)]

    def said(self, example: SentencePair):
        """Return the pair's label."""
        return (example.label,) if isinstance(example.label, str) else ()


@dataclass(frozen=True, slots=True)
class TokenTagging(FineTunedTask):
    """Predicts one tag per word."""

    preprocessing: TaggingPreprocessor = field(default_factory=TaggingPreprocessor)
    readout = TOKEN_CLASSIFICATION

    def gold(self, examples: Sequence[TaggedSentence]):
        """Return the tags, sentence by sentence."""
        return known_labels([None if each.tags is None else list(each.tags) for each in examples])

    def label(self, examples: Sequence[TaggedSentence], gold: Sequence[Sequence[str]]):
        """Set one tag per word; empty sentences are skipped."""
        found = []
        pairs = matched(examples, [tags for tags in gold if tags])
        for number, (sentence, tags) in enumerate(pairs, 1):
            if len(sentence.words) != len(tags):
                raise DataError(
                    f"There are {len(tags)} labels for the {len(sentence.words)} words of "
                    f"sentence {number}."
                )
            found.append(replace(sentence, tags=tuple(tags)))
        return found

    def said(self, example: TaggedSentence):
        """Return the tags of its words."""
        return example.tags or ()


@dataclass(frozen=True, slots=True)
class SpanExtraction(FineTunedTask):
    """Finds the answer to a question in a text."""

    preprocessing: SpanPreprocessor = field(default_factory=SpanPreprocessor)
    readout = SPAN

    def gold(self, examples: Sequence[Question]):
        """Return all correct answers of each question id."""
        answers = [[answer.text for answer in each.answers] or None for each in examples]
        known = known_labels(answers)
        return known and [(each.id, own) for each, own in zip(examples, known, strict=True)]

    def label(self, examples: Sequence[Question], gold: Sequence[tuple[str, list[str]]]):
        """Set the answers by id, at the first occurrence of their text: only that is scored."""
        apart = UniqueIds()
        answers = {apart(name): texts for name, texts in gold}
        absent = [each.id for each in examples if each.id not in answers]
        if absent:
            raise DataError(
                f"There are no answers to {len(absent)} of {len(examples)} questions, such as "
                f"{absent[0]}."
            )
        return [
            replace(
                each,
                answers=tuple(
                    # The official scripts leave an empty answer where they take one out.
                    Answer(text, each.context.find(text))
                    for text in answers[each.id]
                    if text
                ),
            )
            for each in examples
        ]

    def compatible(self):
        """Return the variant that extracts answers as the official script does."""
        return replace(self, preprocessing=replace(self.preprocessing, compat=True))


def labels_of(config: Any) -> list[str]:
    """The labels of a model with this config, in the order of their numbers."""
    names = config.id2label
    return [names[number] for number in sorted(names)]


def matched(examples: Sequence[Any], labels: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Pair each example with its label; raise if their numbers differ."""
    if len(labels) != len(examples):
        raise DataError(f"There are {len(labels)} labels for {len(examples)} examples.")
    return list(zip(examples, labels, strict=True))


def known_labels(labels: list[Any]) -> list[Any] | None:
    """Return all labels, or None if there are none; raise if only some examples have one."""
    missing = sum(label is None for label in labels)
    if missing == len(labels):
        return None
    if missing:
        raise DataError(
            f"{missing} of {len(labels)} examples have no label: label all of them, or none."
        )
    return labels
