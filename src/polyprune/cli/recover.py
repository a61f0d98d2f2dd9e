"""`polyprune recover`: train a pruned model on, to win back what was lost."""

from typing import TYPE_CHECKING

import polyprune

from ..api.requests.recover import RecoverRequest
from .command import ModelName, command
from .following import obeying_signals

if TYPE_CHECKING:
    from ..api.recover import RecoverResult


@command(RecoverRequest)
def recover(model: ModelName, request: RecoverRequest) -> "RecoverResult":
    """Train a pruned model on text, with the model that it was cut from as its teacher.

    A recovery that was stopped or killed goes on when the same command is given again.

    Example: polyprune recover half --teacher sprout --corpus sample --steps 20 --out new
    """
    with obeying_signals() as progress:
        return polyprune.recover(model, request, progress=progress)
