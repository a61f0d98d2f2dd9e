"""Fine-tuning from the first trial to the kept model: the one place that carries a search out."""

from collections.abc import Callable, Mapping

from ..progress import SILENT, Progress
from ..training.loop import Diverged
from ..training.run import follow
from ..training.run_config import Run
from ..training.run_progress import in_rows
from .finetune_config import FineTuneConfig
from .hyperparameter_search import HyperparameterSearch


def run_search(
    search: HyperparameterSearch,
    progress: Progress = SILENT,
    change: Callable[[Run], Run] = lambda run: run,
) -> None:
    """Train every trial that is still to do, each as `change` makes it, and keep the best."""
    examples = None
    for trial in search.pending():
        if examples is None:
            with progress.stage("Preparing"):
                examples = search.encode(progress)
            progress.message(describe_languages(search.setup))
        run, folder = search.run(trial, examples)
        reports = follow(
            change(run),
            folder,
            progress=progress,
            material=search.material,
            describe=describe_dev_scores,
        )
        try:
            for _ in reports:
                pass
        except Diverged as why:
            search.record_failure(trial, why)
        else:
            search.conclude(trial)
    search.finish()


def describe_languages(setup: FineTuneConfig) -> str:
    """The languages that are trained on, in a line; of a task of one's own, the labels too."""
    line, missing = f"Training on {', '.join(setup.training)}.", setup.missing
    if setup.task.metric:
        labels = f"{len(setup.task.labels)} labels, " if setup.task.labels else ""
        line = f"{line[:-1]}, for {setup.task.group}: {labels}scored by {setup.task.metric}."
    return f"{line} There is no training data for {', '.join(missing)}." if missing else line


def describe_dev_scores(step: int, wrong: Mapping[str, float]) -> str:
    """The dev score of every language in a few lines, from the share that it gets wrong."""
    mean = 100 * (1 - sum(wrong.values()) / len(wrong))
    shown = {code: f"{100 * (1 - share):5.1f} " for code, share in wrong.items()}
    rows = in_rows(shown) if len(shown) > 1 else []
    return "\n".join([f"Step {step:,}: dev {mean:.1f}", *rows])
