"""Does agreement with the uncut model, which needs no labels, predict what labels show?

The classifier and the tagger of tasks.py are cut ten times in all, by several rules to several
sizes. Each cut is compared with the uncut model on 200 unlabelled sentences of each language that
it was not chosen on, as `polyprune prune --compare 200` does, and scored by labels on the test
examples. A line a cut goes to results/agreement.jsonl; what is there is not computed again. The
rank correlation of agreement and lost points is Spearman's, by model and over both.

    python benchmarks/agreement.py --data ../shared/data/xtreme --work FOLDER
    python benchmarks/agreement.py --table
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import torch
from scipy.stats import spearmanr
from tasks import TAGS, XNLI, Task, carve, tuned
from timing import RESULTS, record

import polyprune as pp
from polyprune.parts import atomic_folder

NAME = "agreement"
COMPARED = 200
READ = 192
"""Lines of each language that a cut may read; those behind them are compared on."""


@dataclass(frozen=True)
class Cut:
    """A way to cut a model."""

    rule: str
    sparsity: float

    @property
    def options(self) -> dict:
        """As `polyprune.prune` takes them."""
        if self.rule in ("magnitude", "random"):
            return {"method": self.rule, "sparsity": self.sparsity}
        rounds = {"rounds": 3, "sentences": READ // 3} if self.rule == "second-order" else {}
        return {"rule": self.rule, "sparsity": self.sparsity, "sentences": READ, **rounds}


CUTS = (
    Cut("second-order", 0.3),
    Cut("second-order", 0.5),
    Cut("second-order", 0.7),
    Cut("fisher", 0.3),
    Cut("fisher", 0.5),
)
"""Five of each model: from next to nothing lost to nearly all."""


def results(path: Path | None = None) -> dict[tuple[str, str, float], dict]:
    """All that was measured, by task, rule and sparsity."""
    path = path or RESULTS / f"{NAME}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    rows = map(json.loads, lines)
    return {(row["task"], row["rule"], row["sparsity"]): row for row in rows}


def scores(task: Task, model, data: Path) -> dict[str, float]:
    """The labelled score of each language, in percent."""
    found = pp.evaluate(model, task=task.name, data=data, split="test", progress=False).systems[0]
    return {
        code: next(iter(each.scores.values()))
        for code, each in found.languages.items()
        if each.scores is not None
    }


def measure(task: Task, cut: Cut, model, data: Path, whole: dict[str, float]) -> dict:
    """One cut: agreement by language, and the points that labels show to be lost."""
    result = pp.prune(model, corpus=data / "text", compare=COMPARED, progress=False, **cut.options)
    assert result.fidelity is not None
    own = scores(task, result.model, data)
    # Tasks call zh what texts call zh-Hans.
    rows = {code.partition("-")[0]: row for code, row in result.fidelity.languages.items()}
    return {
        "task": task.name,
        "rule": cut.rule,
        "sparsity": cut.sparsity,
        "sentences": {code: row.sentences for code, row in rows.items()},
        "seen": sorted(code for code, row in rows.items() if row.seen),
        "agreement": {code: row.main for code, row in rows.items()},
        "lost": {code: round(whole[code] - own[code], 2) for code in whole},
        "mean_agreement": fmean(row.main for row in rows.values()),
        "mean_lost": fmean(whole[code] - own[code] for code in whole),
    }


def run(task: Task, source: Path, work: Path, cuts: tuple[Cut, ...] = CUTS) -> None:
    """All cuts of a task's model that have not been measured."""
    done = results()
    missing = [cut for cut in cuts if (task.name, cut.rule, cut.sparsity) not in done]
    if not missing:
        return
    data = work / f"{task.name}-data"
    if not data.is_dir():
        with atomic_folder(data) as new:
            carve(task, source, new)
    model = pp.load(tuned(task, data, work))
    whole = scores(task, model, data)
    for cut in missing:
        row = measure(task, cut, model, data, whole)
        agreement, lost = row["mean_agreement"], row["mean_lost"]
        print(f"{task.name} {cut.rule} {cut.sparsity}: {agreement:.1f} %, {lost:+.1f}", flush=True)
        record(NAME, [row])


def correlation(rows: list[dict]) -> float:
    """Spearman's, of agreement and of points that are still there: 1 if the order is the same."""
    found = spearmanr([r["mean_agreement"] for r in rows], [-r["mean_lost"] for r in rows])
    return float(found.statistic)  # pyright: ignore[reportAttributeAccessIssue]


def by_language(rows: list[dict]) -> float:
    """The same over all languages of all cuts."""
    pairs = [(row["agreement"][c], -row["lost"][c]) for row in rows for c in row["agreement"]]
    return float(spearmanr(*zip(*pairs, strict=True)).statistic)  # pyright: ignore[reportAttributeAccessIssue]


def table() -> None:
    """Markdown: every cut, and the correlations."""
    rows = sorted(results().values(), key=lambda row: (row["task"], -row["mean_agreement"]))
    print("| task | rule | sparsity | agreement | points lost |\n|---|---|---|---|---|")
    for row in rows:
        shown = f"{row['mean_agreement']:.1f} % | {row['mean_lost']:.1f}"
        print(f"| {row['task']} | {row['rule']} | {row['sparsity']} | {shown} |")
    groups = {name: [row for row in rows if row["task"] == name] for name in ("xnli", "udpos")}
    for name, some in (groups | {"both": rows}).items():
        if len(some) > 2:
            print(
                f"\n{name}: Spearman {correlation(some):.2f}, by language {by_language(some):.2f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="a folder in XTREME's layout")
    parser.add_argument("--work", type=Path, help="where tasks.py keeps its models")
    parser.add_argument("--only", help="xnli or udpos")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--table", action="store_true", help="print what was measured")
    options = parser.parse_args()
    if not options.table:
        torch.set_num_threads(options.threads)
        for task in (XNLI, TAGS):
            if options.only in (None, task.name):
                run(task, options.data, options.work)
    table()


if __name__ == "__main__":
    main()
