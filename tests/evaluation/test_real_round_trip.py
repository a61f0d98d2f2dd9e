"""What is right, written as predictions and read back, scores 100: every real file there is."""

import pytest

from polyprune.evaluation.submission import read_predictions, write_predictions
from polyprune.evaluation.tasks import TASKS
from support.paths import SHARED

DATA = SHARED / "data" / "xtreme"
SPLITS = ("train", "dev", "test")


def there() -> list:
    """Every task, split and language that there is a real file of."""
    if not DATA.is_dir():
        return []
    return [
        (task.name, split, code)
        for task in TASKS.values()
        for split in SPLITS
        for code in task.reader.languages(str(DATA), split, task.languages)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "split", "code"), there(), ids="-".join)
def test_what_is_right_scores_100(name, split, code, tmp_path):
    task = TASKS[name]
    gold = task.kind.gold(list(task.reader.read(str(DATA), split, code)))
    if gold is None:
        pytest.skip(f"{name} {split} of {code} does not tell what is right")
    answered = task.format.suffix == "json"
    predictions = {each: answers[0] for each, answers in gold} if answered else gold
    write_predictions(tmp_path, name, code, predictions, split)
    again = read_predictions(tmp_path, name, code, split)
    assert again == predictions
    scores = task.score(gold, again, code)
    # An answer of nothing but articles or punctuation is normalised to nothing, whose F1 is 0.
    assert scores.get("exact", next(iter(scores.values()))) == 100
