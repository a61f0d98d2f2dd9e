"""A card that is written again, once losses and speed are known."""

import pytest
from huggingface_hub import ModelCard

import polyprune as pp
from polyprune.errors import CheckpointError, ConfigError
from polyprune.model.network.folder import checksum_mismatches
from polyprune.reporting.card import fill_card, find_system
from polyprune.reporting.results import Results, Score, System, SystemSize
from support.models import tiny_model

DENSE = System("dense", "Dense")
HALF = System("grad", "Grad", 0.5)
MOST = System("grad", "Grad", 0.9)


def score(system, seed=0, regime="transfer", task="xnli", **languages):
    own = {code: {"accuracy": value} for code, value in languages.items()}
    known = [value for value in languages.values() if value is not None]
    mean = {"accuracy": sum(known) / len(known)} if known else {"accuracy": None}
    return Score(system, task, mean, own, regime, seed)


RESULTS = Results(
    scores=(
        score(DENSE, sw=60.0, ur=50.0),
        score(HALF, 0, sw=50.0, ur=48.0),
        score(HALF, 1, sw=52.0, ur=None),
    ),
    sizes=(SystemSize(HALF, faster=1.5, low=1.4, high=1.6),),
    about={
        "machine": {"cpu": "A Processor", "threads": 2},
        "measured": {"batch": 1, "tokens": 128},
    },
)


@pytest.fixture
def folder(tmp_path):
    tiny_model("xlm-roberta").save_pretrained(tmp_path / "original")
    model = pp.load(tmp_path / "original")
    gates = pp.open_gates(model.shape)
    gates.heads[0][:, 1:] = 0
    pp.shrink(model, gates).save_pretrained(tmp_path / "half")
    return tmp_path / "half"


def text(folder) -> str:
    return (folder / "README.md").read_text()


def test_losses_and_speed_are_put_into_the_card(folder):
    before = text(folder)
    fill_card(folder, RESULTS)
    after = text(folder)
    assert before.count("Not measured yet") == 2
    assert "Not measured yet" not in after
    assert "| Swahili (sw) | 60.0 | 51.0 | -9.0 |" in after
    assert "| Urdu (ur) | 50.0 | 48.0 | -2.0 |" in after
    assert "1.50 times as fast" in after
    assert "A Processor, 2 threads, batches of 1, 128 tokens per sentence" in after
    assert "| 1 | 4 → 1 |" in after
    (result,) = ModelCard(after).data.eval_results
    assert (result.dataset_name, result.metric_value) == ("XNLI", 50.5)
    assert not checksum_mismatches(folder)


def test_filling_twice_changes_nothing_and_keeps_what_people_wrote(folder):
    (folder / "README.md").write_text(text(folder) + "\nMy notes.\n")
    fill_card(folder, RESULTS)
    once = text(folder)
    fill_card(folder, RESULTS)
    assert text(folder) == once
    assert once.endswith("\nMy notes.\n")


def test_a_card_by_somebody_else_is_not_touched(folder):
    (folder / "README.md").write_text("Mine.")
    with pytest.raises(CheckpointError, match="left alone"):
        fill_card(folder, RESULTS)
    assert text(folder) == "Mine."


def test_a_folder_without_a_card_gets_one(folder):
    (folder / "README.md").unlink()
    fill_card(folder, RESULTS)
    assert "-9.0" in text(folder)


def test_what_was_not_measured_is_a_dash(folder):
    fill_card(folder, Results(scores=(score(HALF, sw=None, ur=40.0),)))
    assert "| Swahili (sw) | – | – | – |" in text(folder)
    assert "| Urdu (ur) | – | 40.0 | – |" in text(folder)
    assert text(folder).count("Not measured yet") == 1


def test_a_task_that_failed_is_no_loss(folder):
    failed = Score(HALF, "pawsx", {}, {}, failed="out of memory")
    fill_card(folder, Results(scores=(*RESULTS.scores, failed)))
    assert "PAWS" not in text(folder)


def test_regimes_are_told_apart(folder):
    other = score(HALF, regime="translate-train", sw=70.0)
    fill_card(folder, Results(scores=(*RESULTS.scores, other)))
    assert "### XNLI\n" in text(folder)
    assert "### XNLI, translate-train\n" in text(folder)


def test_results_without_this_model_are_refused(folder):
    with pytest.raises(ConfigError, match="neither scores nor a speed"):
        fill_card(folder, Results(sizes=(SystemSize(HALF, parameters=3.0),)))
    with pytest.raises(ConfigError, match="There are: none"):
        fill_card(folder, Results())


def test_of_several_systems_one_has_to_be_named(folder):
    several = Results(scores=(*RESULTS.scores, score(MOST, sw=10.0)))
    with pytest.raises(ConfigError, match=r"There are: Dense, Grad, 50.% cut, Grad, 90.% cut"):
        fill_card(folder, several)
    with pytest.raises(ConfigError, match="Which system"):
        fill_card(folder, several, System("other", "Other"))
    fill_card(folder, several, MOST)
    assert "| Swahili (sw) | 60.0 | 10.0 | -50.0 |" in text(folder)


def test_a_system_that_is_called_like_the_folder_is_meant(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    half, original = System("half", "half"), System("original", "original")
    results = Results(scores=(score(original, sw=60.0), score(half, sw=50.0)))
    assert find_system(folder, results, None) == half
    assert results.baseline(half, "original") == original
    fill_card(folder, results)
    assert "-10.0" in text(folder)
