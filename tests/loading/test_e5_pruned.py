"""A real multilingual encoder: loaded, cut to an uneven half, run by sentence-transformers."""

import pytest
import torch
from transformers import AutoTokenizer, BertModel

import polyprune as pp
from polyprune.corpora.probes import probe_texts

pytestmark = pytest.mark.slow  # the real model, made and asked

SENTENCES = [f"query: {text}" for texts in probe_texts().values() for text in texts]


@pytest.fixture(scope="module")
def model(e5_folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(e5_folder.parents[1]))
        return pp.load("e5-small")


@pytest.fixture(scope="module")
def inputs(e5_folder):
    tokenizer = AutoTokenizer.from_pretrained(e5_folder)
    return dict(tokenizer(SENTENCES, padding=True, return_tensors="pt"))


@pytest.fixture(scope="module")
def half(model):
    """Different widths in every layer, one sublayer of each kind emptied."""
    torch.manual_seed(0)
    gates = pp.open_gates(model.shape)
    for i, (heads, units) in enumerate(zip(gates.heads, gates.units, strict=True)):
        heads[:, torch.randperm(12)[: 3 + i % 6]] = 0
        units[:, torch.randperm(1536)[: 400 + 60 * i]] = 0
    gates.heads[4].zero_()
    gates.units[7].zero_()
    gates.rank[:, torch.randperm(384)[:200]] = 0
    return gates


def embed(hidden, mask):
    mask = mask[:, :, None]
    return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)


def test_it_equals_the_bert_of_the_same_file(e5_folder, model, inputs):
    bert = BertModel.from_pretrained(e5_folder, add_pooling_layer=False).eval()
    mask = inputs["attention_mask"].bool()
    with torch.inference_mode():
        got, expected = (m(**inputs).last_hidden_state[mask] for m in (model, bert))
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-4)
    state, theirs = pp.to_transformers(model).state_dict(), bert.state_dict()
    assert state.keys() == theirs.keys()
    assert all(torch.equal(state[name], theirs[name]) for name in theirs)


def test_an_uneven_half_embeds_like_the_gated_model(model, inputs, half, tmp_path):
    sentence_transformers = pytest.importorskip("sentence_transformers")
    small = pp.shrink(model, half)
    small.save_pretrained(tmp_path / "half")
    assert small.num_parameters() < 0.56 * model.num_parameters()
    with torch.inference_mode():
        expected = embed(model(**inputs, gates=half).last_hidden_state, inputs["attention_mask"])
    embedder = sentence_transformers.SentenceTransformer(str(tmp_path / "half"), device="cpu")
    got = embedder.encode(SENTENCES, convert_to_tensor=True)
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-4)


def test_factorized_it_is_the_same_model(model, inputs):
    mask = inputs["attention_mask"].bool()
    with torch.inference_mode():
        got, expected = (m(**inputs).last_hidden_state[mask] for m in (pp.factorize(model), model))
    torch.testing.assert_close(got, expected, atol=1e-4, rtol=1e-3)
