"""What of a study can be scored is known before its first cell."""

from dataclasses import replace

import pytest

from polyprune.errors import ConfigError, DataError
from polyprune.studies.scorable import with_scorable_only
from polyprune.studies.study_config import Study
from polyprune.studies.study_parts import SystemConfig, TaskConfig
from support.xtreme import without_labels, xtreme_folder

STUDY = Study(
    model="m",
    systems=(SystemConfig("dense"),),
    tasks=(TaskConfig("xnli"), TaskConfig("udpos"), TaskConfig("tatoeba")),
)


@pytest.fixture
def data(tmp_path):
    return xtreme_folder(tmp_path / "xtreme")


def test_with_all_labels_a_study_stays_as_it_is(data):
    assert with_scorable_only(STUDY, str(data)) == (STUDY, ())


def test_tests_without_labels_are_refused_and_named(data):
    without_labels(data)
    with pytest.raises(ConfigError, match=r"^Some .* XNLI: there are no labels .* `labels`"):
        with_scorable_only(STUDY, str(data))
    only = replace(STUDY, tasks=STUDY.tasks[:1], leave_out=True)
    with pytest.raises(ConfigError, match=r"^Nothing of this study can be scored: XNLI"):
        with_scorable_only(only, str(data))


def test_labels_elsewhere_are_enough_and_must_fit(data, tmp_path):
    without_labels(data, tmp_path / "labels")
    study = replace(STUDY, labels=str(tmp_path / "labels"))
    assert with_scorable_only(study, str(data)) == (study, ())
    path = tmp_path / "labels" / "xnli" / "test-sw.tsv"
    path.write_text("neutral\n")
    with pytest.raises(DataError, match="There are 1 labels for 11 examples"):
        with_scorable_only(study, str(data))
    path.unlink()
    with pytest.raises(ConfigError, match="XNLI for sw: there are no labels in"):
        with_scorable_only(study, str(data))


def test_what_cannot_be_scored_is_left_out_if_asked(data, tmp_path):
    without_labels(data, tmp_path / "labels")
    (tmp_path / "labels" / "xnli" / "test-sw.tsv").unlink()
    for path in (data / "udpos").iterdir():
        path.unlink()
    systems = (SystemConfig("dense", tasks=("xnli", "udpos")),)
    study = replace(STUDY, labels=str(tmp_path / "labels"), leave_out=True, systems=systems)
    left, told = with_scorable_only(study, str(data))
    assert [plan.name for plan in left.tasks] == ["xnli", "tatoeba"]
    assert left.tasks[0].languages == ("en", "ru")
    assert left.systems[0].tasks == ("xnli",)
    assert [line.partition(":")[2].split(":")[0] for line in told] == [" XNLI for sw", " POS"]


def test_a_regime_without_translations_is_named(data):
    for code in ("ru", "sw"):
        (data / "xnli" / f"train-{code}.tsv").unlink()
    both = replace(STUDY, regimes=("transfer", "translate-train-all"), leave_out=True)
    left, told = with_scorable_only(both, str(data))
    assert left.tasks[0].regimes == ("transfer",)
    assert left.tasks[1].regimes is None
    assert "XNLI (translate-train-all): There is English alone" in told[0]
