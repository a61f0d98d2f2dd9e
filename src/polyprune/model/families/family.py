"""A family of encoders in transformers: what it calls the pieces of our encoder.

A family is a row of this table, not a class. `{i}` stands for the layer; queries, keys and values
are three modules there and one (`attention.project`) here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

Names = Mapping[str, str | tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Family:
    """What a transformers model type calls things, and how it is wired."""

    model_type: str
    example: str
    """A model that people know, for `polyprune ls families`."""
    prefix: str
    """What the encoder is called inside a model with a readout."""
    encoder: Names
    readouts: Mapping[str, Names]
    """By the name of the readout."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Config fields that go by another name than BERT's."""
    constants: Mapping[str, int | float] = field(default_factory=dict)
    """Config fields that the family does not have, and what they are there."""
    attention: str = "softmax"
    feed_forward: str = "mlp"
    """Which sublayers its layers have, by the names in `ATTENTIONS` and `FEED_FORWARDS`."""
    pre_norm: bool = False
    padded_positions: bool = True
    masked_lm_act: str | None = "gelu"
    """The activation of the masked-LM readout; None where it is the encoder's."""
    sentence_act: str = "tanh"
    sentence_dropout_first: bool = True
    dropouts: Mapping[str, str] = field(
        default_factory=lambda: {
            "sentence-classification": "classifier_dropout",
            "token-classification": "classifier_dropout",
        }
    )
    """The config field of each readout's dropout; None there means the encoder's, no field none."""
    attention_output_dropout: bool = True
    feed_forward_output_dropout: bool = True
    has_pooler: bool = True

    def their_names(self, ours: str, readout: str) -> tuple[str, ...]:
        """What the parameter `ours` is called there, without prefix: one name, or q, k and v."""
        layer = re.match(r"encoder\.layers\.(\d+)\.", ours)
        if ours.startswith("encoder."):
            general = re.sub(r"^encoder\.(layers\.\d+\.)?", "layer." if layer else "", ours)
        else:
            general = "readout." + ours.partition(".")[2]
        module, _, parameter = general.rpartition(".")
        names = {**self.encoder, **self.readouts[readout]}
        if general in names:  # a parameter with a name of its own, such as a bias
            return (str(names[general]),)
        theirs = names[module]
        theirs = (theirs,) if isinstance(theirs, str) else theirs
        return tuple(f"{name}.{parameter}".format(i=layer and layer[1]) for name in theirs)


BERT_EMBEDDING = {
    "embedding.words": "embeddings.word_embeddings",
    "embedding.positions": "embeddings.position_embeddings",
    "embedding.types": "embeddings.token_type_embeddings",
    "embedding.norm": "embeddings.LayerNorm",
}
BERT_LAYER = {
    "layer.attention.project": (
        "encoder.layer.{i}.attention.self.query",
        "encoder.layer.{i}.attention.self.key",
        "encoder.layer.{i}.attention.self.value",
    ),
    "layer.attention.output": "encoder.layer.{i}.attention.output.dense",
    "layer.attention_norm": "encoder.layer.{i}.attention.output.LayerNorm",
    "layer.feed_forward.expand": "encoder.layer.{i}.intermediate.dense",
    "layer.feed_forward.contract": "encoder.layer.{i}.output.dense",
    "layer.feed_forward_norm": "encoder.layer.{i}.output.LayerNorm",
}
BERT_ENCODER = {**BERT_EMBEDDING, **BERT_LAYER}

LABELS: dict[str, Names] = {
    "token-classification": {"readout.output": "classifier"},
    "span": {"readout.output": "qa_outputs"},
    "hidden-states": {"readout.dense": "pooler.dense"},
}
