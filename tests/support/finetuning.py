"""Fine-tuning so small that a test can do several of them, and models of every kind for it."""

from collections.abc import Iterable
from pathlib import Path

import pytest
import torch

import polyprune as pp
from polyprune.evaluation.finetune_config import FineTuneConfig, SearchSpace, Trial
from polyprune.evaluation.hyperparameter_search import HyperparameterSearch
from polyprune.model.files.gates_file import SHARED
from polyprune.model.network.components import sizes
from polyprune.model.network.source import ModelSource
from polyprune.progress import Silent, Stopped
from polyprune.pruning.gates.dynamic import boundaries
from polyprune.pruning.gates.elastic import Elastic, stack_rows
from polyprune.pruning.gates.gatings import DynamicGating, FixedGating
from polyprune.pruning.selection.ranking import ComponentWeights, unflatten
from polyprune.training.loop import StepReport
from polyprune.training.run import train

QUICK = SearchSpace((1e-2,), (1,), batch=4)


def tuned(
    setup: FineTuneConfig, out: Path, grid: SearchSpace = QUICK, *, force: bool = False
) -> HyperparameterSearch:
    """Fine-tuning to its end."""
    tuning = HyperparameterSearch(setup, grid, out, force=force)
    for setting in tuning.pending():
        trained(tuning, setting)
    return tuning


def trained(
    tuning: HyperparameterSearch, setting: Trial, stops: Iterable[int] = ()
) -> list[StepReport]:
    """The reports of one run, stopped after these steps and started again each time."""
    run, folder = tuning.run(setting, tuning.encode())
    reports: list[StepReport] = []
    for last in stops:
        asked = lambda last=last: len(reports) + 1 == last  # noqa: E731
        with pytest.raises(Stopped):
            reports.extend(train(run, folder, progress=Silent(asked), material=tuning.material))
    reports.extend(train(run, folder, material=tuning.material))
    tuning.conclude(setting)
    return reports


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return pp.load(folder).state_dict()


def every_size(speaking: Path, folder: Path) -> Path:
    """An elastic model, ranked by chance."""
    model = pp.load(speaking)
    counts, weights = sizes(model.shape), ComponentWeights.of(model.shape)
    scores = unflatten(torch.rand(1, sum(counts.leaves())), counts)
    model.elastic = Elastic(DynamicGating(*boundaries(scores, weights)), (SHARED,), weights)
    return _saved(model, speaking, folder)


def gates_a_language(speaking: Path, folder: Path) -> Path:
    """Gates for English and Russian; a unit that both keep, one that English alone does, one that
    Russian alone does, and one that neither does: the first four of the first layer."""
    model = pp.load(speaking)
    english, russian = (pp.open_gates(model.shape) for _ in range(2))
    english.units[0][:, [2, 3]] = 0
    russian.units[0][:, [1, 3]] = 0
    gating = FixedGating(stack_rows([english, russian]))
    model.elastic = Elastic(gating, ("en", "ru"), ComponentWeights.of(model.shape))
    return _saved(model, speaking, folder)


def _saved(model, speaking: Path, folder: Path) -> Path:
    model.source = ModelSource.at(speaking)
    model.save_pretrained(folder)
    return folder
