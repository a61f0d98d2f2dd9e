"""Make a small random XLM-R, prune it unevenly, save it, load it again.

Random weights say nothing about quality. What this shows is that the cut model is an ordinary
Hugging Face folder, and that it computes what the gated model computed, in every language.
"""

import json
import tempfile
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
    logging,
)

import polyprune as pp
from polyprune.corpora.probes import probe_texts
from polyprune.pruning.cut import cut

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A unigram tokenizer of the probe sentences."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=1000, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
    )
    texts = [text for texts in probe_texts().values() for text in texts]
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = ("bos_token", "pad_token", "eos_token", "unk_token", "mask_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **dict(zip(names, SPECIAL, strict=True))
    )


def make_model(folder: Path) -> None:
    """Six layers of 192 with random weights, and its tokenizer."""
    tokenizer = make_tokenizer()
    config = XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=192,
        num_hidden_layers=6,
        num_attention_heads=6,
        intermediate_size=768,
        max_position_embeddings=130,
        type_vocab_size=1,
        initializer_range=0.1,
    )
    XLMRobertaForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def half_open(shape: pp.EncoderShape) -> pp.Gates:
    """Random gates: about half of everything, one layer without heads, one without units."""
    gates = pp.open_gates(shape).map(lambda gate: (torch.rand_like(gate) < 0.5).float())
    gates.heads[2].zero_()
    gates.units[4].zero_()
    return gates


def main() -> None:
    torch.manual_seed(0)
    logging.disable_progress_bar()
    show = Console(highlight=False).print
    with tempfile.TemporaryDirectory() as temporary:
        dense, small = Path(temporary) / "dense", Path(temporary) / "small"
        make_model(dense)
        model = pp.load(dense)
        cut(model, half_open(model.shape), small)

        again = AutoModelForMaskedLM.from_pretrained(small)  # plain transformers from here on
        text = AutoTokenizer.from_pretrained(small)("Mto ni mpana.", return_tensors="pt")
        again(**text)
        show(f"dense   {model.num_parameters():>9,} parameters  {model.shape.heads} heads")
        show(f"pruned  {again.num_parameters():>9,} parameters  {again.shape.heads} heads")
        show(f"        reloaded as {type(again).__name__} by AutoModelForMaskedLM\n")

        certificate = json.loads((small / "certificate.json").read_text())
        table = Table("language", "largest |gated − pruned|", title="certificate.json", box=None)
        for language, difference in certificate["differences"].items():
            table.add_row(language, f"{difference:.1e}")
        show(table)
        show(f"\n{len(certificate['sha256'])} files with their SHA-256, for example")
        show(f"  model.safetensors  {certificate['sha256']['model.safetensors'][:32]}…")


if __name__ == "__main__":
    main()
