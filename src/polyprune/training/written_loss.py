"""The held-out loss of a model as others will load it, measured again on the run's own text."""

from pathlib import Path

from accelerate import Accelerator

from ..loading.reading import fitting_tokenizer
from ..model.network.gated_model import PolyprunePreTrainedModel
from .held_out_loss import held_out_examples, held_out_losses, held_out_micro_batches
from .run_config import Run
from .run_paths import RunPaths
from .step_batches import Collator
from .text_material import stream_config
from .training_module import TrainingModule


def written_losses(
    model: PolyprunePreTrainedModel, run: Run, out: Path, sparsity: float | None = None
) -> dict[str, float]:
    """Return each language's loss on the text that the run in `out` held out.

    Of an elastic model, it is that of the language's own model, taken out of it.
    """
    tokenizer = fitting_tokenizer(model, strict=True)
    lines = stream_config(run, model.source.folder, 1)
    examples = held_out_examples(RunPaths(out).held_out, tokenizer, lines)
    collator = Collator(tokenizer, run.batch.micro_batch_size, run.objective.masked, run.seed)
    losses = {}
    for code, own in held_out_micro_batches(examples, collator).items():
        small = model if model.elastic is None else model.at(sparsity, code)
        system = TrainingModule(small, run.objective)
        losses |= held_out_losses(system, {code: own}, Accelerator())
    return losses
