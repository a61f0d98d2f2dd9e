"""A study of four systems, two tasks and two seeds, without a file of it."""

from dataclasses import replace

from polyprune.studies.cells import Prints, plan_cells
from polyprune.studies.plan import Study, System, TaskPlan
from polyprune.training.phases import Phase
from polyprune.training.plan import GatingPlan, Run, Start

PRINTS = Prints(model="m", data="d", corpus="c")
PLAIN = Run(phases=(Phase(steps=4),), model=Start(start="x"))
RUNS = {
    "small": PLAIN,
    "grad": replace(PLAIN, gating=GatingPlan(kind="gradient")),
    "ds": replace(PLAIN, gating=GatingPlan(kind="dynamic")),
}
STUDY = Study(
    model="m",
    systems=(
        System("dense", "Dense"),
        System("small", config="small.toml"),
        System("grad", config="grad.toml", sizes=(0.3, 0.5)),
        System("ds", config="ds.toml", sizes=(0.3, 0.5)),
    ),
    tasks=(TaskPlan("xnli", epochs=1, limit=9), TaskPlan("tatoeba")),
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
