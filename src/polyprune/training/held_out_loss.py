"""The loss of each language on text that the model was not trained on."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor

from ..corpora.corpus import open_corpus
from ..corpora.example import Example
from ..corpora.packing import Packing, pack_once
from ..corpora.stream import StreamConfig
from ..corpora.text_sources import TextFile
from .lazy_outputs import LazyOutputs
from .objectives import Objective
from .step_batches import Collator

LOOKS_AT = {
    "embeddings": "embeddings",
    "similarities": "embeddings",
    "outputs": "outputs",
    "hidden": "hidden",
    "cosine": "hidden",
}
"""What of a teacher's outputs losses look at, where that is worth keeping."""

HeldOutBatches = dict[str, list[tuple[dict[str, Tensor], int]]]
"""The micro-batches of each language, each with the number of its examples that count."""


def held_out_examples(
    folder: Path, tokenizer: Any, stream_config: StreamConfig
) -> dict[str, list[Example]]:
    """Yield the text of a folder as examples, every line once."""
    packing = Packing(
        deepcopy(tokenizer), stream_config.block, stream_config.unit, stream_config.prefix
    )
    found: dict[str, list[Example]] = {}
    files = open_corpus(folder).files if any(folder.glob("*.txt")) else {}
    for code, path in files.items():
        examples = enumerate(pack_once(TextFile(path), code, packing))
        found[code] = [Example(number, code, *tokens) for number, tokens in examples]
    return found


def held_out_micro_batches(
    examples: Mapping[str, Sequence[Example]],
    collator: Collator,
    process: int = 0,
    processes: int = 1,
) -> HeldOutBatches:
    """Return one process's held-out micro-batches; every process gets the same number of them."""
    batches = {}
    for code, own in examples.items():
        wanted = -(-len(own) // (processes * collator.micro_batch_size))
        made = [
            (batch, len(batch["input_ids"]))
            for batch in collator.micro_batches(own[process::processes])
        ]
        # Who has fewer examples than others goes along without counting.
        idle = [(collator.batch(own[:1]), 0)] * (wanted - len(made))
        batches[code] = made + idle
    return batches


@torch.no_grad()
def add_teacher(batches: HeldOutBatches, teacher: Any, objective: Objective) -> HeldOutBatches:
    """Return held-out batches that carry what the teacher says of them, which never changes."""
    needed = {LOOKS_AT[name] for name in held_out_weights(objective) if name in LOOKS_AT}

    def seen(batch: dict[str, Tensor]) -> dict[str, Tensor]:
        own = {name: tensor.to(teacher.device) for name, tensor in batch.items()}
        found = LazyOutputs(teacher, own, None, teacher.source.pooling)
        return {f"teacher_{name}": getattr(found, name).cpu() for name in sorted(needed)}

    return {
        code: [(batch | seen(batch), count) for batch, count in own]
        for code, own in batches.items()
    }


@torch.no_grad()
def held_out_losses(
    system: Any, batches: HeldOutBatches, accelerator: Accelerator, density: float = 1.0
) -> dict[str, float]:
    """Return each language's held-out loss: on masked words, or else the whole objective."""
    measured = held_out_weights(accelerator.unwrap_model(system).objective)
    training, losses = system.training, {}
    system.eval()
    for code, own in batches.items():
        sums = torch.zeros(2, device=accelerator.device)
        for batch, count in own:
            batch = {name: tensor.to(accelerator.device) for name, tensor in batch.items()}
            found = system(batch, density, only=tuple(measured))
            loss = sum(weight * found[name] for name, weight in measured.items())
            sums += torch.stack([torch.as_tensor(count * loss), torch.tensor(float(count))]).to(
                sums
            )
        total, count = accelerator.reduce(sums, "sum").tolist()  # pyright: ignore[reportAttributeAccessIssue]
        if count:
            losses[code] = total / count
    system.train(training)
    return losses


def held_out_weights(objective: Objective) -> dict[str, float]:
    """Return the losses that held-out text is measured by, with their weights."""
    if objective.mlm:
        return {"mlm": 1.0}
    # There are no translations of held-out text.
    own = {name: weight for name, weight in objective.active.items() if name != "translations"}
    return own or {"embeddings": 1.0}
