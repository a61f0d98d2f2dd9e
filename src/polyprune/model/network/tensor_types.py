"""The shapes in signatures: jaxtyping's names, or plain tensors where jaxtyping is not installed.

A saved model travels with the source of its own classes (`modeling_polyprune.py` and what it
imports from beside it). Whoever loads it with `trust_remote_code=True` needs torch and
transformers, nothing else.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    try:  # inside `try`, or transformers would demand the package of whoever loads the model
        from jaxtyping import Bool, Float, Int
    except ImportError:
        raise
else:
    try:
        from jaxtyping import Bool, Float, Int
    except ImportError:

        class Float:
            """`Float[Tensor, "batch seq"]` is then just `Tensor`."""

            def __class_getitem__(cls, item):
                return item[0]

        Bool = Int = Float

__all__ = ["Bool", "Float", "Int"]
