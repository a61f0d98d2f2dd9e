"""From TOML to a study: what is shipped, every mistake."""

from collections import Counter

import pytest

from polyprune.config import read_study
from polyprune.errors import ConfigError
from polyprune.evaluation.finetune_config import LEARNING_RATES
from polyprune.evaluation.tasks import TASKS
from polyprune.pruning.criteria.criterion import NAMES
from polyprune.studies.study_cells import InputHashes, plan_cells
from support.paths import REPOSITORY

HEAD = 'model = "sprout"\n'
SYSTEM = '[[systems]]\nname = "dense"\n'
TASK = '[[tasks]]\nname = "xnli"\n'
CLAIM = '[[claims]]\ntitle = "x"\nbetter = "{}"\nworse = "dense"\n'
PRINTS = InputHashes("m", "d", "c")


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return path

    return write


def test_the_miniature_has_the_rows_and_columns_of_the_papers_tables():
    study, runs = read_study(REPOSITORY / "configs" / "miniature" / "study.toml")
    graph = plan_cells(study, runs, PRINTS)
    assert len(study.systems) == 10
    assert len({score.task for score in graph.scores}) == 9
    assert {s.size for s in graph.scores if s.system.endswith("ds")} == {0.3, 0.5, 0.7}


def test_the_miniature_treats_all_systems_alike():
    """As many tokens for each, dense too, and five seeds for all that is claimed."""
    study, runs = read_study(REPOSITORY / "configs" / "miniature" / "study.toml")
    graph = plan_cells(study, runs, PRINTS)
    trained = [cell.payload for cell in graph.cells.values() if cell.kind == "model"]
    amounts = {(run.steps, run.batch.size, run.corpus.block) for run in trained}
    assert amounts == {(study.steps, 16, 128)}
    assert all(system.config for system in study.systems)
    assert len(study.claims) >= 6
    for claim in study.claims:
        for side in (claim.better, claim.worse):
            name, size = study.claimed(side)
            for regime in claim.regimes or study.regimes:
                task = "udpos" if regime == "transfer" else "xnli"
                wanted = (name, size, task, regime)
                own = [s for s in graph.scores if (s.system, s.size, s.task, s.regime) == wanted]
                assert len({each.seed for each in own}) >= 5, wanted


def test_quick_is_a_small_part_of_it():
    study, runs = read_study(REPOSITORY / "configs" / "miniature" / "study.toml", quick=True)
    assert study.name == "miniature-quick"
    assert len(plan_cells(study, runs, PRINTS).cells) < 40
    assert all(system.steps == study.systems[1].steps for system in study.systems[1:])


def test_the_papers_study_is_table_1_on_xtreme(tmp_path, monkeypatch):
    """All systems and tasks, the paper's grids, and one training of each for all seeds."""
    study, runs = read_study(REPOSITORY / "configs" / "paper" / "study.toml")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="There is no finished run runs/distilbert"):
        plan_cells(study, runs, PRINTS)
    for name in runs:
        folder = tmp_path / "runs" / name / "model"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(name)
    graph = plan_cells(study, runs, PRINTS)
    scored = {
        regime: {s.task for s in graph.scores if s.regime == regime} for regime in study.regimes
    }
    assert scored["transfer"] == TASKS.keys()
    assert scored["translate-train-all"] == TASKS.keys() - {"bucc2018", "tatoeba"}
    assert {cell.about["seed"] for cell in graph.cells.values() if cell.kind == "model"} == {1}
    tuned = [cell for cell in graph.cells.values() if cell.kind == "tuned"]
    assert {cell.settings["seed"] for cell in tuned} == {1, 2, 3, 4, 5}
    for cell in tuned:
        transfer = cell.settings["regime"] == "transfer"
        if cell.settings["task"] == "tydiqa":
            assert isinstance(cell.settings["learning_rate"], float)
            continue
        assert tuple(cell.settings["learning_rate"]) == LEARNING_RATES
        assert cell.settings["epochs"] == ([5, 10] if transfer else 3)


def test_a_study_of_a_real_masked_lm_has_the_papers_systems_and_as_many_tokens_for_each():
    study, runs = read_study(REPOSITORY / "configs" / "real" / "study.toml")
    assert {plan.name for plan in study.tasks} == {"tatoeba", "xnli", "udpos", "panx"}
    graph = plan_cells(study, runs, PRINTS)
    trained = [cell.settings["run"] for cell in graph.cells.values() if cell.kind == "model"]
    assert len(trained) == len(study.systems)
    assert {sum(phase["steps"] for phase in run["phases"]) for run in trained} == {study.steps}
    for section in ("corpus", "batch", "engine"):
        assert all(run[section] == trained[0][section] for run in trained)


def test_a_study_of_e5_small_teaches_embeddings():
    path = REPOSITORY / "configs" / "e5-small" / "study.toml"
    study, runs = read_study(path, ["data=/some/folder"])
    assert (study.model, study.data) == ("e5-small", "/some/folder")
    assert {plan.name for plan in study.tasks} == {"tatoeba", "xnli", "udpos", "panx"}
    assert all(set(run.objective.active) <= {"embeddings", "translations"} for run in runs.values())
    assert {run.gating.kind for run in runs.values()} == {"fixed", "learned", "dynamic"}
    assert {run.gating.setting for run in runs.values()} == {"shared", "non-shared"}
    assert plan_cells(study, runs, PRINTS).scores


def test_a_study_is_called_after_its_file(write):
    assert read_study(write(HEAD + SYSTEM + TASK))[0].name == "mine"


def test_all_mistakes_are_told_at_once(write):
    path = write(
        'modl = "x"\n[[systems]]\nname = "a"\nsize = [0.5]\n'
        '[[tasks]]\nname = "xnly"\n[[tasks]]\nname = "xnli"\nepochs = "many"\n'
    )
    with pytest.raises(ConfigError) as error:
        read_study(path)
    told = str(error.value)
    assert "5 mistakes" in told
    assert "Did you mean model?" in told
    assert "Did you mean systems.0.sizes?" in told
    assert "Did you mean 'xnli'?" in told
    assert "tasks.1.epochs" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (HEAD + SYSTEM, "tasks"),
        (HEAD + "tasks = []\n" + SYSTEM, "one system and one task"),
        (HEAD + SYSTEM + SYSTEM + TASK, "two systems called dense"),
        (HEAD + SYSTEM + "sizes = [0.5]\n" + TASK, "neither config nor rule"),
        (HEAD + '[[systems]]\nname = ""\n' + TASK, "has a name"),
        (HEAD + SYSTEM + "sizes = [50]\n" + TASK, "less than 1, not 50"),
        (HEAD + "seeds = [1, 1]\n" + SYSTEM + TASK, "each of them once"),
        (HEAD + 'regimes = ["transfr"]\n' + SYSTEM + TASK, "Did you mean 'transfer'"),
        (HEAD + SYSTEM + 'tasks = ["udpos"]\n' + TASK, "Unknown task 'udpos'"),
        (HEAD + SYSTEM + TASK + 'systems = ["dens"]\n', "Did you mean 'dense'"),
        (HEAD + SYSTEM + TASK + TASK, "twice for transfer and seed 1"),
        (HEAD + SYSTEM + TASK + "limit = 0\n", "1 or more"),
        (HEAD + SYSTEM + TASK + "learning_rate = 0\n", "more than 0"),
        (HEAD + SYSTEM + '[[tasks]]\nname = "tatoeba"\nlimit = 3\n', "nothing to train on"),
        (HEAD + SYSTEM + TASK + "learning_rate = 1e-3\nlearning_rates = [1e-3]\n", "not both"),
        (HEAD + SYSTEM + TASK + "learning_rates = [1e-3, 0]\n", "more than 0"),
        (HEAD + SYSTEM + TASK + "epochs = 1\nepochs_to_try = [1, 2]\n", "not both"),
        (
            HEAD + SYSTEM + '[[tasks]]\nname = "tydiqa"\nlearning_rates = [1e-3, 2e-3]\n',
            "nothing may be chosen by them",
        ),
        (HEAD + "steps = 0\n" + SYSTEM + TASK, "1 step or more"),
        (HEAD + SYSTEM + 'trained = "runs/x"\n' + TASK, "run of its config"),
        (HEAD + SYSTEM + TASK + CLAIM.format("dens"), "Did you mean 'dense'"),
        (HEAD + SYSTEM + TASK + CLAIM.format("dense@0.5"), "There is no dense@0.5 in this study"),
        (HEAD + SYSTEM + TASK + CLAIM.format("dense@half"), "such as grad-shared@0.5"),
        (HEAD + SYSTEM + TASK + CLAIM.format("dense") + "margin = -1\n", "0 or more points"),
    ],
)
def test_what_cannot_be_meant_is_refused(write, text, told):
    with pytest.raises(ConfigError, match=told):
        read_study(write(text))


def test_a_config_that_is_not_there_is_told(write):
    with pytest.raises(ConfigError, match="There is no file"):
        read_study(write(HEAD + SYSTEM + 'config = "none.toml"\n' + TASK))


def test_all_rules_are_compared_from_one_config():
    study, runs = read_study(REPOSITORY / "configs" / "miniature" / "rules.toml", quick=True)
    assert [run.gating.rule for run in runs.values()] == [*runs]
    assert {*runs} == {*NAMES}
    cells = plan_cells(study, runs, PRINTS).cells.values()
    assert Counter(cell.kind for cell in cells) == {"model": 7, "tuned": 8, "score": 8}


RULE = '[[systems]]\nname = "cut"\nrule = "{}"\n'


def test_a_rule_cuts_the_starting_model_or_replaces_that_of_a_config(write):
    (write("").parent / "grad.toml").write_text('[gating]\nkind = "fixed"\n[[phases]]\nsteps = 2\n')
    text = HEAD + 'corpus = "sample"\n' + SYSTEM + RULE.format("michel") + "sizes = [0.3, 0.5]\n"
    text += RULE.format("second-order").replace("cut", "best") + "sizes = [0.5]\n"
    text += RULE.format("random").replace("cut", "drawn") + 'config = "grad.toml"\n' + TASK
    study, runs = read_study(write(text))
    assert runs.keys() == {"cut", "best", "drawn"}
    assert [run.gating.rule for run in runs.values()] == ["michel", "second-order", "random"]
    assert [run.steps for run in runs.values()] == [0, 0, 2]
    assert [run.gating.sentences for run in runs.values()][:2] == [300, 64]
    assert runs["cut"].gating.cut_first
    kinds = Counter(cell.about["system"] for cell in plan_cells(study, runs, PRINTS).cells.values()
                    if cell.kind == "model")  # fmt: skip
    assert kinds == {"cut": 2, "best": 1, "drawn": 1}
    quick = text + "[quick]\nsteps = 1\nsizes = [0.7]\n"
    study, _ = read_study(write(quick), quick=True)
    assert (study.system("cut").sizes, study.system("cut").steps) == ((0.7,), None)
    assert study.system("drawn").steps == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (RULE.format("fischer") + "sizes = [0.5]\n", "cut: Unknown rule 'fischer'. Did you mean"),
        (RULE.format("fisher"), "Give sizes, and no steps"),
        (RULE.format("fisher") + "sizes = [0.5]\nsteps = 3\n", "Give sizes, and no steps"),
        (RULE.format("fisher") + "sizes = [0.5]\n", "give the study a `corpus`"),
        (RULE.format("fisher") + 'config = "learned.toml"\n', "its config ranks nothing"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(write, text, told):
    learned = '[gating]\nkind = "learned"\n[[phases]]\nsteps = 2\n'
    (write("").parent / "learned.toml").write_text(learned)
    with pytest.raises(ConfigError, match=told):
        read_study(write(HEAD + text + TASK))
