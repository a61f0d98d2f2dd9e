"""Tasks of one's own in a study."""

import pytest

from polyprune.errors import ConfigError
from polyprune.studies.cell_work import score, tune
from polyprune.studies.own_study_task import find_study_task
from polyprune.studies.pool import Job
from polyprune.studies.study_parts import TaskConfig
from support.own_tasks import write_file, write_own_task


@pytest.fixture
def reviews(tmp_path):
    return write_own_task(tmp_path / "reviews", "classification", "tsv")


def test_a_study_calls_it_what_it_likes(reviews):
    plan = TaskConfig("opinions", data=str(reviews))
    assert (plan.task.name, plan.task.title) == ("opinions", "opinions")
    assert plan.task.labels == ("bad", "fine", "good")
    assert plan.tuning("transfer")["version"] == plan.task.version
    assert find_study_task("ner", None).name == "panx"


def test_what_cannot_be_meant_is_told(reviews, tmp_path):
    with pytest.raises(ConfigError, match="xnli is a task of XTREME: call the one in"):
        TaskConfig("xnli", data=str(reviews))
    with pytest.raises(ConfigError, match="`like` is for XTREME's tasks: leave it out for mine"):
        TaskConfig("mine", data=str(reviews), like="xnli")
    with pytest.raises(ConfigError, match=r"There is no folder .*nowhere"):
        TaskConfig("mine", data=str(tmp_path / "nowhere"))
    write_file(reviews / "train-en.tsv", "a\tb\tc\td\n")
    with pytest.raises(ConfigError, match=r"train-en\.tsv has 4 columns"):
        TaskConfig("again", data=str(reviews))


def test_a_worker_fine_tunes_and_scores_it(reviews, speaking, tmp_path):
    plan = TaskConfig("opinions", data=str(reviews), epochs=1, learning_rate=1e-3)
    common = {"models": (speaking,), "start": speaking, "data": "elsewhere", "labels": None}
    settings = plan.tuning("translate-train-all") | {"seed": 1, "sparsity": None}
    job = Job(
        address="a", kind="tuned", settings=settings, folder=tmp_path / "a", threads=1,
        payload=str(reviews), **common,
    )  # fmt: skip
    assert tune(job, lambda: False)["dev"] is not None
    wanted = {"task": "opinions", "languages": None, "limit": None, "sparsity": None}
    (model,) = tmp_path.glob("a/**/model")
    scored = score(
        Job(
            address="b", kind="score", settings=wanted, folder=tmp_path / "b", threads=1,
            payload=str(reviews), **common | {"models": (model,)},
        ),
        lambda: False,
    )  # fmt: skip
    assert set(scored["languages"]) == {"en", "ru", "sw"}
    assert scored["mean"]["accuracy"] >= 0
    assert scored["baseline"]["sw"]["accuracy"] == pytest.approx(100 / 3)
