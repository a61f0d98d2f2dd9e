"""Recovery: train a pruned model with the model it was pruned from as its teacher."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..corpora.text import open_text
from ..errors import ConfigError
from ..loading.hub import longest_input
from ..model.history import CARD
from ..model.network.folder import update_checksum
from ..provenance.card import describe
from ..provenance.card_facts import differences_of
from ..pruning.gates.elastic import load
from ..storage import atomic_folder
from .objectives import Objective
from .phases import Phase
from .run_config import BatchConfig, CorpusConfig, Run, SavingConfig, StartConfig, TeacherConfig
from .run_paths import RunPaths
from .teacher_targets import MOST

BYTES_PER_LINE = 150
"""A rough average, to estimate how many times the text will be read."""


def plan_recovery(
    pruned: Path, original: str, text: CorpusConfig, steps: int, batch: int = 64, seed: int = 0
) -> Run:
    """Return the config of a recovery run that suits the pruned model's readout."""
    model = load(pruned, verify=False)
    readout = model.readout_kind
    text = replace(text, block=min(text.block, longest_input(model)))
    objective = Objective(mlm=1.0)
    if readout == "hidden-states":
        objective = Objective(embeddings=1.0, translations=1.0 if text.parallel else 0.0)
    elif readout != "masked-lm":
        objective = Objective(outputs=1.0)
    sources = open_text(text.source, text.languages, text.parallel, text.damaged)
    lines = sum(source.size for source in sources.values()) // BYTES_PER_LINE
    # Without a cache the teacher embeds every line, and every translation, each time.
    again = 2 * steps * batch > lines and lines < MOST // 2
    return Run(
        phases=(
            Phase(
                steps=steps,
                train="weights",
                name="recovery",
                learning_rate=3e-4 if readout == "hidden-states" else 2e-4,
                # A sentence encoder's 250,000 words take most of a step and learn little in it.
                words=readout != "hidden-states",
                warmup=steps // 10,
            ),
        ),
        # The teacher's embeddings are what they are: noise would only blur them.
        model=StartConfig(
            start=str(pruned), dropout=0.0 if objective.compares_embeddings else None
        ),
        corpus=text,
        objective=objective,
        teacher=TeacherConfig(start=original, cache=objective.compares_embeddings and again),
        batch=BatchConfig(size=batch, micro_batch_size=min(batch, 32)),
        seed=seed,
        saving=SavingConfig(
            every=max(20, steps // 10), held_out_every=max(20, steps // 10), keep=1
        ),
    )


def recovery_folder(out: Path) -> Path:
    """Return the folder of a recovery run: beside the final model folder."""
    return out.with_name(f"{out.name}.recovery")


def install_recovered(out: Path, force: bool = False) -> dict[str, Any]:
    """Move the recovered model and its training log into place; return its last losses."""
    work = recovery_folder(out)
    places = RunPaths(work / "run")
    lines = places.log.read_text(encoding="utf-8").splitlines()
    if not lines:
        raise ConfigError(f"{work} holds no training. Delete it and run again.")
    with atomic_folder(out, force=force) as new:
        shutil.copytree(places.model, new, dirs_exist_ok=True)
        shutil.copyfile(places.log, new / "training.jsonl")
        describe(new, differences_of(new))(new)  # by the name that it has from now on
        update_checksum(new, CARD)
    places.clear()
    shutil.rmtree(work / "pruned")
    places.out.rmdir()
    work.rmdir()
    return json.loads(lines[-1])
