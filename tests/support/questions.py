"""Questions, tokenizers of two families that can read them, and tokens counted by hand."""

import numpy as np
import pytest
import transformers
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from polyprune.evaluation.examples import Answer, Question
from polyprune.evaluation.question_answering import SpanPreprocessor
from support.paths import SHARED

LETTERS = "abcdehilmnorstuwyABLM0123456789.,()'“”" + "茶在山城红的河南。，" + "ชาแดงอยู่ในเมือง"
WORDS = ["▁the", "▁tea", "▁red", "▁in", "ing", "茶山", "红茶", "ชา", "เมือง"]
SPECIAL = {
    "bos_token": "<s>",
    "cls_token": "<s>",
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}


def real_xlmr() -> transformers.PreTrainedTokenizerFast:
    """XLM-R's own, where it is at hand."""
    path = SHARED / "data" / "xlmr-tokenizer" / "tokenizer.json"
    if not path.exists():
        pytest.skip("needs the tokenizer of XLM-R")
    return transformers.PreTrainedTokenizerFast(tokenizer_file=str(path), **SPECIAL)


def roberta_like() -> transformers.PreTrainedTokenizerFast:
    """Sentence pieces: `▁` and letters, and a few that are longer."""
    pieces = [*dict.fromkeys(SPECIAL.values()), "▁", *dict.fromkeys(LETTERS), *WORDS]
    scores = [(piece, -10.0 / len(piece)) for piece in pieces]
    tokenizer = Tokenizer(models.Unigram(scores, pieces.index("<unk>"), False))
    # One character that becomes three.
    tokenizer.normalizer = normalizers.Replace("…", "...")
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        "<s> $A </s>",
        "<s> $A </s> </s> $B </s>",
        [(token, pieces.index(token)) for token in ("<s>", "</s>")],
    )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIAL)


def bert_like() -> transformers.PreTrainedTokenizerFast:
    """Word pieces: `##` and letters, and a few that are longer."""
    letters = dict.fromkeys(LETTERS)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{x}" for x in letters), "tea"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    # Without control characters.
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 2), ("[SEP]", 3)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )


ROBERTA, BERT = roberta_like(), bert_like()
ENGLISH = "The red tea  is in the old town,\nnear the mill (not the sea)."
CHINESE = "红茶在山城，城在河南。 山在河南的山城 (1990)。"
THAI = "ชาแดงอยู่ในเมือง ในเมืองแดง"

contexts = st.text(st.sampled_from(LETTERS + "    \t\n\u202f…"), max_size=60)
small_windows = st.builds(
    SpanPreprocessor,
    longest=st.integers(14, 30),
    query=st.integers(1, 8),
    stride=st.integers(1, 12),
    best=st.integers(1, 20),
    answer=st.integers(1, 12),
    compat=st.booleans(),
)
tokenizers = st.sampled_from([ROBERTA, BERT])


def ask(context: str, answer: str = "", question: str = "the tea", at: int | None = None):
    start = context.index(answer) if at is None else at
    return Question("1", question, context, (Answer(answer, start),) if answer else ())


def oracle(encoded, seed: int = 0) -> list[np.ndarray]:
    """Logits that are highest at the labels of the windows that have any."""
    random, outputs = np.random.default_rng(seed), []
    for input_ in encoded:
        output = random.normal(size=(2, len(input_.ids)))
        if any(input_.labels):
            output[0, input_.labels[0]] += 50
            output[1, input_.labels[1]] += 50
        outputs.append(output.astype(np.float32))
    return outputs


def answer_of(windows: SpanPreprocessor, question: Question, tokenizer=ROBERTA) -> str:
    encoded = list(windows.encode([question], tokenizer, training=True))
    return windows.decode([question], encoded, oracle(encoded))["1"]


def tokens_by_hand(context: str, tokenizer) -> list[tuple[str, int, int, int]]:
    """Piece, word, first character and the one after the last of every token."""
    found, word, place = [], -1, 0
    chunks = context.translate({ord(space): "\n" for space in " \t\r\u202f"}).split("\n")
    for chunk in chunks:
        if chunk:
            word += 1
            split = tokenizer(chunk, add_special_tokens=False, return_offsets_mapping=True)
            pieces = tokenizer.convert_ids_to_tokens(split["input_ids"])
            for piece, (begin, end) in zip(pieces, split["offset_mapping"], strict=True):
                found.append((piece, word, place + begin, place + end))
        place += len(chunk) + 1
    return found
