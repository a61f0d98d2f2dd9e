"""The encoder families of transformers: what each calls the pieces of our encoder.

A family is a row of this table, not a class. `{i}` stands for the layer; queries, keys and values
are three modules there and one (`attention.project`) here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .network.readouts import Readout

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
    readouts: Mapping[Readout, Names]
    fields: Mapping[str, str] = field(default_factory=dict)
    """Config fields that go by another name than BERT's."""
    constants: Mapping[str, int | float] = field(default_factory=dict)
    """Config fields that the family does not have, and what they are there."""
    pre_norm: bool = False
    padded_positions: bool = True
    masked_lm_act: str | None = "gelu"
    """The activation of the masked-LM readout; None where it is the encoder's."""
    sentence_act: str = "tanh"
    sentence_dropout_first: bool = True
    dropouts: Mapping[Readout, str] = field(
        default_factory=lambda: {
            "sentence-classification": "classifier_dropout",
            "token-classification": "classifier_dropout",
        }
    )
    """The config field of each readout's dropout; None there means the encoder's, no field none."""
    attention_output_dropout: bool = True
    feed_forward_output_dropout: bool = True
    has_pooler: bool = True

    def their_names(self, ours: str, readout: Readout) -> tuple[str, ...]:
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


_BERT_EMBEDDING = {
    "embedding.words": "embeddings.word_embeddings",
    "embedding.positions": "embeddings.position_embeddings",
    "embedding.types": "embeddings.token_type_embeddings",
    "embedding.norm": "embeddings.LayerNorm",
}
_BERT_LAYER = {
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
_ENCODER = {**_BERT_EMBEDDING, **_BERT_LAYER}

_LABELS: dict[Readout, Names] = {
    "token-classification": {"readout.output": "classifier"},
    "span": {"readout.output": "qa_outputs"},
    "hidden-states": {"readout.dense": "pooler.dense"},
}
_ROBERTA_READOUTS: dict[Readout, Names] = {
    "masked-lm": {
        "readout.dense": "lm_head.dense",
        "readout.norm": "lm_head.layer_norm",
        "readout.bias": "lm_head.bias",
    },
    "sentence-classification": {
        "readout.dense": "classifier.dense",
        "readout.output": "classifier.out_proj",
    },
    **_LABELS,
}

_ALL = (
    Family(
        model_type="xlm-roberta",
        example="xlm-roberta-base",
        prefix="roberta",
        encoder=_ENCODER,
        readouts=_ROBERTA_READOUTS,
    ),
    Family(
        model_type="roberta",
        example="roberta-base",
        prefix="roberta",
        encoder=_ENCODER,
        readouts=_ROBERTA_READOUTS,
    ),
    Family(
        model_type="camembert",
        example="camembert-base",
        prefix="roberta",
        encoder=_ENCODER,
        readouts=_ROBERTA_READOUTS,
    ),
    Family(
        model_type="bert",
        example="bert-base-multilingual-cased",
        prefix="bert",
        encoder=_ENCODER,
        readouts={
            "masked-lm": {
                "readout.dense": "cls.predictions.transform.dense",
                "readout.norm": "cls.predictions.transform.LayerNorm",
                "readout.bias": "cls.predictions.bias",
            },
            "sentence-classification": {
                "readout.dense": "pooler.dense",
                "readout.output": "classifier",
            },
            **_LABELS,
        },
        padded_positions=False,
        masked_lm_act=None,
        sentence_dropout_first=False,
    ),
    Family(
        model_type="distilbert",
        example="distilbert-base-multilingual-cased",
        prefix="distilbert",
        encoder={
            **_BERT_EMBEDDING,
            "layer.attention.project": (
                "transformer.layer.{i}.attention.q_lin",
                "transformer.layer.{i}.attention.k_lin",
                "transformer.layer.{i}.attention.v_lin",
            ),
            "layer.attention.output": "transformer.layer.{i}.attention.out_lin",
            "layer.attention_norm": "transformer.layer.{i}.sa_layer_norm",
            "layer.feed_forward.expand": "transformer.layer.{i}.ffn.lin1",
            "layer.feed_forward.contract": "transformer.layer.{i}.ffn.lin2",
            "layer.feed_forward_norm": "transformer.layer.{i}.output_layer_norm",
        },
        readouts={
            "masked-lm": {
                "readout.dense": "vocab_transform",
                "readout.norm": "vocab_layer_norm",
                "readout.bias": "vocab_projector.bias",
            },
            "sentence-classification": {
                "readout.dense": "pre_classifier",
                "readout.output": "classifier",
            },
            **_LABELS,
        },
        fields={
            "hidden_size": "dim",
            "num_attention_heads": "n_heads",
            "num_hidden_layers": "n_layers",
            "intermediate_size": "hidden_dim",
            "hidden_act": "activation",
            "hidden_dropout_prob": "dropout",
            "attention_probs_dropout_prob": "attention_dropout",
        },
        constants={"type_vocab_size": 0, "layer_norm_eps": 1e-12},
        padded_positions=False,
        masked_lm_act=None,
        sentence_act="relu",
        sentence_dropout_first=False,
        dropouts={
            "sentence-classification": "seq_classif_dropout",
            "token-classification": "dropout",
            "span": "qa_dropout",
        },
        attention_output_dropout=False,
        has_pooler=False,
    ),
    Family(
        model_type="xlm-roberta-xl",
        example="facebook/xlm-roberta-xl",
        prefix="roberta",
        encoder={
            **_ENCODER,
            "layer.attention_norm": "encoder.layer.{i}.attention.self_attn_layer_norm",
            "layer.feed_forward_norm": "encoder.layer.{i}.LayerNorm",
            "norm": "encoder.LayerNorm",
        },
        readouts=_ROBERTA_READOUTS,
        pre_norm=True,
        feed_forward_output_dropout=False,
    ),
)

FAMILIES: dict[str, Family] = {family.model_type: family for family in _ALL}
"""Every supported family by its transformers model type."""
