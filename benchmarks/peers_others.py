"""What the other tools cut: Torch-Pruning's dependency graph, TextPruner's iterative masks.

Neither gives a smaller model that transformers can load again: Torch-Pruning's lives in memory
only, TextPruner's own cutting calls a method that transformers 5 has no more. Here the first is
kept and used as it came out, in transformers; of the second the masks are taken, and cut by us.
"""

import logging
import tempfile
from importlib.metadata import version
from typing import Any

import torch
from peers_shelf import stock_of
from peers_subjects import Loss, Subject

from polyprune import EncoderShape, Gates, PerComponent

ITERATIONS = 8
"""Of TextPruner: scores are taken anew after each."""
MULTIPLE = 32
"""Of units in a layer, in TextPruner's masks."""


def kept(whole: int, size: float) -> int:
    """So many of these stay at a sparsity, one at least."""
    return max(1, round(whole * (1 - size)))


def torch_pruning(subject: Subject, size: float, by: str) -> Any:
    """Transformers' model after Torch-Pruning took out heads and units, the same in every layer.

    `by` is `magnitude` (L2 norm of a group, needs no text) or `taylor` (weight × gradient).
    """
    import torch_pruning as tp

    model, shape = stock_of(subject.original), subject.original.shape
    layers = model.base_model.encoder.layer
    if by == "taylor":
        _add_gradients(model, subject)
    importance = {
        "magnitude": tp.importance.MagnitudeImportance,
        "taylor": tp.importance.TaylorImportance,
    }
    inner = [layer.attention.self for layer in layers]
    attention = [part for own in inner for part in (own.query, own.key, own.value)]
    heads, units = shape.heads[0], shape.units[0]
    cut = 1 - (kept(units, size) + 0.5) / units  # what is left is rounded down
    ids = torch.arange(5, 21)[None]
    pruner = tp.pruner.BasePruner(
        model.base_model,
        {"input_ids": ids, "attention_mask": torch.ones_like(ids)},
        importance=importance[by](),
        pruning_ratio=0.0,  # by default the residual stream would be cut too
        # Attention must be named here or its heads are not looked at; its own ratio is the other.
        pruning_ratio_dict={layer.intermediate.dense: cut for layer in layers}
        | dict.fromkeys(attention, 0.5),
        num_heads=dict.fromkeys(attention, heads),
        prune_num_heads=True,
        prune_head_dims=False,
        head_pruning_ratio=(heads - kept(heads, size) - 0.5) / heads,  # it rounds up
        output_transform=lambda output: output.last_hidden_state.sum(),
    )
    pruner.step()
    _check(layers, shape, size)
    model.zero_grad(set_to_none=True)
    return model.eval()


def _add_gradients(model: Any, subject: Subject) -> None:
    loss = Loss(model)
    for batch in subject.batches():
        loss(**batch)["loss"].backward()


def _check(layers: Any, shape: EncoderShape, size: float) -> None:
    """What came out is what was asked for; its own bookkeeping is not looked at by anybody."""
    for layer in layers:
        width = kept(shape.heads[0], size) * shape.head_width
        assert layer.attention.self.query.weight.shape == (width, shape.width)
        assert layer.attention.output.dense.weight.shape == (shape.width, width)
        assert layer.output.dense.weight.shape == (shape.width, kept(shape.units[0], size))


def text_pruner(subject: Subject, size: float) -> Gates:
    """The heads and units that TextPruner keeps, uneven from layer to layer; all of the words."""
    from textpruner import GeneralConfig, TransformerPruner, TransformerPruningConfig
    from textpruner.pruners import transformer_pruner

    logging.getLogger("textpruner").setLevel(logging.ERROR)
    transformer_pruner.tqdm = lambda batches, **_: batches  # no bars in a log
    shape = subject.original.shape
    with tempfile.TemporaryDirectory() as folder:
        config = TransformerPruningConfig(
            target_ffn_size=kept(shape.units[0], size),
            target_num_of_heads=kept(shape.heads[0], size),
            pruning_method="iterative",
            n_iters=ITERATIONS,
            ffn_even_masking=False,
            head_even_masking=False,
            multiple_of=MULTIPLE,
        )
        model = Loss(stock_of(subject.original))
        # It looks for the layers in an attribute of the model, and for the model's kind there.
        model.base = model.model.base_model
        pruner = TransformerPruner(model, config, GeneralConfig("cpu", folder), "base")
        pruner.prune(subject.batches(), keep_shape=True, save_model=False)
    assert pruner.head_mask is not None
    assert pruner.ffn_mask is not None
    return PerComponent(
        tuple(pruner.head_mask[:, None]),
        tuple(pruner.ffn_mask[:, None]),
        torch.ones(1, shape.rank),
    )


def versions() -> dict[str, str]:
    """Of the tools that are here."""
    found = {}
    for name in ("torch-pruning", "textpruner", "onnxruntime"):
        try:
            found[name] = version(name)
        except ImportError:
            found[name] = "not installed"
    return found
