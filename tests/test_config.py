"""From TOML to a run: every shipped file, every mistake."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.config import make_run, read_run
from polyprune.errors import ConfigError
from support.paths import REPOSITORY

STUDIES = ("study", "rules")
CONFIGS = sorted(
    path for path in (REPOSITORY / "configs").rglob("*.toml") if path.stem not in STUDIES
)
SYSTEMS = {
    "distilbert", "grad-shared", "grad-non-shared", "l0-shared", "l0-non-shared",
    "l0-non-shared-distil", "grad-shared-ds", "l0-non-shared-ds", "minilm",
}  # fmt: skip


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_shipped_config_is_a_run(path):
    run = read_run(path)
    assert run.steps > 0
    assert f"polyprune train {path.relative_to(REPOSITORY)}" in path.read_text()


def test_every_system_of_the_paper_is_there_in_both_sizes():
    for kind in ("paper", "miniature"):
        assert {path.stem for path in CONFIGS if path.parent.name == kind} >= SYSTEMS


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_the_papers_hyper_parameters(name):
    path = REPOSITORY / "configs" / "paper" / f"{name}.toml"
    run = read_run(path)
    assert "accelerate launch" in path.read_text()
    assert run.batch.size == 2048
    assert run.corpus.exponent == 0.3
    assert run.corpus.held_out == 3000
    assert all(phase.steps == 150_000 for phase in run.phases)
    assert all(phase.learning_rate == 2e-4 for phase in run.phases)
    assert (run.engine.betas, run.engine.epsilon) == ((0.9, 0.98), 1e-6)
    if name.startswith("l0"):
        assert run.penalties.sparsity == (128 if name.endswith("ds") else 8)
        assert run.penalties.diversity == (0 if name == "l0-shared" else 1)
    if "ds" not in name and name.startswith("l0"):
        assert [phase.train for phase in run.phases] == ["gates", "all"]
    if "distil" in name:
        wanted = run.objective.active
        assert (wanted["soft"], wanted["mlm"], wanted["cosine"]) == (5, 2, 1)
        assert run.objective.temperature == 2


def test_all_mistakes_are_told_at_once_with_the_nearest_right_key():
    table = {
        "phases": [{"steps": 5, "learning_rat": 0.1}],
        "corpus": {"lanugages": ["sw"], "block": "many"},
        "gating": {"kind": "l1"},
        "objektive": {},
    }
    with pytest.raises(ConfigError) as error:
        make_run(table, "my.toml")
    told = str(error.value)
    assert told.startswith("my.toml has 5 mistakes")
    assert (
        "phases.0.learning_rat: there is no such key. Did you mean phases.0.learning_rate?" in told
    )
    assert "Did you mean corpus.languages?" in told
    assert "corpus.block" in told
    assert "'none', 'fixed', 'learned' or 'dynamic'" in told
    assert "Did you mean objective?" in told


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({}, "phases"),
        ({"phases": []}, "one phase or more"),
        ({"phases": [{"steps": 0}]}, "1 step or more"),
        ({"phases": [{"steps": 5, "warmup": 9}]}, "within the 5 steps"),
        ({"phases": [{"steps": 5, "learning_rate": 0}]}, "more than 0"),
        ({"phases": [{"steps": 5, "train": "gates"}]}, "nothing to train"),
        ({"phases": [{"steps": 5}], "penalties": {"sparsity": 8}}, "gates that are trained"),
        ({"phases": [{"steps": 5}], "penalties": {"sparsity": -8}}, "0 or more"),
        ({"phases": [{"steps": 5}], "gating": {"sparsity": 1.3}}, "less than 1"),
        (
            {"phases": [{"steps": 5}], "gating": {"kind": "learned", "learned": True}},
            "always trained",
        ),
        (
            {
                "phases": [{"steps": 5}],
                "gating": {"kind": "fixed", "rule": "random", "setting": "non-shared"},
            },
            "knows no languages",
        ),
        (
            {"phases": [{"steps": 5}], "gating": {"kind": "fixed", "rule": "fischer"}},
            "Unknown rule 'fischer'. Did you mean 'fisher'",
        ),
        ({"phases": [{"steps": 5}], "gating": {"kind": "fixed", "rounds": 0}}, "1 round"),
        (
            {"phases": [{"steps": 5}], "gating": {"kind": "dynamic", "rounds": 2}},
            "cut before training",
        ),
        (
            {"phases": [{"steps": 5}], "gating": {"kind": "learned", "repair": True}},
            "cut before training",
        ),
        ({"gating": {"kind": "dynamic"}}, "one phase or more, unless it only cuts"),
        ({"phases": [{"steps": 5}], "objective": {"mlm": -1}}, "0 or more"),
        ({"phases": [{"steps": 5}], "objective": {"soft": 1, "embeddings": 1}}, "not both"),
        ({"phases": [{"steps": 5}], "objective": {"translations": 1}}, "corpus.parallel"),
        ({"phases": [{"steps": 5}], "teacher": {"cache": True}}, "for embeddings"),
        ({"phases": [{"steps": 5}], "batch": {"size": 0}}, "1 example or more"),
        ({"phases": [{"steps": 5}], "saving": {"every": 0}}, "1 or more"),
        ({"phases": [{"steps": 5}], "model": {"fresh": {"heads": 3}}}, "multiple of the heads"),
        ({"phases": [{"steps": 5}], "model": {"fresh": {"vocabulary": 3}}}, "100 pieces"),
    ],
)
def test_what_cannot_be_meant_is_refused(table, told):
    with pytest.raises(ConfigError, match=told):
        make_run(table)


def test_a_file_that_is_not_there_or_not_toml_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="There is no file"):
        read_run(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="is a folder"):
        read_run(tmp_path)
    (tmp_path / "bad.toml").write_text("[model\n")
    with pytest.raises(ConfigError, match=r"bad.toml is not TOML"):
        read_run(tmp_path / "bad.toml")


@pytest.fixture
def config(tmp_path) -> Path:
    path = tmp_path / "run.toml"
    path.write_text("[objective]\nmlm = 1.0\n[[phases]]\nsteps = 10\n[[phases]]\nsteps = 30\n")
    return path


def test_set_changes_a_value_of_any_kind(config):
    changes = ["corpus.languages=['sw','ur']", "corpus.source=some/folder", "phases.1.warmup=3"]
    run = read_run(config, [*changes, "engine.checkpointing=true", "batch.size = 64"])
    assert run.corpus.languages == ("sw", "ur")
    assert run.corpus.source == "some/folder"
    assert run.phases[1].warmup == 3
    assert run.engine.checkpointing is True
    assert run.batch.size == 64


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("nonsense", "section.key=value"),
        ("phases.2.steps=3", "numbered from 0 to 1"),
        ("phases.steps=3", "numbered from 0 to 1"),
        ("batch.sise=3", "Did you mean batch.size"),
    ],
)
def test_set_refuses_what_is_not_there(config, change, told):
    with pytest.raises(ConfigError, match=told):
        read_run(config, [change])


@given(st.integers(2, 10_000), st.lists(st.integers(1, 10**6), min_size=1, max_size=2))
def test_other_steps_scale_the_schedules(steps, lengths):
    phases = [{"steps": n, "warmup": n // 10, "ramp": n // 3} for n in lengths]
    run = make_run({"phases": phases}).with_steps(steps)
    assert run.steps == steps
    for phase, n in zip(run.phases, lengths, strict=True):
        assert phase.steps >= 1
        assert phase.warmup / phase.steps == pytest.approx((n // 10) / n, abs=2 / phase.steps)


def test_fewer_steps_than_phases_are_refused(config):
    with pytest.raises(ConfigError, match="2 phases need as many steps"):
        read_run(config, steps=1)


def test_saving_is_not_part_of_what_a_run_computes(config):
    run = read_run(config)
    assert read_run(config, ["saving.every=7"]).identity() == run.identity()
    assert read_run(config, ["seed=7"]).identity() != run.identity()


OLD = {
    "model": {"fresh": {"spread": 0.04}},
    "gating": {"kind": "l0", "spread": 0.5, "least": {"heads": 2}},
    "batch": {"at_once": 4},
    "phases": [{"steps": 5}],
}


def test_renamed_keys_still_work_and_are_told(caplog):
    run = make_run(OLD)
    assert run.model.fresh.init_std == 0.04
    assert run.gating.kind == "learned"
    assert 'gating.kind = "l0" is now "learned": please rename it' in caplog.text
    assert (run.gating.init_std, run.gating.minimum.heads) == (0.5, 2)
    assert run.batch.micro_batch_size == 4
    assert "batch.at_once is now called batch.micro_batch_size" in caplog.text
    assert "model.fresh.spread is now called model.fresh.init_std" in caplog.text
    assert "gating.least is now called gating.minimum" in caplog.text


def test_a_renamed_key_is_not_given_twice():
    table = {"phases": [{"steps": 5}], "batch": {"at_once": 4, "micro_batch_size": 8}}
    with pytest.raises(ConfigError, match=r"Give only batch\.micro_batch_size"):
        make_run(table)


def test_records_of_runs_keep_the_first_names_of_settings():
    identity = make_run(OLD).identity()
    assert identity["model"]["fresh"]["spread"] == 0.04
    assert identity["gating"]["kind"] == "l0"
    assert identity["gating"]["spread"] == 0.5
    assert identity["gating"]["least"]["heads"] == 2
    assert identity["batch"] == {"size": 2048}
