"""What workers of a study do: models by any rule, and what becomes of their memory."""

from dataclasses import replace

import torch

import polyprune as pp
from polyprune.model.history import history_of
from polyprune.model.network.components import sizes
from polyprune.pruning.criteria.criterion import NAMES, Criterion
from polyprune.studies import cell_work
from polyprune.studies.cell_work import is_small, make_model
from polyprune.studies.pool import Job
from polyprune.studies.study_cells import InputHashes, plan_cells
from polyprune.studies.study_config import Study, SystemConfig, TaskConfig, run_of
from polyprune.studies.study_files import CellFiles


class Backwards(Criterion):
    """A criterion of a user's own: the last component is the best."""

    method = "backwards"
    per = None

    def rank(self, model, gradients, weights):
        return sizes(model.shape).map(lambda n: torch.arange(n, dtype=torch.float32)[None])


def test_a_study_makes_systems_by_every_rule_and_by_ones_own(speaking, text, tmp_path):
    rules = [*NAMES, f"{__name__}:Backwards"]
    study = Study(
        model=str(speaking),
        systems=tuple(SystemConfig(rule, rule=rule, sizes=(0.5,)) for rule in rules),
        tasks=(TaskConfig("tatoeba"),),
        corpus=str(text),
    )
    runs = {system.name: _small(run_of(system, None)) for system in study.systems}
    graph = plan_cells(study, runs, InputHashes("m", "d", "c"), str(speaking))
    cells = [cell for cell in graph.cells.values() if cell.kind == "model"]
    shapes = {}
    for cell in cells:
        place = tmp_path / cell.address
        job = Job(
            cell.address, "model", cell.settings, place, (), speaking, "", payload=cell.payload
        )
        assert make_model(job, lambda: False)["steps"] == 0
        small = pp.load(CellFiles(place).model)
        shapes[cell.about["system"]] = small.shape
        (cut,) = history_of(small.config).cuts
        assert 0.4 < cut.sparsity < 0.6
    assert [*shapes] == rules
    assert len(set(shapes.values())) > 4
    own = next(cell for cell in cells if ":" in cell.about["system"])
    assert own.settings["criterion"]
    assert "criterion" not in cells[0].settings


def _small(run):
    """The run with little text; its block of 128 is more than the model reads."""
    return replace(run, gating=replace(run.gating, sentences=4))


def test_memory_is_kept_for_small_models_alone(tmp_path, monkeypatch):
    assert is_small(tmp_path)
    (tmp_path / "model-00001.safetensors").write_bytes(bytes(60))
    (tmp_path / "model-00002.safetensors").write_bytes(bytes(60))
    assert is_small(tmp_path)
    monkeypatch.setattr(cell_work, "SMALL", 100)
    assert not is_small(tmp_path)
