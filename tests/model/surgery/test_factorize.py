"""Factorizing changes nothing at full rank, and its first ranks are the best ones."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import polyprune as pp
from polyprune.model.surgery.factorize import factorize_table
from support.models import batch, tiny_model
from support.strategies import build, specs, tokens_for

tables = st.builds(
    lambda seed, rows: torch.randn(rows, 8, generator=torch.Generator().manual_seed(seed)),
    st.integers(0, 999),
    st.integers(9, 200),
)


@pytest.mark.parametrize("start", ["spectral", "identity"])
def test_the_function_is_the_same(start, tmp_path):
    tiny_model("xlm-roberta").save_pretrained(tmp_path)
    model, inputs = pp.load(tmp_path), batch("xlm-roberta")
    factorized = pp.factorize(model, start)
    assert factorized.shape.factorized
    with torch.no_grad():
        torch.testing.assert_close(
            factorized(**inputs).logits, model(**inputs).logits, atol=1e-5, rtol=1e-5
        )


@given(specs("masked-lm"))
def test_shrinking_folds_a_full_rank_back_to_a_plain_table(spec):
    model = build(spec)
    if model.shape.factorized:
        model = pp.shrink(model, pp.open_gates(model.shape))
    if model.shape.factorized:
        return  # its rank is low enough for two tables to be smaller than one
    factorized, inputs = pp.factorize(model), tokens_for(model.shape)
    folded = pp.shrink(factorized, pp.open_gates(factorized.shape))
    assert folded.shape == model.shape
    with torch.no_grad():
        torch.testing.assert_close(
            folded(**inputs).logits, model(**inputs).logits, atol=1e-5, rtol=1e-5
        )


@given(tables, st.integers(1, 8))
def test_the_first_ranks_are_the_best_approximation(table, rank):
    words, project = factorize_table(table)
    error = (table - words[:, :rank] @ project[:rank]).square().sum()
    optimum = torch.linalg.svdvals(table)[rank:].square().sum()  # Eckart and Young
    torch.testing.assert_close(error, optimum, atol=1e-3, rtol=1e-3)


@given(tables)
def test_in_place_the_result_is_the_same(table):
    words, project = factorize_table(table)
    again, same = factorize_table(table, out=table)
    assert again is table
    assert torch.equal(again, words)
    assert torch.equal(same, project)


@given(tables, st.integers(1, 8))
def test_with_frequencies_the_weighted_error_is_the_best(table, rank):
    frequencies = torch.rand(len(table)) + 0.01
    words, project = factorize_table(table, frequencies)
    error = (frequencies[:, None] * (table - words[:, :rank] @ project[:rank]).square()).sum()
    optimum = torch.linalg.svdvals(frequencies.sqrt()[:, None] * table)[rank:].square().sum()
    torch.testing.assert_close(error, optimum, atol=1e-3, rtol=1e-3)


def test_the_rank_gate_acts_on_input_and_output(tmp_path):
    """With one table for both, closing a rank equals zeroing its column of the table."""
    tiny_model("xlm-roberta").save_pretrained(tmp_path)
    model, inputs = pp.load(tmp_path), batch("xlm-roberta")
    gates = pp.open_gates(model.shape)
    gates.rank[:, ::3] = 0
    with torch.no_grad():
        gated = model(**inputs, gates=gates).logits
        model.encoder.embedding.words.weight[:, ::3] = 0
        torch.testing.assert_close(gated, model(**inputs).logits, atol=1e-5, rtol=1e-5)


def test_factorizing_twice_is_refused(tmp_path):
    tiny_model("xlm-roberta").save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="factorized already"):
        pp.factorize(pp.factorize(pp.load(tmp_path)))
