"""A study of four systems, two tasks and two seeds, without a file of it."""

from dataclasses import replace

from polyprune.studies.study_cells import InputHashes, plan_cells
from polyprune.studies.study_config import Study, SystemConfig, TaskConfig
from polyprune.training.gating_config import GatingConfig
from polyprune.training.phases import Phase
from polyprune.training.run_config import Run
from polyprune.training.run_sections import StartConfig

PRINTS = InputHashes(model="m", data="d", corpus="c")
PLAIN = Run(phases=(Phase(steps=4),), model=StartConfig(start="x"))
RUNS = {
    "small": PLAIN,
    "grad": replace(PLAIN, gating=GatingConfig(kind="fixed")),
    "ds": replace(PLAIN, gating=GatingConfig(kind="dynamic")),
}
STUDY = Study(
    model="m",
    systems=(
        SystemConfig("dense", "Dense"),
        SystemConfig("small", config="small.toml"),
        SystemConfig("grad", config="grad.toml", sizes=(0.3, 0.5)),
        SystemConfig("ds", config="ds.toml", sizes=(0.3, 0.5)),
    ),
    tasks=(TaskConfig("xnli", epochs=1, limit=9), TaskConfig("tatoeba")),
    seeds=(1, 2),
)


def graph_of(study=STUDY, runs=RUNS, prints=PRINTS):
    return plan_cells(study, runs, prints)


def with_system(name, study=STUDY, **changes):
    """The study with one system changed."""
    systems = [replace(s, **changes) if s.name == name else s for s in study.systems]
    return replace(study, systems=tuple(systems))


def with_task(name, study=STUDY, **changes):
    """The study with one task changed."""
    tasks = [replace(t, **changes) if t.name == name else t for t in study.tasks]
    return replace(study, tasks=tuple(tasks))
