"""Proof that a shrunk model computes what the gated one did, language by language."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..network.components import Gates
from ..network.gated_model import PolyprunePreTrainedModel
from ..network.shape import EncoderShape

Probe = Mapping[str, Tensor]
"""What a tokenizer returns: `input_ids`, `attention_mask`, perhaps `token_type_ids`."""

RANDOM_TOKENS = "random tokens"
"""The name of the probe of a model that cannot read text."""


def certify(
    model: PolyprunePreTrainedModel,
    gates: Gates,
    small: PreTrainedModel,
    probes: Mapping[str, Probe],
) -> dict[str, float]:
    """The largest |gated − shrunk| output on the probe of each language."""
    modes = {model: model.training, small: small.training}
    for each in modes:
        each.eval()
    try:
        return {name: _difference(model, gates, small, probe) for name, probe in probes.items()}
    finally:
        for each, training in modes.items():
            each.train(training)


@torch.inference_mode()
def _difference(
    model: PolyprunePreTrainedModel, gates: Gates, small: PreTrainedModel, probe: Probe
) -> float:
    pairs = zip(model(**probe, gates=gates).to_tuple(), small(**probe).to_tuple(), strict=True)
    return max(float((a.float() - b.float()).abs().max()) for a, b in pairs)


def random_probe(shape: EncoderShape, examples: int = 4, tokens: int = 16) -> Probe:
    """Random token ids, for a model whose tokenizer is not there; always the same ones."""
    generator = torch.Generator().manual_seed(0)
    tokens = min(tokens, shape.positions - 2)
    ids = torch.randint(
        min(5, shape.vocab_size - 1), shape.vocab_size, (examples, tokens), generator=generator
    )
    mask = torch.ones_like(ids)
    mask[-1, tokens // 2 :] = 0
    return {"input_ids": ids, "attention_mask": mask}


def text_probes(
    tokenizer: PreTrainedTokenizerBase, texts: Mapping[str, Sequence[str]], shape: EncoderShape
) -> dict[str, Probe]:
    """The tokenized texts of each language, as far as they fit the model."""
    wanted = ("input_ids", "attention_mask", "token_type_ids")
    longest = min(64, shape.positions - 2)
    probes = {}
    for language, lines in texts.items():
        lines = list(lines) if tokenizer.pad_token else [lines[0]]
        batch = tokenizer(
            lines, padding=len(lines) > 1, truncation=True, max_length=longest, return_tensors="pt"
        )
        probe = {name: batch[name] for name in wanted if name in batch}
        if shape.token_types == 0:
            probe.pop("token_type_ids", None)
        if probe["input_ids"].max() < shape.vocab_size:
            probes[language] = probe
    return probes
