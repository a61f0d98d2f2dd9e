"""What there is to do with an example: label it, tag its words, answer it, find translations."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ..errors import ConfigError, DataError
from ..loading.hub import longest_input
from ..model.network.components import Gates
from ..model.network.readouts import Readout
from .classification import PairPreprocessor
from .examples import Answer, Bitext, Question, SentencePair, TaggedSentence
from .prediction import predict
from .question_answering import SpanPreprocessor
from .readers.question_files import UniqueIds
from .retrieval import above_threshold, best_threshold, mine_ids, nearest
from .sentence_embedding import EmbeddingConfig, embed
from .tagging import TaggingPreprocessor


@dataclass(frozen=True, slots=True)
class Predictor:
    """A model that is asked, and how."""

    model: Any
    tokenizer: Any
    gates: Gates | None = None
    """Where they are not cut yet, as in training."""
    embedding: EmbeddingConfig | None = None
    """How sentences become vectors; what suits the model unless given."""
    device: str = "auto"
    """Where sentences are compared; a GPU if there is one unless given."""

    @property
    def labels(self) -> list[str]:
        """What the model can say."""
        names = self.model.config.id2label
        return [names[number] for number in sorted(names)]

    def embed(self, sentences: Sequence[str]) -> Any:
        """The vectors of sentences."""
        way = self.embedding or EmbeddingConfig.of(self.model)
        return embed(self.model, sentences, self.tokenizer, way)


class TaskType(ABC):
    """A kind of task."""

    readout: ClassVar[Readout]
    needs_dev: ClassVar[bool] = False
    """Whether settings are chosen on dev examples, which have to tell what is right."""

    @abstractmethod
    def gold(self, examples: Sequence[Any]) -> Any:
        """What should be predicted; None where the data does not tell."""

    @abstractmethod
    def label(self, examples: Sequence[Any], gold: Any) -> list[Any]:
        """The examples with what should be predicted: the inverse of `gold`."""

    @abstractmethod
    def predict(
        self, subject: Predictor, examples: Sequence[Any], dev: Callable[[], Sequence[Any]]
    ) -> Any:
        """What a model predicts; `dev` has the examples that settings may be chosen on."""

    def said(self, example: Any) -> Sequence[str]:
        """The labels that an example has, all of which should be the task's."""
        return ()

    def count(self, examples: Sequence[Any]) -> int:
        """How many are asked."""
        return len(examples)

    def compatible(self) -> "TaskType | None":
        """The same as the official scripts do it, where they do otherwise; else None."""
        return None

    def check_dev(self, examples: Sequence[Any]) -> None:
        """Raise unless settings can be chosen on these."""
        return


@dataclass(frozen=True, slots=True)
class FineTunedTask(TaskType):
    """A kind that a model is fine-tuned for."""

    preprocessing: Any

    def fitted(self, model: Any) -> Any:
        """The preprocessing, its inputs no longer than a model can read."""
        return self.preprocessing.fit(longest_input(model))

    def predict(self, subject, examples, dev):
        """Encode, ask, decode."""
        preprocessing = self.fitted(subject.model)
        encoded = list(preprocessing.encode(examples, subject.tokenizer))
        outputs = predict(subject.model, encoded, subject.tokenizer, subject.gates)
        return preprocessing.decode(examples, encoded, outputs, subject.labels)


@dataclass(frozen=True, slots=True)
class PairClassification(FineTunedTask):
    """What is between two sentences."""

    preprocessing: PairPreprocessor = field(default_factory=PairPreprocessor)
    readout = "sentence-classification"

    def gold(self, examples: Sequence[SentencePair]):
        """Labels."""
        return _known([pair.label for pair in examples])

    def label(self, examples: Sequence[SentencePair], gold: Sequence[str]):
        """A label a pair."""
        return [replace(pair, label=label) for pair, label in _matched(examples, gold)]

    def said(self, example: SentencePair):
        """Its one label."""
        return () if example.label is None else (example.label,)


@dataclass(frozen=True, slots=True)
class TokenTagging(FineTunedTask):
    """A tag for every word."""

    preprocessing: TaggingPreprocessor = field(default_factory=TaggingPreprocessor)
    readout = "token-classification"

    def gold(self, examples: Sequence[TaggedSentence]):
        """Tags, sentence by sentence."""
        return _known([None if each.tags is None else list(each.tags) for each in examples])

    def label(self, examples: Sequence[TaggedSentence], gold: Sequence[Sequence[str]]):
        """A tag a word; several empty lines between sentences are as good as one."""
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
        """The tags of its words."""
        return example.tags or ()


@dataclass(frozen=True, slots=True)
class SpanExtraction(FineTunedTask):
    """Where in a text the answer is."""

    preprocessing: SpanPreprocessor = field(default_factory=SpanPreprocessor)
    readout = "span"

    def gold(self, examples: Sequence[Question]):
        """Ids with all right answers."""
        answers = [[answer.text for answer in each.answers] or None for each in examples]
        known = _known(answers)
        return known and [(each.id, own) for each, own in zip(examples, known, strict=True)]

    def label(self, examples: Sequence[Question], gold: Sequence[tuple[str, list[str]]]):
        """Answers by ids, each where its text first is: only the text is scored."""
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
        """Answers cut out as by the official script."""
        return replace(self, preprocessing=replace(self.preprocessing, compat=True))


@dataclass(frozen=True, slots=True)
class RetrievalTask(TaskType):
    """A kind that compares the vectors of sentences."""

    readout = "hidden-states"

    def count(self, examples: Sequence[Bitext]):
        """Sentences of the language, not those of English."""
        (bitext,) = examples
        return len(bitext.sources)


@dataclass(frozen=True, slots=True)
class TranslationSearch(RetrievalTask):
    """For every English sentence its translation (Tatoeba)."""

    def gold(self, examples: Sequence[Bitext]):
        """The line of each translation, in the order of the English sentences."""
        (bitext,) = examples
        if bitext.gold is None:
            return None
        line = {target: int(source) for source, target in bitext.gold}
        return [line[target] for target in bitext.target_ids]

    def label(self, examples: Sequence[Bitext], gold: Sequence[int]):
        """A line an English sentence."""
        (bitext,) = examples
        pairs = _matched(bitext.target_ids, gold)
        return [replace(bitext, gold=tuple((str(line), target) for target, line in pairs))]

    def predict(self, subject, examples, dev):
        """The nearest of all."""
        (bitext,) = examples
        sources, targets = subject.embed(bitext.sources), subject.embed(bitext.targets)
        found = nearest(sources, targets, device=subject.device)
        return [int(bitext.source_ids[i]) for i in found.tolist()]


@dataclass(frozen=True, slots=True)
class BitextMining(RetrievalTask):
    """All translations in two large texts, most of which has none (BUCC)."""

    neighbours: int = 4
    needs_dev = True

    def gold(self, examples: Sequence[Bitext]):
        """Pairs of ids."""
        (bitext,) = examples
        return None if bitext.gold is None else list(bitext.gold)

    def label(self, examples: Sequence[Bitext], gold: Sequence[tuple[str, str]]):
        """All pairs."""
        (bitext,) = examples
        return [replace(bitext, gold=tuple(gold))]

    def check_dev(self, examples: Sequence[Bitext]):
        """Raise without gold pairs."""
        if self.gold(examples) is None:
            raise DataError(
                "A threshold is chosen on dev pairs, which are missing: <lang>-en.dev.gold."
            )

    def predict(self, subject, examples, dev):
        """Pairs above the threshold that is best for those of dev."""
        (bitext,), development = examples, dev()
        self.check_dev(development)
        (known,) = development
        pairs = self._mine(subject, bitext)
        likely = pairs if known is bitext else self._mine(subject, known)
        return above_threshold(pairs, best_threshold(likely, known.gold))

    def _mine(self, subject: Predictor, bitext: Bitext):
        sources, targets = subject.embed(bitext.sources), subject.embed(bitext.targets)
        return mine_ids(bitext, sources, targets, self.neighbours, device=subject.device)


def check_labels(subject: Predictor, labels: Sequence[str], task: str) -> None:
    """Raise if a model says what a task does not know; it need not say all that the task does."""
    if not set(subject.labels) <= set(labels):
        says = ", ".join(subject.labels[:8]) + (", …" if len(subject.labels) > 8 else "")
        raise ConfigError(
            f"{subject.model.config.name_or_path or 'This model'} was not fine-tuned for {task}: "
            f"it says {says}. First: polyprune finetune MODEL --task {task}."
        )


def _matched(examples: Sequence[Any], labels: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Each example with its label."""
    if len(labels) != len(examples):
        raise DataError(f"There are {len(labels)} labels for {len(examples)} examples.")
    return list(zip(examples, labels, strict=True))


def _known(labels: list[Any]) -> list[Any] | None:
    """All labels, or None if there are none; some is a mistake."""
    missing = sum(label is None for label in labels)
    if missing == len(labels):
        return None
    if missing:
        raise DataError(
            f"{missing} of {len(labels)} examples have no label: label all of them, or none."
        )
    return labels
