"""`polyprune shrink`: cut a model to what its gates keep."""

from typing import TYPE_CHECKING

import polyprune

from ..api.requests.shrink import ShrinkRequest
from .command import ModelName, command

if TYPE_CHECKING:
    from ..api.shrink import ShrinkResult


@command(ShrinkRequest)
def shrink(model: ModelName, request: ShrinkRequest) -> "ShrinkResult":
    """Cut a model to what its gates keep, and write a folder that from_pretrained() loads.

    Example: polyprune shrink e5-small --layers 0,2,4,6,8,10 --out six-layers
    """
    return polyprune.shrink(model, request)
