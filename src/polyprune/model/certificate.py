"""Proof that a shrunk model computes what the gated one did, language by language."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from .components import Gates
from .modeling_polyprune import PolyprunePreTrainedModel
from .shape import EncoderShape

Probe = Mapping[str, Tensor]
"""What a tokenizer returns: `input_ids`, `attention_mask`, perhaps `token_type_ids`."""


def certify(
    model: PolyprunePreTrainedModel,
    gates: Gates,
    small: PolyprunePreTrainedModel,
    probes: Mapping[str, Probe],
) -> dict[str, float]:
    """The largest |gated − shrunk| output on the probe of each language."""
    return {language: _difference(model, gates, small, probe) for language, probe in probes.items()}


@torch.inference_mode()
def _difference(
    model: PolyprunePreTrainedModel, gates: Gates, small: PolyprunePreTrainedModel, probe: Probe
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
    tokenizer, texts: Mapping[str, Sequence[str]], tokens: int = 64
) -> dict[str, Probe]:
    """The tokenized texts of each language."""
    wanted = ("input_ids", "attention_mask", "token_type_ids")
    probes = {}
    for language, lines in texts.items():
        batch = tokenizer(
            list(lines), padding=True, truncation=True, max_length=tokens, return_tensors="pt"
        )
        probes[language] = {name: batch[name] for name in wanted if name in batch}
    return probes
