"""`polyprune.prune` by the second-order rule, in rounds, with a repair."""

import json

import pytest
import torch

import polyprune as pp
from polyprune.api.requests.prune import PruneRequest
from polyprune.errors import ConfigError, DataError
from polyprune.model.history import history_of
from polyprune.pruning.second_order.refit import hidden_error
from support.models import speaking_model
from support.text import SENTENCES

OPTIONS = {"sparsity": 0.5, "sentences": 4, "tokens": 16, "rule": "second-order"}


@pytest.mark.parametrize("more", [{"rounds": 1}, {"rounds": 3}, {"rounds": 1, "repair": True}])
def test_what_is_written_is_what_was_made(speaking, text, tmp_path, more):
    result = pp.prune(speaking, corpus=text, out=tmp_path / "half", **OPTIONS, **more)
    loaded = pp.load(tmp_path / "half")
    for name, tensor in result.model.state_dict().items():
        assert torch.equal(tensor, loaded.state_dict()[name])
    certificate = json.loads((tmp_path / "half" / "certificate.json").read_text())
    assert max(certificate["differences"].values()) < 1e-4
    found = result.as_dict()
    assert found["rule"] == "second-order"
    assert found["requested_sparsity"] == 0.5
    assert 0.4 <= found["density"] <= 0.5
    assert loaded.num_parameters() == found["parameters"]
    (cut,) = history_of(loaded.config).cuts
    assert cut.rounds == more["rounds"]
    refitted = result.repair is not None and result.repair.helped  # else it is left out
    assert cut.made_up == ("compensation and refit" if refitted else "compensation")
    assert cut.sparsity == pytest.approx(1 - found["density"])
    assert "makes up for what went: compensation" in (tmp_path / "half" / "README.md").read_text()


def test_scores_with_covariances_cut_as_text_does(speaking, text, tmp_path):
    shared = {"sentences": 4, "tokens": 16, "rule": "second-order"}
    pp.score(speaking, corpus=text, covariances=True, out=tmp_path / "scores", **shared)
    pp.score(speaking, corpus=text, out=tmp_path / "without", **shared)
    direct = pp.prune(speaking, corpus=text, rounds=1, **OPTIONS).model
    cut = {"sparsity": 0.5, "rule": "second-order"}
    same, plain = (
        pp.prune(speaking, scores=tmp_path / name, **cut).model for name in ("scores", "without")
    )
    assert same.shape == direct.shape == plain.shape
    for name, tensor in direct.state_dict().items():
        assert torch.allclose(tensor, same.state_dict()[name], atol=1e-5)
    name = "encoder.layers.1.feed_forward.contract.weight"
    assert not torch.allclose(plain.state_dict()[name], direct.state_dict()[name], atol=1e-5)
    fisher = [
        pp.prune(speaking, scores=tmp_path / name, sparsity=0.5, rule="fisher").model.state_dict()
        for name in ("scores", "without")
    ]
    assert all(torch.equal(tensor, fisher[1][name]) for name, tensor in fisher[0].items())
    (made_up,), (nothing,) = (history_of(each.config).cuts for each in (same, plain))
    assert (made_up.made_up, nothing.made_up) == ("compensation", "")


def test_covariances_are_for_curves(speaking, text):
    with pytest.raises(ConfigError, match="rule='second-order'"):
        pp.score(speaking, corpus=text, covariances=True)


def test_a_masked_lm_is_repaired_unasked_where_there_is_text_enough(speaking, monkeypatch):
    monkeypatch.setattr("polyprune.pruning.second_order.refit_text.ENOUGH", 8)
    few, many = ({"sw": SENTENCES["sw"][:1] * n, "en": SENTENCES["en"][:1] * 8} for n in (7, 8))
    assert pp.prune(speaking, corpus=few, **OPTIONS).repair is None
    assert pp.prune(speaking, corpus=many, **OPTIONS).repair is not None
    assert pp.prune(speaking, corpus=many, repair=False, **OPTIONS).repair is None
    fisher = OPTIONS | {"rule": "fisher"}
    assert pp.prune(speaking, corpus=many, **fisher).repair is None


def test_a_sentence_encoder_is_repaired_unasked_where_little_of_it_stays(tmp_path, monkeypatch):
    encoder = speaking_model(tmp_path / "encoder", "hidden-states")
    monkeypatch.setattr("polyprune.pruning.second_order.refit_text.ENOUGH", 8)
    text = {code: SENTENCES[code][:1] * 8 for code in ("sw", "en")}
    for sparsity, repaired in ((0.7, False), (0.8, True)):
        options = OPTIONS | {"sparsity": sparsity, "rounds": 1}
        assert (pp.prune(encoder, corpus=text, **options).repair is not None) == repaired
    options = OPTIONS | {"sparsity": 0.8, "rounds": 1, "repair": False}
    assert pp.prune(encoder, corpus=text, **options).repair is None


@pytest.mark.parametrize(("sparsity", "rounds"), [(0.1, 3), (0.5, 3), (0.7, 3), (0.8, 4), (0.9, 6)])
def test_small_models_take_more_rounds(sparsity, rounds):
    assert PruneRequest(corpus="text", sparsity=sparsity).chosen_rounds == rounds
    assert PruneRequest(corpus="text", sparsity=sparsity, rounds=2).chosen_rounds == 2
    assert PruneRequest(corpus="text", sparsity=sparsity, rule="fisher").chosen_rounds == 1


def test_a_repair_changes_weights_and_no_widths(speaking, text):
    plain = pp.prune(speaking, corpus=text, **OPTIONS).model
    repaired = pp.prune(speaking, corpus=text, repair=True, **OPTIONS).model
    assert plain.shape == repaired.shape
    assert not torch.equal(
        plain.encoder.layers[1].feed_forward.contract.bias,
        repaired.encoder.layers[1].feed_forward.contract.bias,
    )


def test_what_a_repair_did_is_told(speaking, text):
    result = pp.prune(speaking, corpus=text, repair=True, **OPTIONS)
    told = result.as_dict()["repair"]
    assert told["kept"] == (told["error_after"] < told["error_before"])
    assert any(str(part).startswith("Repair") for part in result.summary())


def test_what_comes_out_of_an_elastic_model_is_repaired(speaking, text, tmp_path):
    elastic = pp.prune(speaking, corpus=text, elastic=True, sentences=4, tokens=16)
    plain = pp.shrink(elastic, sparsity=0.5)
    repaired = pp.shrink(elastic, sparsity=0.5, repair=text, out=tmp_path / "half")
    assert plain.model.shape == repaired.model.shape
    assert repaired.repair.helped
    assert repaired.repair.after < repaired.repair.before
    assert max(repaired.differences.values()) < 1e-4
    uncut = pp.load(speaking)
    ids = torch.randint(5, 50, (4, 12), generator=torch.Generator().manual_seed(0))
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    errors = [hidden_error(each.model, uncut, [batch]) for each in (plain, repaired)]
    assert errors[1] < errors[0]
    assert history_of(pp.load(tmp_path / "half").config).cuts[-1].made_up == "refit"


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_floor_for_languages_is_told(speaking, text, rounds):
    result = pp.prune(speaking, corpus=text, worst=True, rounds=rounds, **OPTIONS)
    told = result.as_dict()["fairness"]
    assert told["worst"] <= told["worst_without"]
    assert any("language that loses most" in str(part) for part in result.summary())
    with pytest.raises(ConfigError, match="rule='second-order'"):
        pp.prune(speaking, corpus=text, sparsity=0.5, rule="fisher", worst=True)


def test_one_language_has_rounds_of_its_own(speaking, text):
    sizes = {}
    for code in ("en", "ru"):
        result = pp.prune(
            speaking, corpus=text, setting="non-shared", language=code, rounds=2, **OPTIONS
        )
        assert result.languages == (code,)
        sizes[code] = torch.cat([gate[0] for gate in result.gates.units])
    assert not torch.equal(sizes["en"], sizes["ru"])


def test_every_size_is_ranked_by_curves(speaking, text):
    own = pp.prune(speaking, corpus=text, setting="non-shared", **OPTIONS)
    shared = pp.prune(speaking, corpus=text, elastic=True, **OPTIONS)
    assert set(own.model.elastic.rows) == set(SENTENCES)
    assert shared.model.at(sparsity=0.5).num_parameters() < shared.model.num_parameters()


@pytest.mark.parametrize("rule", ["fisher", "second-order"])
def test_every_size_has_the_order_of_rounds(speaking, text, tmp_path, rule):
    """Each size contains the smaller ones, and later rounds rank what is left otherwise."""
    options = OPTIONS | {"rule": rule, "elastic": True}
    once = pp.prune(speaking, corpus=text, **options)
    rounds = pp.prune(speaking, corpus=text, rounds=4, out=tmp_path / "elastic", **options)
    elastic = pp.load(tmp_path / "elastic")
    assert history_of(elastic.config).cuts[-1].rounds == 4
    smaller = None
    for sparsity in (0.9, 0.7, 0.5, 0.3, 0.1):
        gates = elastic.elastic.gates(sparsity=sparsity)
        kept = torch.cat([gate[0] for gate in gates.leaves()]) > 0
        assert smaller is None or bool(kept[smaller].all())
        smaller = kept
    orders = [torch.cat(result.ranker.rank(result.model).leaves(), 1) for result in (once, rounds)]
    first, later = (order.argsort(dim=1, stable=True)[0].tolist() for order in orders)
    assert sorted(first) == sorted(later)
    assert first != later
    assert pp.shrink(elastic, sparsity=0.5).model.num_parameters() < elastic.num_parameters()


def test_curves_are_written_with_scores_and_need_no_text_again(speaking, text, tmp_path):
    scores = pp.score(
        speaking, corpus=text, sentences=4, tokens=16, rule="second-order", out=tmp_path / "s"
    )
    again = pp.prune(speaking, scores=tmp_path / "s", sparsity=0.5, rule="second-order")
    memory = pp.prune(speaking, scores=scores, sparsity=0.5, rule="second-order")
    for one, other in zip(again.gates.leaves(), memory.gates.leaves(), strict=True):
        assert torch.equal(one, other)
    plain = pp.score(speaking, corpus=text, sentences=4, tokens=16)
    with pytest.raises(ConfigError, match="Score again with `rule='second-order'`"):
        pp.prune(speaking, scores=plain, sparsity=0.5, rule="second-order")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"repair": True, "elastic": True}, "leave `elastic` out"),
        ({"rounds": 2, "setting": "non-shared"}, "give `language`"),
        ({"repair": True, "method": "magnitude"}, "a rule of gradients"),
        ({"rounds": 0}, "1"),
        ({"worst": True, "sparsity": None, "speedup": 2.0}, "go with a `sparsity`"),
    ],
)
def test_what_does_not_go_together_is_refused(speaking, text, options, words):
    given = {"corpus": text, **OPTIONS} | options
    if options.get("method"):
        given = {"sparsity": 0.5} | options
    with pytest.raises(ConfigError, match=words):
        pp.prune(speaking, **given)


def test_a_repair_without_enough_text_says_how_much_it_needs(speaking):
    few = {code: lines[:5] for code, lines in SENTENCES.items()}
    with pytest.raises(DataError, match="at least 8 sentences of each language, en has 5"):
        pp.prune(speaking, corpus=few, repair=True, **OPTIONS)
