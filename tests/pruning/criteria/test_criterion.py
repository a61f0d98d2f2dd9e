"""From gate gradients, weights or chance to the scores that a ranking sorts by."""

from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import polyprune as pp
from polyprune.errors import ConfigError, UnknownName
from polyprune.model.network.components import PerComponent, sizes
from polyprune.pruning.criteria.criterion import (
    GROUP,
    NAMES,
    RULES,
    Criterion,
    criterion_named,
    magnitude,
    random_scores,
    rule_named,
)
from polyprune.pruning.criteria.importance import GateGradients
from polyprune.pruning.selection.ranking import counts_of
from polyprune.pruning.setting import mean_rows
from support.models import tiny_model
from support.rankings import make, rankings
from support.strategies import build, specs


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A tiny masked LM, gated."""
    folder = tmp_path_factory.mktemp("dense")
    tiny_model("xlm-roberta").save_pretrained(folder)
    return pp.load(folder)


def gradients(ranking):
    """Gradients of two languages, and what components weigh."""
    scores, weights, _ = make(ranking)
    return GateGradients(scores, scores.map(lambda score: score.square() + 0.5)), weights


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(a.leaves(), b.leaves(), strict=True))


@given(rankings())
def test_the_papers_rule_is_the_raw_absolute_score(ranking):
    measured, weights = gradients(ranking)
    assert same(rule_named("paper").scores(measured, weights), measured.absolute)


@given(rankings())
def test_fishers_rule_is_the_square_over_the_weight(ranking):
    measured, weights = gradients(ranking)
    ranked = rule_named("fisher").scores(measured, weights)
    for kind, weight in (("heads", weights.head), ("units", weights.unit)):
        for score, raw in zip(getattr(ranked, kind), getattr(measured.squared, kind), strict=True):
            torch.testing.assert_close(score * weight, raw)
    torch.testing.assert_close(ranked.rank * weights.rank, measured.squared.rank)


@pytest.mark.parametrize("name", ["michel", "prasanna"])
@given(rankings())
def test_by_layer_every_layer_and_kind_has_length_one_in_every_row(name, ranking):
    measured, weights = gradients(ranking)
    ranked = rule_named(name).scores(measured, weights)
    for score, raw in zip(ranked.leaves(), measured.absolute.leaves(), strict=True):
        length = raw.norm(dim=1, keepdim=True)
        torch.testing.assert_close(score.norm(dim=1, keepdim=True), (length > 0).float())
        torch.testing.assert_close(score * length, raw)


@pytest.mark.parametrize("name", [name for name in RULES if not RULES[name].needs_curves])
def test_a_layer_without_any_gradient_scores_zero(name):
    nothing = PerComponent((torch.zeros(2, 3),), (torch.zeros(2, 0),), torch.zeros(2, 4))
    ranked = rule_named(name).scores(GateGradients(nothing, nothing), pp.ComponentWeights())
    assert same(ranked, nothing)


@pytest.mark.parametrize("name", ["michel", "prasanna"])
@pytest.mark.parametrize("size", [1e-18, 1e-23, 1e-30, 1e-37])
def test_a_layer_of_tiny_gradients_has_length_one_too(name, size):
    tiny = PerComponent((torch.full((1, 4), size),), (torch.ones(1, 4),), torch.ones(1, 4))
    ranked = rule_named(name).scores(GateGradients(tiny, tiny), pp.ComponentWeights())
    torch.testing.assert_close(ranked.heads[0], torch.full((1, 4), 0.5))


def test_the_default_rule_comes_first():
    assert next(iter(RULES)) == "fisher"


@pytest.mark.parametrize("name", RULES)
def test_gradients_taken_over_what_a_rule_needs_are_right(name):
    rule_named(name).check_per(RULES[name].per)


@pytest.mark.parametrize(
    ("name", "per", "needed"),
    [
        ("paper", "token", "example"),
        ("fisher", "batch", "example"),
        ("michel", "example", "token"),
        ("prasanna", "example", "batch"),
    ],
)
def test_gradients_taken_over_something_else_are_refused(name, per, needed):
    with pytest.raises(
        ConfigError,
        match=rf"'{name}' needs gradients per {needed}, .* per {per}\. Score .* `per='{needed}'",
    ):
        rule_named(name).check_per(per)


def test_an_unknown_rule_is_told_the_nearest():
    with pytest.raises(UnknownName, match=r"rule 'fischer'\. Did you mean 'fisher'\? There are: "):
        rule_named("fischer")
    with pytest.raises(UnknownName, match=r"rule 'papers'\. Did you mean 'paper'"):
        rule_named("papers")


@given(rankings())
def test_one_row_for_all_languages_is_the_mean_of_theirs(ranking):
    scores, _, _ = make(ranking, rows=3)
    for mean, rows in zip(mean_rows(scores).leaves(), scores.leaves(), strict=True):
        torch.testing.assert_close(mean, (rows[:1] + rows[1:2] + rows[2:]) / 3)


@given(specs(), st.floats(0.1, 10), st.integers(0, 99))
def test_magnitude_scales_with_a_components_weights_and_theirs_alone(spec, factor, pick):
    model = build(spec)
    before, (heads, units, rank) = magnitude(model), expected(model)
    assert counts_of(before) == sizes(model.shape)
    for score, weights in zip(before.leaves(), (*heads, *units, rank), strict=True):
        for value, parts in zip(score[0], weights, strict=True):
            everything = torch.cat([part.flatten() for part in parts])
            torch.testing.assert_close(value, everything.square().mean().sqrt())
    everywhere = [
        (leaf, i)
        for leaf, weights in enumerate((*heads, *units, rank))
        for i in range(len(weights))
    ]
    leaf, i = everywhere[pick % len(everywhere)]
    with torch.no_grad():
        for part in (*heads, *units, rank)[leaf][i]:
            part *= factor
    for number, (a, b) in enumerate(zip(before.leaves(), magnitude(model).leaves(), strict=True)):
        scale = torch.ones_like(a)
        if number == leaf:
            scale[0, i] = factor
        torch.testing.assert_close(b, a * scale)


def expected(model):
    """Views of the weights that each head, unit and rank owns."""
    e, heads, units = model.shape.head_width, [], []
    for i, layer in enumerate(model.encoder.layers):
        heads.append([])
        for h in range(model.shape.heads[i]):
            rows = range(h * e, (h + 1) * e)
            parts = [
                part[rows[0] : rows[-1] + 1]
                for part in layer.attention.project.weight.data.chunk(3)
            ]
            heads[-1].append(
                [*parts, layer.attention.output.weight.data[:, rows[0] : rows[-1] + 1]]
            )
        feed = layer.feed_forward
        units.append(
            [
                [feed.expand.weight.data[u], feed.contract.weight.data[:, u]]
                for u in range(model.shape.units[i])
            ]
        )
    words = model.encoder.embedding.words.weight.data
    return heads, units, [[words[:, r]] for r in range(model.shape.rank)]


def test_magnitude_knows_emptied_layers(tiny):
    gates = pp.open_gates(tiny.shape)
    gates.heads[0].zero_()
    gates.units[1].zero_()
    scores, dense = magnitude(pp.shrink(tiny, gates)), magnitude(tiny)
    assert scores.heads[0].shape == scores.units[1].shape == (1, 0)
    assert torch.equal(scores.heads[1], dense.heads[1])
    assert torch.equal(scores.units[0], dense.units[0])


def test_chance_is_reproducible(tiny):
    first, again, other = (random_scores(tiny.shape, seed) for seed in (3, 3, 4))
    assert same(first, again)
    assert not any(torch.equal(a, b) for a, b in zip(first.leaves(), other.leaves(), strict=True))
    assert counts_of(first) == sizes(tiny.shape)
    assert all(((score >= 0) & (score < 1)).all() for score in first.leaves())


def test_chance_leaves_the_global_generator_alone(tiny):
    torch.manual_seed(5)
    expected_next = torch.rand(3)
    torch.manual_seed(5)
    random_scores(tiny.shape)
    assert torch.equal(torch.rand(3), expected_next)


class Backwards(Criterion):
    """The last component is the best."""

    method = "backwards"
    per = None

    def rank(self, model, gradients, weights):
        return random_scores(model.shape).map(
            lambda score: torch.arange(score.shape[1], dtype=torch.float32)[None]
        )


class Needy(Backwards):
    def __init__(self, something):
        self.something = something


class Nameless(Criterion):
    per = None

    def rank(self, model, gradients, weights):
        return random_scores(model.shape)


class PerWord(Backwards):
    per = "word"


TWICE = replace(RULES["fisher"], name="twice", about="Fisher's, under another name.")
NUMBER = 3


def test_one_name_stands_for_everything_that_ranks():
    assert rule_named("magnitude") == criterion_named("magnitude")
    assert rule_named("random", 7) == criterion_named("random", seed=7)
    assert criterion_named("gradient", "random", 7) == criterion_named("random", seed=7)
    assert [rule_named(name).needs_text for name in NAMES] == [True] * 5 + [False] * 2


def test_a_criterion_of_ones_own_is_a_value_or_a_class(model):
    assert rule_named(f"{__name__}:TWICE") is TWICE
    made = rule_named(f"{__name__}:Backwards")
    assert isinstance(made, Backwards)
    assert isinstance(criterion_named(f"{__name__}:Backwards"), Backwards)
    pruned = pp.prune(model, method=f"{__name__}:Backwards", sparsity=0.5)
    assert pruned.gates.units[0][0, -1] == 1
    assert pruned.gates.units[0][0, 0] == 0
    assert pruned.as_dict()["method"] == "backwards"
    by_rule = pp.prune(model, rule=f"{__name__}:Backwards", sparsity=0.5)
    assert same(by_rule.gates, pruned.gates)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("NUMBER", r"NUMBER is a int, not a criterion: name a value of a class that derives from"),
        ("Needy", "cannot be made without arguments"),
        ("Nameless", "has no `method`"),
        ("PerWord", r"`per` of .* is one of example, token, batch, or None .* not 'word'"),
    ],
)
def test_what_is_no_criterion_is_refused(name, told):
    with pytest.raises(ConfigError, match=told):
        rule_named(f"{__name__}:{name}")


def test_a_criterion_that_is_not_in_its_module_is_told_the_nearest():
    with pytest.raises(UnknownName, match=r"Unknown criterion in .* 'Backward'\. Did you mean"):
        rule_named(f"{__name__}:Backward")
    with pytest.raises(UnknownName, match=r"sys: 'nothing'\. sys has no criteria"):
        rule_named("sys:nothing")


def test_installed_packages_offer_criteria(monkeypatch):
    point = EntryPoint("twice", f"{__name__}:TWICE", GROUP)
    monkeypatch.setattr("polyprune.own_code.entry_points", lambda group: [point])
    assert rule_named("twice") is TWICE
    assert criterion_named("twice") is TWICE
    with pytest.raises(UnknownName, match=r"'twic'\. Did you mean 'twice'"):
        rule_named("twic")
