"""Every system of the paper runs to its end and leaves the kind of model that it promises."""

import pytest

import polyprune as pp
from polyprune.config import read_run
from polyprune.pruning.gates.gatings import DynamicGating, FixedGating, LearnedGating
from support.paths import REPOSITORY
from support.runs import tiny_run, train

ELASTIC = {
    "grad-non-shared": FixedGating,
    "l0-non-shared": LearnedGating,
    "l0-non-shared-distil": LearnedGating,
    "grad-shared-ds": DynamicGating,
    "l0-non-shared-ds": DynamicGating,
}
SMALL = ("distilbert", "grad-shared", "l0-shared", "minilm", "dense")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*ELASTIC, *SMALL}))
def test_every_miniature_runs(name, speaking, text, tmp_path):
    tiny_run(speaking, text)  # for the held-out text
    path = REPOSITORY / "configs" / "miniature" / f"{name}.toml"
    changes = [f"corpus.source={text}", "corpus.block=24", "batch.size=4", "saving.trackers=[]"]
    if name in ("dense", "minilm"):
        shape = (
            "layers=2",
            "width=12",
            "heads=4",
            "units=20",
            "positions=40",
            f"tokenizer={speaking}",
        )
        changes += [f"model.fresh.{change}" for change in shape]
        changes += [f"teacher.start={speaking}"] if name == "minilm" else []
    else:
        changes += [f"model.start={speaking}"]
    changes += ["model.layers=1"] if name == "distilbert" else []
    reports = list(train(read_run(path, changes, steps=4), tmp_path / "run"))
    assert len(reports) == 4
    assert reports[-1].held_out
    model, dense = pp.load(tmp_path / "run" / "model"), pp.load(speaking)
    if name in ELASTIC:
        assert type(model.elastic.gating) is ELASTIC[name]
        many = "non-shared" in name
        assert model.elastic.rows == (("en", "hi", "ru", "sw") if many else ("shared",))
        every_size = {"sparsity": 0.5} if name.endswith("ds") else {}
        small = model.at(**every_size, **({"language": "sw"} if many else {}))
    else:
        assert model.elastic is None
        small = model
    if name != "l0-shared":  # whose size is anything
        assert small.num_parameters() < dense.num_parameters()
