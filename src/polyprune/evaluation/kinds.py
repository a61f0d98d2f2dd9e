"""What there is to do with an example: label it, tag its words, answer it, find translations."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..errors import ConfigError, DataError
from ..model.components import Gates
from ..model.hub import longest_of
from ..model.readouts import Readout
from .answering import Windows
from .classification import Pairs
from .embedding import Embedding, embed
from .examples import Bitext, Pair, Question, Tagged
from .predict import Watch, predict
from .retrieval import best_threshold, extract, mine_ids, nearest
from .tagging import Words


@dataclass(frozen=True, slots=True)
class Subject:
    """A model that is asked, and how."""

    model: Any
    tokenizer: Any
    gates: Gates | None = None
    """Where they are not cut yet, as in training."""
    embedding: Embedding | None = None
    """How sentences become vectors; what suits the model unless given."""
    watch: Watch = field(default=lambda _, things: things)

    @property
    def labels(self) -> list[str]:
        """What the model can say."""
        names = self.model.config.id2label
        return [names[number] for number in sorted(names)]

    def embed(self, sentences: Sequence[str]) -> Any:
        """The vectors of sentences."""
        way = self.embedding or Embedding.of(self.model)
        return embed(self.model, sentences, self.tokenizer, way, self.watch)


class Kind(ABC):
    """A kind of task."""

    readout: ClassVar[Readout]

    @abstractmethod
    def gold(self, examples: Sequence[Any]) -> Any:
        """What should be predicted; None where the data does not tell."""

    @abstractmethod
    def predict(
        self, subject: Subject, examples: Sequence[Any], dev: Callable[[], Sequence[Any]]
    ) -> Any:
        """What a model predicts; `dev` has the examples that settings may be chosen on."""


@dataclass(frozen=True, slots=True)
class Learned(Kind):
    """A kind that a model is fine-tuned for."""

    preprocessing: Any

    def fitted(self, model: Any) -> Any:
        """The preprocessing, its inputs no longer than a model can read."""
        return self.preprocessing.fit(longest_of(model))

    def predict(self, subject, examples, dev):
        """Encode, ask, decode."""
        preprocessing = self.fitted(subject.model)
        encoded = list(preprocessing.encode(examples, subject.tokenizer))
        outputs = predict(
            subject.model, encoded, subject.tokenizer, subject.gates, watch=subject.watch
        )
        return preprocessing.decode(examples, encoded, outputs, subject.labels)


@dataclass(frozen=True, slots=True)
class Classifying(Learned):
    """What is between two sentences."""

    preprocessing: Pairs = field(default_factory=Pairs)
    readout = "sentence-classification"

    def gold(self, examples: Sequence[Pair]):
        """Labels."""
        return _known([pair.label for pair in examples])


@dataclass(frozen=True, slots=True)
class Tagging(Learned):
    """A tag for every word."""

    preprocessing: Words = field(default_factory=Words)
    readout = "token-classification"

    def gold(self, examples: Sequence[Tagged]):
        """Tags, sentence by sentence."""
        return _known([None if each.tags is None else list(each.tags) for each in examples])


@dataclass(frozen=True, slots=True)
class Answering(Learned):
    """Where in a text the answer is."""

    preprocessing: Windows = field(default_factory=Windows)
    readout = "span"

    def gold(self, examples: Sequence[Question]):
        """Ids with all right answers."""
        answers = [[answer.text for answer in each.answers] or None for each in examples]
        known = _known(answers)
        return known and [(each.id, own) for each, own in zip(examples, known, strict=True)]


@dataclass(frozen=True, slots=True)
class Finding(Kind):
    """For every English sentence its translation (Tatoeba)."""

    readout = "hidden-states"

    def gold(self, examples: Sequence[Bitext]):
        """The line of each translation, in the order of the English sentences."""
        (bitext,) = examples
        if bitext.gold is None:
            return None
        line = {target: int(source) for source, target in bitext.gold}
        return [line[target] for target in bitext.target_ids]

    def predict(self, subject, examples, dev):
        """The nearest of all."""
        (bitext,) = examples
        found = nearest(subject.embed(bitext.sources), subject.embed(bitext.targets))
        return [int(bitext.source_ids[i]) for i in found.tolist()]


@dataclass(frozen=True, slots=True)
class Mining(Kind):
    """All translations in two large texts, most of which has none (BUCC)."""

    neighbours: int = 4
    readout = "hidden-states"

    def gold(self, examples: Sequence[Bitext]):
        """Pairs of ids."""
        (bitext,) = examples
        return None if bitext.gold is None else list(bitext.gold)

    def predict(self, subject, examples, dev):
        """Pairs above the threshold that is best for those of dev."""
        (bitext,), (known,) = examples, dev()
        if known.gold is None:
            raise DataError(
                "A threshold is chosen on dev pairs, which are missing: <lang>-en.dev.gold."
            )
        pairs = self._mine(subject, bitext)
        likely = pairs if known is bitext else self._mine(subject, known)
        return extract(pairs, best_threshold(likely, known.gold))

    def _mine(self, subject: Subject, bitext: Bitext):
        sources, targets = subject.embed(bitext.sources), subject.embed(bitext.targets)
        return mine_ids(bitext, sources, targets, self.neighbours)


def check_labels(subject: Subject, labels: Sequence[str], task: str) -> None:
    """Raise unless a model says what a task asks for."""
    if sorted(subject.labels) != sorted(labels):
        says = ", ".join(subject.labels[:8]) + (", …" if len(subject.labels) > 8 else "")
        raise ConfigError(
            f"{subject.model.config.name_or_path or 'This model'} was not fine-tuned for {task}: "
            f"it says {says}. First: polyprune finetune MODEL --task {task}."
        )


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
