"""How much an average differs from seed to seed, where only some tasks were repeated."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...evaluation.metrics import average_flat
from ...evaluation.task_names import TASK_NAMES
from ..results import DENSE, System
from .cells import Seeds, average, complete_seeds
from .table import TableCell

OVER_SEEDS = "over seeds"
"""The heading of the column."""


@dataclass(frozen=True, slots=True)
class RepeatedTasks:
    """The tasks that some system has with every seed there is, and the seeds."""

    tasks: tuple[str, ...] = ()
    seeds: tuple[int | None, ...] = ()

    def cell(self, system: System, own: Mapping[str, Seeds]) -> TableCell:
        """Return the average of these tasks with its spread; a dash if a seed is missing."""
        seeds = {task: complete_seeds(own.get(task, {})) for task in self.tasks}
        known = {task: self._for_all(system, task, each) for task, each in seeds.items()}
        if not known or any(seeds.keys() != set(self.seeds) for seeds in known.values()):
            return TableCell((None,))
        value, spread = average(known, average_flat)
        return TableCell((value,), spread=spread)

    def _for_all(self, system: System, task: str, seeds: Seeds) -> Seeds:
        """Repeat for every seed what no seed changes, such as the dense model's embeddings."""
        tuned = task not in TASK_NAMES or TASK_NAMES[task].fine_tuned
        if system.name != DENSE or tuned or len(seeds) != 1:
            return seeds
        return dict.fromkeys(self.seeds, next(iter(seeds.values())))


NOT_REPEATED = RepeatedTasks()


def repeated(lines: Iterable[Mapping[str, Seeds]]) -> RepeatedTasks:
    """Return the repeated tasks of some systems' scores; none if all were repeated, or none."""
    known = [(task, set(complete_seeds(seeds))) for own in lines for task, seeds in own.items()]
    every = {seed for _, seeds in known for seed in seeds}
    tasks = dict.fromkeys(task for task, seeds in known if seeds == every and len(every) > 1)
    if len(tasks) in (0, len({task for task, _ in known})):
        return NOT_REPEATED
    order = sorted(every, key=lambda seed: -1 if seed is None else seed)
    return RepeatedTasks(tuple(tasks), tuple(order))
