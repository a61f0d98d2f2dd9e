"""Moments: what they are, and that neither batches nor padding change them."""

from copy import deepcopy

import pytest
import torch

import polyprune as pp
from polyprune.corpora.batching import Batching
from polyprune.corpora.padding import in_parts
from polyprune.corpora.sentences import corpus_in_memory
from polyprune.errors import DataError
from polyprune.pruning.criteria import scoring
from polyprune.pruning.criteria.importance import gate_gradients
from polyprune.pruning.criteria.losses import masked_lm_loss
from polyprune.pruning.criteria.scoring import ReadyBatches, Scoring, score
from polyprune.pruning.second_order.moments import InputMoments, LanguageSums, Moments
from support.batches import split
from support.models import batch, dense_model


@pytest.fixture
def model(tmp_path):
    return pp.load(dense_model(tmp_path))


def examples(count=6, tokens=9):
    inputs = batch("xlm-roberta", count, tokens)
    labels = torch.where(inputs["attention_mask"].bool(), inputs["input_ids"], -100)
    return {name: inputs[name] for name in ("input_ids", "attention_mask")} | {"labels": labels}


def moments(model, batches, language="sw") -> Moments:
    found = Moments(model)
    gather(found, model, batches, language)
    return found


def gather(found: Moments, model, batches, language="sw") -> None:
    def watched(model, batch, gates):
        found.start(batch)
        return masked_lm_loss(model, batch, gates)

    with found.watching():
        gate_gradients(model, batches, watched)
    found.close(language)


def close(one: Moments, other: Moments) -> bool:
    return all(
        torch.allclose(a, b, rtol=1e-3, atol=1e-6)
        for place in one.places
        for a, b in zip(
            (*one.covariance(place), one.gradient(place)),
            (*other.covariance(place), other.gradient(place)),
            strict=True,
        )
    )


def padded(inputs, more=4):
    fill = {"input_ids": 1, "attention_mask": 0, "labels": -100}
    return {
        name: torch.nn.functional.pad(value, (0, more), value=fill[name])
        for name, value in inputs.items()
    }


def test_neither_the_size_of_batches_nor_padding_changes_them(model):
    inputs = examples()
    whole = moments(model, [inputs])
    assert close(whole, moments(model, split(inputs, 2)))
    assert close(whole, moments(model, split(inputs, 1)))
    assert close(whole, moments(model, [padded(inputs)]))


def test_they_are_those_of_what_enters_and_leaves(model):
    inputs, layer = examples(), model.encoder.layers[1]
    seen = {}
    hooks = [
        layer.feed_forward.contract.register_forward_pre_hook(
            lambda _, given: seen.update(u=given[0].detach())
        ),
        layer.feed_forward.contract.register_forward_hook(
            lambda _, given, y: seen.update(y=y.retain_grad() or y)
        ),
    ]
    masked_lm_loss(model, inputs, pp.open_gates(model.shape)).sum().backward()
    for hook in hooks:
        hook.remove()
    means, withins, apart, together = [], [], [], []
    for row, mask in enumerate(inputs["attention_mask"].bool()):
        u, g = seen["u"][row][mask], seen["y"].grad[row][mask]
        means.append(u.mean(0))
        withins.append((u - u.mean(0)).T @ (u - u.mean(0)) / len(u))
        apart.append((g - g.mean(0)).T @ (g - g.mean(0)))
        together.append(torch.outer(g.sum(0), g.sum(0)))
    mean = torch.stack(means).mean(0)
    between = torch.stack(means).T.cov(correction=0)
    within, g_w, g_b = (torch.stack(each).mean(0) for each in (withins, apart, together))
    found = moments(model, [inputs])
    found_mean, covariance = found.covariance(("units", 1))
    assert torch.allclose(found_mean, mean, atol=1e-5)
    expected = (g_w.trace() * within + g_b.trace() * between) / (g_w + g_b).trace()
    assert torch.allclose(covariance, expected, atol=1e-5)
    (gradient,) = found.gradient(("units", 1))
    assert torch.allclose(gradient, g_w + g_b, rtol=1e-3, atol=1e-7)


def test_languages_count_alike_however_much_text_they_have(model):
    few, many = examples(2), examples(6)
    both = Moments(model)
    gather(both, model, [few], "sw")
    gather(both, model, [many], "ur")
    alone = [moments(model, [each]) for each in (few, many)]
    mean, _ = both.covariance(("heads", 0))
    means = [each.covariance(("heads", 0))[0] for each in alone]
    assert torch.allclose(mean, (means[0] + means[1]) / 2, atol=1e-6)
    assert both.gradient(("heads", 0)).shape == (2, 24, 24)


def test_what_is_not_a_number_is_told_with_its_layer(model):
    broken = deepcopy(model)
    broken.encoder.layers[1].feed_forward.expand.weight.data *= 1e38
    corpus = corpus_in_memory({"sw": ["mvua"]})
    text = ReadyBatches(corpus, Batching(None), ready={"sw": [examples()]})
    with pytest.raises(DataError, match="What enters the units of layer 1 in sw"):
        score(broken, text, Scoring(curves=True, table="as it is"))


def test_more_tokens_than_inputs_are_summed_like_few():
    inputs, weights = torch.randn(4, 10, 12), torch.full((4, 10), 0.1)
    expected = torch.einsum("bsi,bsj->ij", inputs, inputs) / 40
    for batches in ([slice(0, 4)], [slice(i, i + 1) for i in range(4)]):  # 10 tokens wait for more
        own, total = LanguageSums(), InputMoments.none(12)
        for some in batches:
            own.enter(inputs[some], weights[some])
            own.come_back(inputs[some], weights[some])
        own.add_to(total, 0.25)
        assert torch.allclose(total.second.sum(), expected, atol=1e-5)
        assert torch.allclose(total.mean, inputs.mean((0, 1)), atol=1e-5)


def test_one_gradient_for_all_languages_is_their_mean(model):
    each, one = Moments(model), Moments(model, by_language=False)
    for found in (each, one):
        gather(found, model, [examples(2)], "sw")
        gather(found, model, [examples(6)], "ur")
    for place in each.places:
        assert torch.allclose(one.gradient(place), each.gradient(place).mean(0, keepdim=True))


def test_batches_in_parts_give_the_same_scores(model, monkeypatch):
    """Masked words are as they were drawn, and less padding is computed."""
    corpus, seen = corpus_in_memory({"sw": ["mvua"]}), []
    text = ReadyBatches(corpus, Batching(None), ready={"sw": [examples(8)]})

    def scores(places):
        def noted(batches):
            for part in in_parts(batches, places):
                seen.append(len(part["labels"]))
                yield part

        monkeypatch.setattr(scoring, "in_parts", noted)
        return score(model, text, Scoring(curves=True, table="as it is")).gradients

    whole, parts = scores(72), scores(24)
    assert seen == [8, 3, 3, 2]
    assert whole.curves is not None
    assert parts.curves is not None
    for one, other in (
        *zip(whole.squared.leaves(), parts.squared.leaves(), strict=True),
        *zip(whole.curves.steps.leaves(), parts.curves.steps.leaves(), strict=True),
    ):
        torch.testing.assert_close(one.sum(), other.sum(), rtol=1e-3, atol=1e-9)
