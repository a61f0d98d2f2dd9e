"""What is said of sizes after a cut: all of them, and what would make the file smaller."""

import pytest

import polyprune as pp
from polyprune.api.sizes import describe_request, describe_smaller, size_table
from polyprune.pruning.selection.audit import audit
from support.text import SENTENCES

ROUND = {"corpus": SENTENCES, "sentences": 6, "tokens": 16}


@pytest.fixture
def model(speaking):
    return pp.load(speaking)


@pytest.mark.parametrize("options", [{"rounds": 2}, {"rule": "fisher", "rounds": 1}])
def test_a_sparsity_and_parameters_both_hold_in_rounds_and_out_of_scores(model, options):
    alone = pp.prune(model, sparsity=0.3, **ROUND, **options)
    limit = alone.model.num_parameters() - 900
    both = pp.prune(model, sparsity=0.3, parameters=limit, **ROUND, **options)
    found = both.as_dict()
    assert both.model.num_parameters() == found["parameters"] <= limit
    assert found["gate_sparsity"] >= 0.3
    assert (found["requested_sparsity"], found["requested_parameters"]) == (0.3, limit)
    assert "parameters" in found["binds"]
    assert f"Asked for sparsity 30.00%, got {found['gate_sparsity']:.2%} and for" in repr(both)
    assert "bind" in repr(both)
    loose = pp.prune(model, sparsity=0.3, size="10MB", **ROUND, **options)
    assert loose.as_dict()["parameters"] == alone.as_dict()["parameters"]
    assert "What binds is the sparsity: it is smaller than it had to be." in repr(loose)
    if "rule" in options:
        scores = pp.score(model, corpus=SENTENCES, sentences=6, tokens=16)
        again = pp.prune(model, scores=scores, sparsity=0.3, parameters=limit, compare=0)
        assert again.as_dict()["parameters"] == found["parameters"]


def test_nothing_binds_where_all_fits(model):
    result = pp.prune(model, method="random", sparsity=0.0, size="10MB", compare=0)
    assert "Neither binds: no component had to go." in repr(result)


def test_what_was_asked_for_is_told_one_by_one(model):
    whole = pp.prune(model, method="random", sparsity=0.5, compare=0)
    (sizes,) = whole.audits.values()
    assert describe_request(sizes).startswith("Asked for sparsity 50.00%, got 5")
    bare = audit(model, whole.gates)
    assert describe_request(bare).startswith("The sparsity is 5")


def test_a_file_of_words_is_called_one():
    model = pp.load("sprout")
    result = pp.prune(model, method="magnitude", sparsity=0.5, compare=0)
    (sizes,) = result.audits.values()
    (said,) = describe_smaller(result.model, sizes)
    said = " ".join(said.split())
    assert "of what is left are words" in said
    assert "`size=" in said
    assert "polyprune export in fp16 halves the file" in said
    small = pp.prune(model, method="magnitude", parameters="1M", compare=0)
    (sizes,) = small.audits.values()
    assert all("`size=" not in each for each in describe_smaller(small.model, sizes))


def test_a_measured_time_stands_beside_the_other_sizes(model):
    result = pp.prune(model, method="random", sparsity=0.5, compare=0)
    (sizes,) = result.audits.values()
    names = ["parameters", "file of weights", "multiply–adds"]
    assert [row.cells[0].text for row in size_table(sizes).rows] == names
    timed = size_table(sizes, (0.02, 0.01))
    assert [cell.text for cell in timed.rows[-1].cells] == [
        "measured time", "20 ms", "10 ms", "50.0%"
    ]  # fmt: skip
