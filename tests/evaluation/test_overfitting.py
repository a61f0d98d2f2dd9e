"""Every readout can learn a dozen examples by heart: what is trained is what is scored."""

import pytest

from polyprune.evaluation.evaluator import EvalConfig, evaluate_system
from polyprune.evaluation.finetune_config import FineTuneConfig, SearchSpace
from polyprune.evaluation.hyperparameter_search import HyperparameterSearch
from polyprune.evaluation.tasks import TASKS
from polyprune.training.run import train
from support.xtreme import xtreme_folder

EPOCHS = {"xnli": 60, "udpos": 60, "xquad": 150}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["xnli", "udpos", "xquad"])
def test_a_dozen_examples_are_learned_by_heart(name, speaking, tmp_path):
    data = str(xtreme_folder(tmp_path / "xtreme"))  # whose test examples are those of train
    setup = FineTuneConfig(str(speaking), TASKS[name], data)
    tuning = HyperparameterSearch(
        setup, SearchSpace((3e-3,), (EPOCHS[name],), batch=4), tmp_path / "tuned"
    )
    examples = tuning.encode()
    for setting in tuning.pending():
        run, folder = tuning.run(setting, examples)
        for _ in train(run, folder, material=tuning.material):
            pass
        tuning.conclude(setting)
    found = evaluate_system(str(tuning.out), TASKS[name], EvalConfig(data, languages=("en",)))
    assert next(iter(found.mean.values())) > 95
