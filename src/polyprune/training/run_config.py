"""The config of a training run as one value: the model, the text, the losses, the phases."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from ..errors import ConfigError
from ..model.network.gated_model import PolyprunePreTrainedModel
from .gating_config import GatingConfig
from .objectives import Objective
from .phases import Phase, rescale
from .regularizer import PenaltyConfig
from .run_sections import (
    BatchConfig,
    CorpusConfig,
    EngineConfig,
    SavingConfig,
    StartConfig,
    TeacherConfig,
)


@dataclass(frozen=True, slots=True)
class Run:
    """The whole config of a training run."""

    phases: tuple[Phase, ...] = ()
    """What is trained, in which steps; none in a run that only cuts."""
    model: StartConfig = field(default_factory=StartConfig)
    corpus: CorpusConfig = field(default_factory=CorpusConfig)
    objective: Objective = field(default_factory=lambda: Objective(mlm=1.0))
    gating: GatingConfig = field(default_factory=GatingConfig)
    penalties: PenaltyConfig = field(default_factory=PenaltyConfig)
    teacher: TeacherConfig = field(default_factory=TeacherConfig)
    batch: BatchConfig = field(default_factory=BatchConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    saving: SavingConfig = field(default_factory=SavingConfig)
    seed: int = 0

    def __post_init__(self):
        wrong = next((why for unlikely, why in self._refusals() if unlikely), None)
        if wrong is not None:
            raise ConfigError(wrong)

    def _refusals(self) -> Iterator[tuple[bool, str]]:
        """Yield whether each kind of mistake is present, and its message."""
        objective, gating = self.objective, self.gating
        yield (
            not (self.phases or gating.cut_first),
            "A run has one phase or more, unless it only cuts: add [[phases]] with steps, or use "
            'fixed gates with setting = "shared".',
        )
        yield not objective.active, "An objective has one loss or more: set objective.mlm = 1.0."
        yield not 0 <= self.seed < 2**63, f"A seed is a number from 0 to 2⁶³, not {self.seed}."
        yield (
            not gating.trainable and any(phase.train == "gates" for phase in self.phases),
            f"A phase trains gates, but {gating.kind} gates have nothing to train. Use "
            'kind = "learned", or "dynamic" with learned = true.',
        )
        yield (
            self.penalties.any and not gating.trainable,
            "Penalties are for gates that are trained: learned, or dynamic with learned = true.",
        )
        yield (
            self.penalties.kind == "exact" and not gating.trainable,
            f'penalties.kind = "exact" is for gates that are trained, not {gating.kind} ones.',
        )
        yield (
            objective.by_line and objective.masked and not objective.only_masked_lm,
            "An objective reads single lines (embeddings, translations, similarities, outputs) or "
            "blocks (all others), not both; only mlm goes with embeddings.",
        )
        yield (
            bool(objective.translations) and self.corpus.parallel is None,
            'translations needs corpus.parallel, such as "en".',
        )
        yield (
            self.saving.counts_start and gating.any,
            'saving.final = "never worse" is for models without gates: before they close, losses '
            'are lower. Use "best".',
        )
        yield (
            self.teacher.cache and not objective.compares_embeddings,
            "teacher.cache is for embeddings: words are masked anew each time.",
        )

    @property
    def steps(self) -> int:
        """The number of steps in all phases."""
        return sum(phase.steps for phase in self.phases)

    def with_steps(self, steps: int) -> "Run":
        """Return the same run with another number of steps, if any, and its schedules scaled."""
        return self if not self.phases else replace(self, phases=rescale(self.phases, steps))

    def identity(self) -> dict[str, Any]:
        """Return what makes two runs the same, as JSON.

        It leaves out how steps are computed and how fast the model learns: whoever ran out of
        memory, or saw the loss explode, wants to go on from a checkpoint. Renamed settings
        and values keep their first names, so that older runs can be resumed.
        """
        settings = json.loads(json.dumps(_recorded(self)))
        # Records have a rule even where nothing is ranked: the default that there was at first.
        settings["gating"]["rule"] = self.gating.chosen_rule if self.gating.ranked else "paper"
        del settings["saving"], settings["batch"]["at_once"]
        for name in ("ahead", "compile", "checkpointing"):
            del settings["engine"][name]
        for phase in settings["phases"]:
            del phase["learning_rate"], phase["gates_learning_rate"]
        return settings


def _recorded(value: Any) -> Any:
    """Return a config as `run.json` records it, with the first names of settings and values."""
    if isinstance(value, tuple):
        return [_recorded(part) for part in value]
    if not is_dataclass(value):
        return value
    record = {}
    for each in fields(value):
        if "absent" in each.metadata and getattr(value, each.name) == each.metadata["absent"]:
            continue  # which is what older records, that do not have it, mean
        first = {new: old for old, new in each.metadata.get("old_values", {}).items()}
        part = _recorded(getattr(value, each.name))
        record[each.metadata.get("was", each.name)] = first.get(part, part) if first else part
    return record


def check_length(run: Run, model: PolyprunePreTrainedModel) -> None:
    """Raise if a model has fewer positions than an example has tokens."""
    if run.corpus.block > model.longest_input:
        raise ConfigError(
            f"corpus.block is {run.corpus.block}, but this model has positions for "
            f"{model.longest_input}."
        )
