"""BERT, and DistilBERT, which drops some of its pieces."""

from .family import BERT_EMBEDDING, BERT_ENCODER, LABELS, Family

BERT = Family(
    model_type="bert",
    example="bert-base-multilingual-cased",
    prefix="bert",
    encoder=BERT_ENCODER,
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
        **LABELS,
    },
    padded_positions=False,
    masked_lm_act=None,
    sentence_dropout_first=False,
)

DISTILBERT = Family(
    model_type="distilbert",
    example="distilbert-base-multilingual-cased",
    prefix="distilbert",
    encoder={
        **BERT_EMBEDDING,
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
        **LABELS,
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
)
