"""After every cut, what was kept of the uncut model: as JSON, on the terminal, on the card."""

import pytest

import polyprune as pp
from polyprune.corpora.sentences import corpus_in_memory
from polyprune.evaluation.fidelity import HeldOutText, compare_with_uncut
from polyprune.loading.reading import Reading, scoring_text
from polyprune.model.history import history_of
from polyprune.reporting.tables.table import Table
from support.models import speaking_model
from support.text import SENTENCES

LONG = {
    code: [f"{line} {more}" for more in ("na", "вода", "so", "ya") for line in SENTENCES[code]]
    for code in ("en", "sw")
}
"""48 sentences of each."""

CUT = {"sparsity": 0.5, "rounds": 1, "sentences": 8, "tokens": 16}


@pytest.fixture
def classifier(tmp_path):
    return pp.load(speaking_model(tmp_path / "classifier", "sentence-classification"))


def test_a_cut_is_compared_on_the_lines_behind_those_it_was_chosen_on(classifier):
    result = pp.prune(classifier, corpus=LONG, compare=12, repair=False, **CUT)
    text = scoring_text(classifier, corpus_in_memory(LONG), reading=Reading(tokens=16))
    held_out = HeldOutText("sentences in memory", {c: LONG[c][8:20] for c in LONG})
    same = compare_with_uncut(classifier, result.model, held_out, text.batching)
    assert result.fidelity == same
    assert result.fidelity.overall.main < 100
    assert result.as_dict()["fidelity"] == same.as_dict()
    first = next(result.summary())
    assert isinstance(first, Table)
    assert first.rows[0].cells[0].text == f"{same.worst} (worst)"
    assert "which the cut was not chosen on" in " ".join(repr(result).split())


def test_it_does_not_change_what_is_cut(classifier):
    cut, whole = (pp.prune(classifier, corpus=LONG, compare=n, **CUT) for n in (0, 20))
    for name, weight in cut.model.state_dict().items():
        assert weight.equal(whole.model.state_dict()[name])
    assert cut.fidelity is None
    assert cut.as_dict()["fidelity"] is None
    assert "Nothing was compared with the uncut model" in repr(cut)


def test_a_repair_reads_lines_too(classifier):
    long = {code: 4 * lines for code, lines in LONG.items()}
    long = {code: [f"{i} {line}" for i, line in enumerate(lines)] for code, lines in long.items()}
    result = pp.prune(classifier, corpus=long, repair=True, **CUT)
    assert {row.sentences for row in result.fidelity.languages.values()} == {32}  # 192 - 160
    assert not any(row.seen for row in result.fidelity.languages.values())


def test_where_all_was_read_it_says_so(classifier):
    result = pp.prune(classifier, corpus=SENTENCES, **CUT | {"sentences": 12})
    assert all(row.seen for row in result.fidelity.languages.values())
    assert "others would show more loss" in " ".join(repr(result).split())


def test_scores_and_methods_without_text_are_compared_on_text_that_is_given(classifier, tmp_path):
    scores = pp.score(classifier, corpus=LONG, sentences=10)
    found = pp.prune(classifier, scores=scores, sparsity=0.5, corpus=LONG).fidelity
    assert not any(row.seen for row in found.languages.values())
    assert found.languages["en"].sentences == 38
    bundled = pp.prune(classifier, scores=scores, sparsity=0.5).fidelity
    assert (bundled.text, list(bundled.languages)) == ("sample", ["en", "sw"])
    random = pp.prune(classifier, method="random", sparsity=0.5, corpus=LONG).fidelity
    assert random.languages["en"].sentences == 48


def test_one_language_is_compared_alone(classifier):
    options = {"setting": "non-shared", "language": "sw", "rule": "fisher"}
    found = pp.prune(classifier, corpus=LONG, **options, **CUT).fidelity
    assert list(found.languages) == ["sw"]


def test_the_folder_and_its_card_carry_it(classifier, tmp_path):
    result = pp.prune(classifier, corpus=LONG, out=tmp_path / "half", **CUT)
    again = pp.load(tmp_path / "half")
    assert history_of(again.config).fidelity == result.fidelity
    card = (tmp_path / "half" / "README.md").read_text(encoding="utf-8")
    assert "How often this model says what the model before its last cut said" in card
    agreement, between = result.fidelity.languages["sw"].measures[0].shown()
    assert f"| sw | {agreement} | {between} |" in card
    assert "By the labels of a task: **Not measured yet.**" in card


def test_gates_and_elastic_sizes_are_compared_when_they_are_cut(classifier, tmp_path):
    elastic = pp.prune(classifier, corpus=LONG, elastic=True, rule="fisher", sentences=8)
    assert elastic.fidelity is None
    assert "uncut model" not in repr(elastic)
    half = pp.shrink(elastic, sparsity=0.5, corpus=LONG, compare=20)
    assert half.fidelity.languages["sw"].sentences == 20
    assert half.as_dict()["fidelity"]["worst"] == half.fidelity.worst
    assert repr(half).startswith("What was kept of the uncut model")
    assert history_of(half.model.config).fidelity == half.fidelity
    assert pp.shrink(elastic, sparsity=0.5, languages="sw").fidelity.text == "sample"
    assert pp.shrink(elastic, sparsity=0.5, compare=0).fidelity is None
    long = {code: [f"{i} {line}" for i, line in enumerate(4 * LONG[code])] for code in LONG}
    repaired = pp.shrink(elastic, sparsity=0.5, repair=long)
    assert not any(row.seen for row in repaired.fidelity.languages.values())


def test_a_recovery_is_compared_with_its_teacher(classifier, tmp_path):
    long = {code: [f"{i} {line}" for i, line in enumerate(4 * LONG[code])] for code in LONG}
    options = CUT | {"repair": False, "recover": 2}
    result = pp.prune(classifier, corpus=long, out=tmp_path / "half", **options)
    assert result.fidelity == result.recovery.fidelity
    assert result.fidelity.languages["en"].sentences == 19  # every tenth of 192
    assert not any(row.seen for row in result.fidelity.languages.values())
    assert history_of(pp.load(tmp_path / "half").config).fidelity == result.fidelity
    assert "fidelity" not in result.as_dict()["recovery"]
    assert repr(result).count("What was kept of the uncut model") == 1
    again = pp.recover(result, corpus=SENTENCES, steps=1, tokens=16)
    assert all(row.seen for row in again.fidelity.languages.values())
    assert repr(again).startswith("What was kept of the uncut model")
    assert pp.recover(result, corpus=SENTENCES, steps=1, tokens=16, compare=0).fidelity is None


def test_a_model_that_teaches_itself_is_not_compared(speaking, text):
    result = pp.recover(speaking, corpus=text, steps=1, tokens=16)
    assert result.fidelity is None
    assert "fidelity" not in result.as_dict()
