"""Whether systems were trained alike, how long they still learned, and what was chosen on dev."""

from polyprune.reporting.read.lines import parse_results
from polyprune.reporting.report import report_of


def training(system, losses, tokens=2048, seed=1):
    curve = [{"step": step, "held_out": {"sw": loss}} for step, loss in losses.items()]
    more = {"steps": 100, "examples": 16, "tokens": tokens, "curve": curve, "seed": seed}
    return {"study": "s", "system": system, "title": system, **more}


def tables(*lines):
    return report_of(parse_results(lines, "s")).as_dict()["tables"]


def rows(table):
    return {
        row["cells"][0]["text"]: dict(zip(table["columns"], row["cells"], strict=True))
        for row in table["rows"]
    }


def test_a_loss_that_still_falls_in_the_last_quarter_is_told():
    table = tables(
        training("flat", {25: 6.0, 50: 5.0, 75: 4.01, 100: 4.0}),
        training("steep", {25: 6.0, 50: 5.0, 75: 4.5, 100: 4.0}),
        training("steep", {25: 6.0, 50: 5.0, 75: 4.3, 100: 4.2}, seed=2),
        training("seen once", {100: 4.0}),
    )["training"]
    found = rows(table)
    assert {name: row["still learning"].get("text") for name, row in found.items()} == {
        "flat": "no", "steep": "yes", "seen once": None,
    }  # fmt: skip
    assert found["steep"]["last quarter"]["values"][0] < -0.2
    assert found["steep"]["seeds"]["values"] == [2]
    assert table["notes"] == ["All systems were trained on as many tokens."]


def test_who_saw_other_tokens_is_named():
    score = {"study": "s", "system": "dense", "task": "xnli", "seed": 1, "mean": {"accuracy": 1.0}}
    lines = [training(name, {100: 4.0}) for name in ("a", "b")]
    table = tables(*lines, training("longer", {100: 4.0}, tokens=4096), score)["training"]
    (note,) = table["notes"]
    assert note == (
        "Not trained alike: dense (not trained), longer (4,096 tokens); all others 2,048 tokens."
    )


def test_what_was_chosen_on_dev_is_shown():
    tried = [{"learning_rate": rate, "epochs": 5, "dev": 50.0} for rate in (1e-5, 2e-5)]
    head = {"study": "s", "system": "a", "title": "a", "task": "xnli", "mean": {"accuracy": 60.0}}
    lines = [
        head | {"seed": seed, "tuning": {"learning_rate": rate, "epochs": 5, "tried": tried}}
        for seed, rate in ((1, 1e-5), (2, 2e-5))
    ]
    assert rows(tables(*lines)["tuning"])["a"]["XNLI"]["text"] == "1e-05×5, 2e-05×5"
    for line in lines:
        line["tuning"]["tried"] = tried[:1]
    assert "tuning" not in tables(*lines)
