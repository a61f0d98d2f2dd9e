"""RoBERTa and what has its architecture; XLM-R XL normalizes before each sublayer."""

from dataclasses import replace

from .family import BERT_ENCODER, LABELS, Family, Names

_READOUTS: dict[str, Names] = {
    "masked-lm": {
        "readout.dense": "lm_head.dense",
        "readout.norm": "lm_head.layer_norm",
        "readout.bias": "lm_head.bias",
    },
    "sentence-classification": {
        "readout.dense": "classifier.dense",
        "readout.output": "classifier.out_proj",
    },
    **LABELS,
}

XLM_ROBERTA = Family(
    model_type="xlm-roberta",
    example="xlm-roberta-base",
    prefix="roberta",
    encoder=BERT_ENCODER,
    readouts=_READOUTS,
)

ROBERTA = replace(XLM_ROBERTA, model_type="roberta", example="roberta-base")

CAMEMBERT = replace(XLM_ROBERTA, model_type="camembert", example="camembert-base")

XLM_ROBERTA_XL = replace(
    XLM_ROBERTA,
    model_type="xlm-roberta-xl",
    example="facebook/xlm-roberta-xl",
    encoder={
        **BERT_ENCODER,
        "layer.attention_norm": "encoder.layer.{i}.attention.self_attn_layer_norm",
        "layer.feed_forward_norm": "encoder.layer.{i}.LayerNorm",
        "norm": "encoder.LayerNorm",
    },
    pre_norm=True,
    feed_forward_output_dropout=False,
)
