"""What training starts from: cut by any rule there is, as `polyprune prune` cuts."""

import json

import pytest
import torch

import polyprune as pp
from polyprune.errors import ConfigError
from polyprune.model.history import history_of
from polyprune.model.network.components import sizes
from polyprune.pruning.criteria.criterion import NAMES, Criterion
from support.runs import finished, tiny_run


class Backwards(Criterion):
    """The last component is the best."""

    method = "backwards"
    per = None

    def rank(self, model, gradients, weights):
        return sizes(model.shape).map(lambda n: torch.arange(n, dtype=torch.float32)[None])


def cut_by(rule, start, text, out, **changes):
    """What a run leaves that only cuts."""
    gating = {"kind": "fixed", "rule": rule, "sentences": 4} | changes
    run = tiny_run(start, text, gating=gating, phases=[])
    assert finished(run, out) == []
    return pp.load(out / "model")


@pytest.mark.parametrize("rule", [*NAMES, f"{__name__}:Backwards"])
def test_every_rule_cuts_before_training(speaking, text, tmp_path, rule):
    small = cut_by(rule, speaking, text, tmp_path / "run")
    whole = pp.load(speaking)
    assert sum(small.shape.units) < sum(whole.shape.units)
    (cut,) = history_of(small.config).cuts
    assert 0.4 < cut.sparsity < 0.6
    assert (cut.rule or cut.method) == (rule if rule in NAMES else "backwards")
    assert cut.rounds == (3 if rule == "second-order" else 1)
    assert cut.made_up == ("compensation" if rule == "second-order" else "")
    assert not history_of(small.config).trainings


def test_a_cut_without_training_is_what_prune_makes(speaking, text, tmp_path):
    sentences = {p.stem: p.read_text(encoding="utf-8").splitlines() for p in text.glob("??.txt")}
    for rule in ("second-order", "michel"):
        mine = cut_by(rule, speaking, text, tmp_path / rule)
        read = {code: lines[:4] for code, lines in sentences.items()}
        made = pp.prune(
            pp.load(speaking), corpus=read, rule=rule, sentences=4, tokens=24, batch_size=3,
            sparsity=0.5, repair=False if rule == "second-order" else None,
        )  # fmt: skip
        assert mine.shape == made.model.shape
        for name, weight in made.model.state_dict().items():
            torch.testing.assert_close(mine.state_dict()[name], weight, rtol=1e-2, atol=1e-4)


def test_what_was_cut_is_trained_where_there_are_phases(speaking, text, tmp_path):
    gating = {"kind": "fixed", "rule": "michel", "sentences": 4}
    reports = finished(tiny_run(speaking, text, gating=gating), tmp_path / "run")
    assert len(reports) == 6
    assert history_of(pp.load(tmp_path / "run" / "model").config).trainings


def test_rounds_and_a_repair_may_be_asked_for(speaking, text, tmp_path):
    small = cut_by("fisher", speaking, text, tmp_path / "two", rounds=2)
    assert history_of(small.config).cuts[0].rounds == 2


def test_gates_are_ranked_by_curves_too(speaking, text, tmp_path):
    for setting in ("shared", "non-shared"):
        gating = {"kind": "dynamic", "rule": "second-order", "setting": setting, "sentences": 4}
        run = tiny_run(speaking, text, gating=gating, phases=[{"steps": 1}])
        finished(run, tmp_path / setting)
        assert pp.load(tmp_path / setting / "model").elastic.holds_every_size


def test_the_default_rule_is_that_of_prune_and_older_runs_keep_theirs(speaking, text, tmp_path):
    run = tiny_run(speaking, text, gating={"kind": "fixed", "sentences": 4})
    finished(run, tmp_path / "new")
    assert history_of(pp.load(tmp_path / "new" / "model").config).cuts[0].rule == "fisher"
    paper = tiny_run(speaking, text, gating={"kind": "fixed", "rule": "paper", "sentences": 4})
    finished(paper, tmp_path / "old", stops=(2,))
    record = json.loads((tmp_path / "old" / "run.json").read_text())
    assert record["gating"]["rule"] == "paper"
    finished(run, tmp_path / "old")  # whose config does not say: it said so when that was `paper`
    assert history_of(pp.load(tmp_path / "old" / "model").config).cuts[0].rule == "paper"
    fisher = tiny_run(speaking, text, gating={"kind": "fixed", "rule": "fisher", "sentences": 4})
    with pytest.raises(ConfigError, match=r"gating\.rule: 'paper' there, 'fisher' here"):
        finished(fisher, tmp_path / "old")


def test_runs_that_rank_nothing_are_recorded_as_ever(speaking, text):
    plain = tiny_run(speaking, text).identity()
    assert plain["gating"]["rule"] == "paper"
    assert not {"rounds", "repair"} & plain["gating"].keys()


def test_changed_code_of_ones_own_is_another_run(speaking, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "from polyprune.pruning.criteria.criterion import FISHER\nmine = FISHER\n"
    (tmp_path / "own_rule_of_run.py").write_text(code)
    gating = {"kind": "fixed", "rule": "own_rule_of_run:mine", "sentences": 4}
    run = tiny_run(speaking, text, gating=gating, phases=[])
    finished(run, tmp_path / "run")
    finished(run, tmp_path / "run")
    (tmp_path / "own_rule_of_run.py").write_text(code + "# another\n")
    with pytest.raises(ConfigError, match=r"files\.criterion"):
        finished(run, tmp_path / "run")


def test_a_rule_that_cannot_be_imported_is_told_before_anything_is_read(speaking, text, tmp_path):
    gating = {"kind": "fixed", "rule": "nowhere:mine"}
    run = tiny_run(speaking, text, gating=gating)
    with pytest.raises(ConfigError, match="There is no module nowhere"):
        finished(run, tmp_path / "run")
    assert not (tmp_path / "run").exists()
