"""Criterion × budget × setting × repair: any of each goes with any of the others."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

import polyprune as pp
from polyprune.errors import ConfigError
from polyprune.model.network.components import open_gates, sizes
from polyprune.model.surgery.certify import certify, random_probe
from polyprune.pruning.criteria.criterion import (
    METHODS,
    RULES,
    Criterion,
    criterion_named,
    random_scores,
)
from polyprune.pruning.criteria.importance import GateGradients
from polyprune.pruning.criteria.scores_file import ScoreSheet, ScoringRecord
from polyprune.pruning.gates.gatings import GATINGS
from polyprune.pruning.prune import elastic_gates, prune_model
from polyprune.pruning.ranker import Ranker
from polyprune.pruning.repair import NO_REPAIR, Repair
from polyprune.pruning.second_order.curves import RemovalCurves
from polyprune.pruning.selection.budgets import Budget, Parameters, Sparsity, Time
from polyprune.pruning.selection.latency import LatencyTable
from polyprune.pruning.selection.ranking import ComponentWeights, Minimum, density_of
from polyprune.pruning.selection.selection import SelectedRow, Selection
from polyprune.pruning.setting import SETTINGS

PACKAGE = Path(pp.__file__).parent
LANGUAGES = ("sw", "ur", "th")
TABLE = LatencyTable(
    about={"threads": 1},
    base=1e-3,
    heads=((0, 0.0), (4, 4e-3)),
    units=((0, 0.0), (40, 4e-3)),
    rank=((0, 0.0), (24, 1e-4)),
)
CRITERIA = [*RULES.values(), *(criterion_named(name) for name in METHODS if name != "gradient")]
BUDGETS = [
    Sparsity(0.5),
    Sparsity(0.5, exact=True),
    Sparsity(0.4, minimum=Minimum(1, 4, 2), multiple=4),
    Parameters(8_000),
    Parameters(8_000, multiple=8),
    Time(8e-3, TABLE),
    Time(8e-3, TABLE, parameters=9_000, multiple=4),
]


@dataclass(frozen=True, slots=True)
class LastFirst(Criterion):
    """A criterion of one's own: the last component is the best."""

    method = "last-first"
    per = None

    def rank(self, model, gradients, weights):
        return sizes(model.shape).map(lambda n: torch.arange(n, dtype=torch.float32)[None])


@dataclass(frozen=True, slots=True)
class FirstLayerOnly(Budget):
    """A budget of one's own: whatever the scores, the first layer stays."""

    def select(self, model, ranker):
        gates = open_gates(model.shape)
        for gate in (*gates.heads[1:], *gates.units[1:]):
            gate.zero_()
        audit = Sparsity(0.0).select(model, ranker).only.audit
        return Selection(gates, (SelectedRow("shared", audit, ("layers",)),))


@dataclass(frozen=True, slots=True)
class Doubled:
    """A repair of one's own: twice the output biases."""

    seen: list
    name: str = "doubled biases"

    def apply(self, model, uncut, selection):
        self.seen.append((uncut, selection))
        with torch.no_grad():
            for layer in model.encoder.layers:
                layer.feed_forward.contract.bias *= 2
        return model


def sheet_of(model, per):
    rows = [random_scores(model.shape, seed) for seed in range(len(LANGUAGES))]
    scores = rows[0].map(lambda *row: torch.cat(row), *rows[1:])
    about = ScoringRecord("", "spectral", "masked-lm", per, LANGUAGES, (8,) * len(LANGUAGES))
    curves = RemovalCurves.sorted_by(scores.map(lambda score: score.double()))
    return ScoreSheet(GateGradients(scores, scores.map(torch.square), curves), about)


def ranker_of(model, criterion, setting):
    sheet = sheet_of(model, criterion.per) if criterion.needs_text else None
    return Ranker(criterion, setting, sheet)


def combinations():
    return [
        pytest.param(criterion, setting, id=f"{criterion.method} {criterion.rule} {setting.name}")
        for criterion in [*CRITERIA, LastFirst()]
        for setting in SETTINGS.values()
        if criterion.needs_text or not setting.per_language
    ]


@pytest.mark.parametrize(("criterion", "setting"), combinations())
def test_a_selection_says_what_shrinking_leaves(model, criterion, setting):
    ranker = ranker_of(model, criterion, setting)
    for budget in BUDGETS:
        selection = budget.select(model, ranker)
        assert selection.names == ranker.rows == setting.rows(ranker.languages)
        assert len(selection.gates.rank) == len(selection.rows)
        for name in selection.names:
            row = selection.row(name)
            pruned = prune_model(model, budget, ranker, language=name)
            audit = row.only.audit
            assert audit.parameters == pruned.model.num_parameters()
            assert audit.parameters_before == model.num_parameters()
            assert (audit.heads, audit.units) == (
                pruned.model.shape.heads,
                pruned.model.shape.units,
            )
            assert row.only.binds
            assert all(map(torch.equal, row.gates.leaves(), pruned.selection.gates.leaves()))
            assert pruned.languages == ((name,) if setting.per_language else ranker.languages)
            assert all(units % budget.multiple == 0 for units in audit.units)


@pytest.mark.parametrize(("criterion", "setting"), combinations())
def test_every_budget_is_kept(model, criterion, setting):
    ranker = ranker_of(model, criterion, setting)
    for row in Sparsity(0.5).select(model, ranker).rows:
        assert row.audit.gate_sparsity >= 0.5 - 1e-9
        assert (row.binds, row.seconds, row.audit.requested_sparsity) == (("sparsity",), None, 0.5)
    for row in Parameters(8_000).select(model, ranker).rows:
        assert row.audit.parameters <= row.audit.requested_parameters == 8_000
        assert row.binds == ("parameters",)
    for row in Time(8e-3, TABLE, parameters=9_000).select(model, ranker).rows:
        assert row.audit.parameters <= 9_000
        assert row.seconds <= 8e-3 + 1e-9
        assert set(row.binds) <= {"time", "parameters"}


@pytest.mark.parametrize(("criterion", "setting"), combinations())
def test_every_size_holds_what_a_sparsity_selects(model, criterion, setting):
    ranker = ranker_of(model, criterion, setting)
    every, selection = elastic_gates(model, ranker), Sparsity(0.5).select(model, ranker)
    assert every.rows == selection.names
    assert every.holds_every_size
    if criterion.needs_curves:  # every size follows one ranking, one size is an exact knapsack
        weights = ComponentWeights.of(model.shape)
        sizes_ = (density_of(gates, weights) for gates in (every.every_row(0.5), selection.gates))
        ranked, exact = sizes_
        assert (ranked <= exact).all()
        assert (exact - ranked < weights.head / weights.total(sizes(model.shape))).all()
    else:
        assert all(map(torch.equal, every.every_row(0.5).leaves(), selection.gates.leaves()))


def test_nothing_binds_where_everything_stays(model):
    for budget in (Sparsity(0.0), Parameters(10**9), Time(1.0, TABLE)):
        assert budget.select(model, Ranker(LastFirst())).only.binds == ()


def test_a_size_in_bytes_is_a_budget_of_parameters(model):
    assert Parameters.within_bytes(40_000, model, multiple=4).parameters <= 10_000


def test_a_budget_of_ones_own_goes_with_everything(model):
    pruned = prune_model(model, FirstLayerOnly(), Ranker(LastFirst()))
    assert pruned.model.shape.heads[1:] == (0,) * (model.shape.layers - 1)
    assert pruned.selection.only.binds == ("layers",)


def test_a_repair_of_ones_own_sees_the_uncut_model_and_the_selection(model):
    repair, ranker = Doubled([]), ranker_of(model, RULES["fisher"], SETTINGS["non-shared"])
    assert isinstance(repair, Repair)
    assert isinstance(NO_REPAIR, Repair)
    plain = prune_model(model, Sparsity(0.5), ranker, language="ur")
    other = prune_model(model, Sparsity(0.5), ranker, language="ur", repair=repair)
    ((uncut, selection),) = repair.seen
    assert uncut.shape == other.uncut.shape
    assert uncut.shape.factorized
    probes = {"random": random_probe(model.shape)}
    found = certify(other.uncut, other.selection.gates, other.model, probes)
    assert found["random"] < 1e-4  # the repaired one is proven too
    assert selection.names == ("ur",)
    layers = zip(plain.model.encoder.layers, other.model.encoder.layers, strict=True)
    for one, two in layers:
        assert torch.equal(2 * one.feed_forward.contract.bias, two.feed_forward.contract.bias)


def test_one_language_has_to_be_named_and_known(model):
    ranker = ranker_of(model, RULES["fisher"], SETTINGS["non-shared"])
    with pytest.raises(ConfigError, match=r"subnetwork for each of sw, ur, th\. Name one"):
        prune_model(model, Sparsity(0.5), ranker)
    with pytest.raises(pp.PolypruneError, match="ja"):
        prune_model(model, Sparsity(0.5), ranker, language="ja")


def test_what_reads_no_text_knows_no_languages():
    for criterion in (LastFirst(), criterion_named("magnitude")):
        with pytest.raises(ConfigError, match="knows no languages: use `setting='shared'"):
            Ranker(criterion, SETTINGS["non-shared"])


def test_gradients_without_text_are_refused(model):
    with pytest.raises(ConfigError, match="Gradients need text"):
        Sparsity(0.5).select(model, Ranker())


def test_nobody_asks_for_the_name_of_a_criterion_a_setting_or_a_kind_of_gates():
    """A new one must not need an `if`; files and configs are read in one place each."""
    names = "|".join([*METHODS, *RULES, *SETTINGS, *GATINGS])
    asking = re.compile(rf'[=!]= "({names})"')
    reading = {"training/gating_config.py", "model/files/gating_file.py"}
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).as_posix() not in reading:
            assert not asking.search(path.read_text(encoding="utf-8")), path
