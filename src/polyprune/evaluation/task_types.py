"""The types of tasks: pair classification, tagging, span extraction, translation retrieval."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ..errors import DataError
from ..model.network.components import Gates
from ..model.network.readouts import (
    HIDDEN_STATES,
    SENTENCE_CLASSIFICATION,
    SPAN,
    TOKEN_CLASSIFICATION,
    Readout,
)
from .classification import PairPreprocessor
from .examples import Answer, Bitext, Question, SentencePair, TaggedSentence, UniqueIds
from .prediction import predict
from .question_answering import SpanPreprocessor
from .retrieval import above_threshold, best_threshold, mine_ids, nearest
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
        return _known([pair.label for pair in examples])

    def label(self, examples: Sequence[SentencePair], gold: Sequence[str]):
        """Set one label per pair."""
        return [replace(pair, label=label) for pair, label in _matched(examples, gold)]

    def said(self, example: SentencePair):
        """Return the pair's label."""
        return () if example.label is None else (example.label,)


@dataclass(frozen=True, slots=True)
class TokenTagging(FineTunedTask):
    """Predicts one tag per word."""

    preprocessing: TaggingPreprocessor = field(default_factory=TaggingPreprocessor)
    readout = TOKEN_CLASSIFICATION

    def gold(self, examples: Sequence[TaggedSentence]):
        """Return the tags, sentence by sentence."""
        return _known([None if each.tags is None else list(each.tags) for each in examples])

    def label(self, examples: Sequence[TaggedSentence], gold: Sequence[Sequence[str]]):
        """Set one tag per word; empty sentences are skipped."""
        found = []
        pairs = _matched(examples, [tags for tags in gold if tags])
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
        known = _known(answers)
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


@dataclass(frozen=True, slots=True)
class RetrievalTask(TaskType):
    """A task type that compares sentence embeddings."""

    readout = HIDDEN_STATES

    def count(self, examples: Sequence[Bitext]):
        """Return the number of sentences in the language, without the English ones."""
        (bitext,) = examples
        return len(bitext.sources)


@dataclass(frozen=True, slots=True)
class TranslationSearch(RetrievalTask):
    """Finds the translation of every English sentence (Tatoeba)."""

    def gold(self, examples: Sequence[Bitext]):
        """Return the line number of each translation, in the order of the English sentences."""
        (bitext,) = examples
        if bitext.gold is None:
            return None
        line = {target: int(source) for source, target in bitext.gold}
        return [line[target] for target in bitext.target_ids]

    def label(self, examples: Sequence[Bitext], gold: Sequence[int]):
        """Set one line number per English sentence."""
        (bitext,) = examples
        pairs = _matched(bitext.target_ids, gold)
        return [replace(bitext, gold=tuple((str(line), target) for target, line in pairs))]

    def predict(self, subject, examples, dev):
        """Return the nearest sentence of each."""
        (bitext,) = examples
        sources, targets = subject.embed(bitext.sources), subject.embed(bitext.targets)
        found = nearest(sources, targets, device=subject.device)
        return [int(bitext.source_ids[i]) for i in found.tolist()]


@dataclass(frozen=True, slots=True)
class BitextMining(RetrievalTask):
    """Mines translation pairs from two large texts, most of whose sentences have none (BUCC)."""

    neighbours: int = 4
    needs_dev = True

    def gold(self, examples: Sequence[Bitext]):
        """Return the pairs of ids."""
        (bitext,) = examples
        return None if bitext.gold is None else list(bitext.gold)

    def label(self, examples: Sequence[Bitext], gold: Sequence[tuple[str, str]]):
        """Set all pairs of ids."""
        (bitext,) = examples
        return [replace(bitext, gold=tuple(gold))]

    def check_dev(self, examples: Sequence[Bitext]):
        """Raise if there are no gold pairs."""
        if self.gold(examples) is None:
            raise DataError(
                "A threshold is chosen on dev pairs, which are missing: <lang>-en.dev.gold."
            )

    def predict(self, subject, examples, dev):
        """Return the pairs above the threshold with the best F1 on dev."""
        (bitext,) = examples
        self.check_dev(dev)
        (known,) = dev
        pairs = self._mine(subject, bitext)
        likely = pairs if known is bitext else self._mine(subject, known)
        return above_threshold(pairs, best_threshold(likely, known.gold))

    def _mine(self, subject: Predictor, bitext: Bitext):
        sources, targets = subject.embed(bitext.sources), subject.embed(bitext.targets)
        return mine_ids(bitext, sources, targets, self.neighbours, device=subject.device)


def labels_of(config: Any) -> list[str]:
    """The labels of a model with this config, in the order of their numbers."""
    names = config.id2label
    return [names[number] for number in sorted(names)]


def _matched(examples: Sequence[Any], labels: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Pair each example with its label; raise if their numbers differ."""
    if len(labels) != len(examples):
        raise DataError(f"There are {len(labels)} labels for {len(examples)} examples.")
    return list(zip(examples, labels, strict=True))


def _known(labels: list[Any]) -> list[Any] | None:
    """Return all labels, or None if there are none; raise if only some examples have one."""
    missing = sum(label is None for label in labels)
    if missing == len(labels):
        return None
    if missing:
        raise DataError(
            f"{missing} of {len(labels)} examples have no label: label all of them, or none."
        )
    return labels
