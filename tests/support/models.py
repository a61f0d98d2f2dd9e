"""Tiny models of every family, and inputs for them."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch
import transformers
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from polyprune.model.families import FAMILIES

AUTO = {
    "hidden-states": "AutoModel",
    "masked-lm": "AutoModelForMaskedLM",
    "sentence-classification": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
    "span": "AutoModelForQuestionAnswering",
}


def tiny_config(family: str, **changes) -> transformers.PreTrainedConfig:
    """Two layers of width 24, four heads, in any family."""
    names = {
        "vocab_size": 60,
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 34,
        "initializer_range": 0.3,
        "pad_token_id": 0 if family in ("bert", "distilbert") else 1,
        **({"hidden_dim": 40} if family == "distilbert" else {"intermediate_size": 40}),
        **({} if family == "distilbert" else {"type_vocab_size": 2}),
    }
    return transformers.AutoConfig.for_model(family, **(names | changes))


def tiny_model(family: str, readout: str = "masked-lm", **changes) -> transformers.PreTrainedModel:
    """A random transformers model, its norms and biases random too."""
    torch.manual_seed(0)
    labels = {"sentence-classification": 3, "token-classification": 5}
    if readout in labels:
        changes["num_labels"] = labels[readout]
    model = getattr(transformers, AUTO[readout]).from_config(tiny_config(family, **changes))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter += 0.2 * torch.randn_like(parameter)
    return model.eval()


def batch(family: str, examples: int = 3, tokens: int = 9) -> dict[str, torch.Tensor]:
    """Random tokens with padding, and token types where the family has them."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(4, 60, (examples, tokens), generator=generator)
    padding = 1 if FAMILIES[family].padded_positions else 0
    for row in range(1, examples):
        ids[row, tokens - row :] = padding
    inputs = {"input_ids": ids, "attention_mask": ids.ne(padding).long()}
    if family != "distilbert":
        inputs["token_type_ids"] = torch.randint(0, 2, ids.shape, generator=generator)
    return inputs


def need_sentencepiece() -> None:
    reason = 'needs sentencepiece 0.2.2 or later: pip install "polyprune[e5]"'
    pytest.importorskip("sentencepiece", minversion="0.2.2", reason=reason)


LETTERS = "abdefghiklmnoprstuwyz" + "абвдеиклмнопрстуьыя" + "कतनपमरलसहािीेंै"


def dense_model(folder: Path, readout: str = "masked-lm") -> Path:
    """The folder of a tiny transformers model."""
    return _write(folder, *_dense(readout))


def speaking_model(folder: Path, readout: str = "masked-lm") -> Path:
    """The folder of a tiny model with a tokenizer: a token a letter, as far as the words go."""
    return _write(folder, *_speaking(readout))


def _write(folder: Path, files: dict[str, bytes], chance: torch.Tensor) -> Path:
    """Write a folder that was made before, and leave chance as making it does."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    torch.set_rng_state(chance)
    return folder


def _made(save: Callable[[Path], None]) -> tuple[dict[str, bytes], torch.Tensor]:
    with TemporaryDirectory() as folder:
        save(Path(folder))
        files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    return files, torch.get_rng_state()


@cache
def _dense(readout: str) -> tuple[dict[str, bytes], torch.Tensor]:
    return _made(lambda folder: tiny_model("xlm-roberta", readout).save_pretrained(folder))


@cache
def _speaking(readout: str) -> tuple[dict[str, bytes], torch.Tensor]:
    return _made(lambda folder: _save_speaking(folder, readout))


def _save_speaking(folder: Path, readout: str) -> None:
    tiny_model("xlm-roberta", readout).save_pretrained(folder)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    vocabulary = {token: i for i, token in enumerate([*special, *LETTERS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    letters = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), letters])
    ends = [(token, vocabulary[token]) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", "<s> $A </s> </s> $B </s>", special_tokens=ends
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        sep_token="</s>",
        unk_token="<unk>",
        mask_token="<mask>",
    ).save_pretrained(folder)
