"""The types of tasks that compare sentence embeddings: find translations, or mine them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..errors import DataError
from ..model.network.readouts import HIDDEN_STATES
from .examples import Bitext
from .retrieval import above_threshold, best_threshold, mine_ids, nearest
from .task_types import Predictor, TaskType, matched


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
        pairs = matched(bitext.target_ids, gold)
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
