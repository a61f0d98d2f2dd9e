"""The lean pass computes what the ordinary one does, and steps aside where it must."""

import pytest
import torch
from hypothesis import given
from torch import nn

from polyprune.model.network import encoder as encoders
from polyprune.model.network.encoder import OWN_KINDS
from polyprune.model.network.fused_inference import can_be_fused
from support.strategies import build, specs


def tokens(padded: bool) -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.randint(2, 12, (3, 7), generator=torch.Generator().manual_seed(0))
    if padded:
        ids[1, 4:] = ids[2, 1:] = 1
    return ids, ids != 1


@given(specs("hidden-states"))
def test_it_computes_the_same_for_any_shape(spec):
    encoder = build(spec).encoder
    for padded in (False, True):
        ids, mask = tokens(padded)
        ordinary = encoder(ids, mask)  # gradients may be asked for
        with torch.inference_mode():
            lean = encoder(ids, mask)
            unmasked = encoder(ids)
            middle = encoder.at_layer(ids, mask, encoder.shape.layers)
        torch.testing.assert_close(lean[mask], ordinary[mask], rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(unmasked, encoder(ids), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(middle[mask], ordinary[mask], rtol=1e-4, atol=1e-5)


def test_it_is_taken_only_where_nobody_would_notice(model, monkeypatch):
    taken = []
    monkeypatch.setattr(
        encoders, "fused_layers", lambda layers, x, mask: taken.append(1) or x + 0 * len(layers)
    )
    encoder = model.encoder
    ids, mask = tokens(padded=True)

    def lean() -> bool:
        taken.clear()
        encoder(ids, mask)
        return bool(taken)

    assert not lean()
    with torch.no_grad():
        assert lean()
        encoder.train()
        assert not lean()
        encoder.eval()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert not lean()
        encoder(ids, mask, states=[])
        assert lean()


@pytest.mark.parametrize("where", ["layer", "sublayer", "product", "norm"])
def test_hooks_are_called(model, where):
    layer = model.encoder.layers[1]
    module = {
        "layer": layer,
        "sublayer": layer.attention,
        "product": layer.feed_forward.contract,
        "norm": layer.attention_norm,
    }[where]
    called = []
    handle = module.register_forward_hook(lambda *_: called.append(1))
    ids, mask = tokens(padded=False)
    with torch.no_grad():
        model.encoder(ids, mask)
        assert called
        handle.remove()
        assert can_be_fused(model.encoder, OWN_KINDS)


def test_what_was_put_in_the_place_of_a_module_is_used(model):
    class Louder(nn.Linear):
        def forward(self, x):
            return 10 * super().forward(x)

    layer = model.encoder.layers[0]
    old = layer.attention.output
    louder = Louder(old.in_features, old.out_features)
    louder.load_state_dict(old.state_dict())
    ids, mask = tokens(padded=False)
    with torch.no_grad():
        before = model.encoder(ids, mask)
        layer.attention.output = louder
        assert not torch.allclose(model.encoder(ids, mask), before)
        layer.attention.output = old
        # As Accelerate does where weights are offloaded.
        old.forward = lambda x: 10 * nn.functional.linear(x, old.weight, old.bias)
        assert not torch.allclose(model.encoder(ids, mask), before)


def test_what_was_seen_of_the_embedding_is_left_alone(model):
    seen = []
    model.encoder.embedding.register_forward_hook(lambda _, __, x: seen.append((x, x.clone())))
    with torch.no_grad():
        model.encoder(*tokens(padded=False))
    ((kept, copy),) = seen
    assert torch.equal(kept, copy)
