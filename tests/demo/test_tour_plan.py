"""The bundled text is divided once: nothing is measured on what was trained on."""

import pytest

from polyprune.corpora.corpus import open_corpus, read_lines
from polyprune.corpora.text import text_folder
from polyprune.demo import tour_plan as plans
from polyprune.demo.tour_plan import TourPlan, default_model, split_text
from polyprune.errors import DataError, UnknownName


def test_what_is_measured_on_is_never_trained_on(tmp_path):
    texts = split_text(TourPlan(), tmp_path / "text")
    assert len(texts.codes) == 15
    corpus = open_corpus(tmp_path / "text")
    for code, held_out in texts.held_out.items():
        read = {line for path in (tmp_path / "text").glob(f"*{code}*") for line in read_lines(path)}
        lines = list(read_lines(corpus.files[code]))
        assert len(lines) == TourPlan().lines
        assert len(held_out) == TourPlan().held_out
        # Two different sentences may have one translation, a short one: hardly ever.
        assert len(set(held_out) & read) <= 2
    whole = list(read_lines(open_corpus(text_folder("sample")).files["sw"]))
    assert texts.held_out["sw"] == whole[-TourPlan().held_out :]


def test_a_quick_plan_has_the_same_stages_in_small(tmp_path):
    quick = TourPlan("sprout").quick()
    assert (quick.model, quick.sizes) == ("sprout", TourPlan().sizes)
    assert split_text(quick, tmp_path / "text").codes == ["en", "de", "ru", "sw"]


def test_too_little_text_is_said(tmp_path):
    with pytest.raises(DataError, match=f"needs {900 + TourPlan().held_out}"):
        split_text(TourPlan(lines=900), tmp_path / "text")


def test_only_two_models_can_be_shown():
    with pytest.raises(UnknownName, match="Did you mean 'sprout'"):
        TourPlan("sprouts")


@pytest.mark.parametrize(("there", "model"), [(None, "sprout"), (object(), "e5-small")])
def test_the_usual_model_is_the_real_one_where_it_is_installed(monkeypatch, there, model):
    monkeypatch.setattr(plans, "find_spec", lambda name: there)
    assert default_model() == model
