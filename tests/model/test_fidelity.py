"""What is kept of an uncut model, as values: which language is worst, and how it travels."""

from polyprune.estimates import Interval
from polyprune.model.fidelity import Fidelity, LanguageFidelity, Measure
from polyprune.model.history import (
    PruningStep,
    TrainingStep,
    add_fidelity,
    add_pruning,
    add_training,
    history_of,
)
from polyprune.model.network.configuration_polyprune import PolypruneConfig


def row(mean: int | None, sentences: int = 64, *, seen: bool = False) -> LanguageFidelity:
    value = None if mean is None else Interval(float(mean), mean - 1.0, mean + 1.0)
    return LanguageFidelity(sentences, (Measure("agreement", value, "%"),), seen)


def test_the_worst_language_kept_least_and_one_without_answers_is_not_it():
    found = Fidelity("text", {"en": row(95), "fi": row(None), "sw": row(84)}, row(90))
    assert found.worst == "sw"
    assert found.as_dict()["languages"]["sw"]["agreement"] == {"value": 84, "low": 83, "high": 85}
    assert found.as_dict()["languages"]["fi"]["agreement"]["value"] is None


def test_scores_by_labels_take_the_same_place():
    scores = {"en": (96.0, 95.0), "sw": (90.0, 80.0)}
    found = Fidelity.of_scores("accuracy", scores, "my task", {"en": 500, "sw": 300})
    assert found.worst == "sw"
    assert found.overall.sentences == 800
    assert found.overall.measures[0].shown() == ("93.0 → 87.5 %", "–")
    assert found.as_dict()["languages"]["sw"]["accuracy"] == {
        "before": 90.0, "after": 80.0, "change": -10.0, "low": None, "high": None
    }  # fmt: skip


def test_numbers_are_shown_with_their_interval():
    loss = Measure("loss", Interval(0.25, 0.125, 0.375), before=2.0)
    assert loss.shown() == ("2.000 → 2.250", "+0.125 to +0.375")
    assert row(84).measures[0].shown() == ("84.0 %", "83.0 to 85.0")
    assert row(None).measures[0].shown() == ("–", "–")


def test_it_says_which_sentences_had_been_read():
    rows = {"en": row(95), "sw": row(84, 20, seen=True)}
    said = Fidelity("text", rows, row(90)).about_text()
    assert said == (
        "On 20 to 64 sentences of each language from text, which the cut was not chosen on, "
        "except in sw."
    )
    seen = Fidelity("text", {"sw": row(84, 1, seen=True)}, row(84)).about_text()
    assert "On 1 sentence of each language" in seen
    assert "others would show more loss" in seen
    unseen = Fidelity("text", {"en": row(95)}, row(95)).about_text()
    assert unseen.endswith("which the cut was not chosen on.")


def test_a_config_carries_it_until_weights_change():
    config, found = PolypruneConfig(), Fidelity("text", {"en": row(95)}, row(95))
    add_pruning(config, PruningStep(sparsity=0.5))
    add_fidelity(config, found)
    read = PolypruneConfig.from_dict(config.to_dict())
    assert history_of(read).fidelity == found
    assert history_of(read).cuts == history_of(config).cuts
    add_training(read, TrainingStep(steps=3))
    assert history_of(read).fidelity is None
    add_pruning(config, PruningStep(sparsity=0.1))
    assert history_of(config).fidelity is None
