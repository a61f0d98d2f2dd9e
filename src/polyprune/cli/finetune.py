"""`polyprune finetune`: a model for a task, dense or pruned, on one language or on all."""

from typing import TYPE_CHECKING

import polyprune

from ..api.requests.tasks import FinetuneRequest
from ..progress import is_main_process
from .command import ModelName, command
from .following import obeying_signals

if TYPE_CHECKING:
    from ..api.finetune import FinetuneResult


@command(FinetuneRequest)
def finetune(model: ModelName, request: FinetuneRequest) -> "FinetuneResult | None":
    """Fine-tune a model for a task of XTREME or of your own, and keep what is best on dev.

    Pruned models are fine-tuned like dense ones; those with gates for every language under their
    gates, and elastic ones in all sizes at once. Stopped, it goes on with the same command.

    Example: polyprune finetune half --task xnli --data xtreme --epochs 1 --out half-xnli
    """
    with obeying_signals() as progress:
        result = polyprune.finetune(model, request, progress=progress)
    return result if is_main_process() else None
