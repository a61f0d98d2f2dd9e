"""A real masked LM to try the paper on: the trunk of e5-small with fewer words and a new readout.

    python benchmarks/masked_lm.py make CORPUS --out runs/e5-words
    polyprune train configs/real/masked-lm.toml --set corpus.source=CORPUS --out runs/masked-lm
    python benchmarks/masked_lm.py tasks XTREME --out runs/tasks
    polyprune study configs/real/study.toml --set corpus=CORPUS --out runs/study

`make` keeps the pieces of e5-small that the text needs most: language by language the commonest
ones, up to the same share of each language's tokens, and every single character of the text. What a
lost piece stood for is spelled with smaller ones. Encoder and rows of the word table are copied, so
hidden states are those of e5-small wherever no piece was lost. Of the readout, only the bias knows
something at first: how often each piece occurs. `tasks` carves small sets out of real files, in the
same languages.
"""

import argparse
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModel, AutoTokenizer, BertConfig, BertForMaskedLM
from xtreme import carve

from polyprune.parts import atomic_folder, find

LANGUAGES = ("ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")  # fmt: skip  # noqa: E501
BLANK = "▁"
LINEAR = 3.0
"""Where gelu(x) is as good as x."""


def lines(corpus: Path, code: str, held_out: bool = False) -> list[str]:
    path = corpus / f"{code}{'.dev' if held_out else ''}.txt"
    return path.read_text(encoding="utf-8").splitlines()


def pieces_of(tokenizer: Any, texts: list[str]) -> Iterator[list[int]]:
    for start in range(0, len(texts), 2048):
        some = texts[start : start + 2048]
        yield from tokenizer(some, add_special_tokens=False, verbose=False)["input_ids"]


def count(tokenizer: Any, texts: list[str]) -> Counter[int]:
    """How often each piece occurs."""
    counts: Counter[int] = Counter()
    for ids in pieces_of(tokenizer, texts):
        counts.update(ids)
    return counts


def most_needed(counts: Sequence[Counter[int]], always: set[int], most: int) -> list[int]:
    """The pieces that cover the same share of every language's tokens, in the order of their ids.

    A piece is needed the more, the smaller the share that the commoner pieces of a language cover.
    """
    covered: dict[int, float] = {}
    for counter in counts:
        common = counter.most_common()
        before = accumulate((n for _, n in common), initial=0)
        for (piece, _), n in zip(common, before, strict=False):
            covered[piece] = min(n / counter.total(), covered.get(piece, 1.0))
    others = sorted(covered.keys() - always, key=lambda piece: (covered[piece], piece))
    return sorted([*always, *others[: max(0, most - len(always))]])


def cut_tokenizer(tokenizer: Any, kept: Sequence[int]) -> str:
    """The text of a `tokenizer.json` with these pieces only, and their scores."""
    settings = json.loads(tokenizer.backend_tokenizer.to_str())
    vocabulary = settings["model"]["vocab"]
    settings["model"]["vocab"] = [vocabulary[piece] for piece in kept]
    for token in settings["added_tokens"]:
        token["id"] = kept.index(token["id"])
    return json.dumps(settings, ensure_ascii=False)


def readout(rows: Tensor, counts: Counter[int], kept: Sequence[int]) -> dict[str, Tensor]:
    """A readout that passes hidden states on, and expects each piece as often as it occurs."""
    width = rows.shape[1]
    scale = 1 / float(rows.norm(dim=1).mean())
    seen = torch.tensor([counts[piece] + 1.0 for piece in kept])
    prefix = "cls.predictions"
    return {
        f"{prefix}.transform.dense.weight": torch.eye(width),
        f"{prefix}.transform.dense.bias": torch.full((width,), LINEAR),
        f"{prefix}.transform.LayerNorm.weight": torch.full((width,), scale),
        f"{prefix}.transform.LayerNorm.bias": torch.zeros(width),
        f"{prefix}.bias": (seen / seen.sum()).log(),
    }


def make(corpus: Path, out: Path, most: int) -> None:
    """Write the folder that training starts from."""
    source = find("e5-small")
    tokenizer = AutoTokenizer.from_pretrained(source)
    counts = [count(tokenizer, lines(corpus, code)) for code in LANGUAGES]
    together = sum(counts, Counter())
    characters = set("".join(tokenizer.convert_ids_to_tokens(list(together))))
    single = set(tokenizer.convert_tokens_to_ids(sorted(characters)))
    kept = most_needed(counts, {*tokenizer.all_special_ids, *single}, most)

    trunk = AutoModel.from_pretrained(source, add_pooling_layer=False).eval()
    settings = trunk.config.to_diff_dict() | {
        "architectures": ["BertForMaskedLM"],
        "vocab_size": len(kept),
        "pad_token_id": kept.index(tokenizer.pad_token_id),
    }
    rows = trunk.embeddings.word_embeddings.weight.detach()[kept]
    model = BertForMaskedLM(BertConfig(**settings))
    state = {f"bert.{name}": tensor for name, tensor in trunk.state_dict().items()}
    state["bert.embeddings.word_embeddings.weight"] = rows
    missing, unexpected = model.load_state_dict({**state, **readout(rows, together, kept)}, False)
    assert not unexpected, unexpected
    assert all("decoder" in name for name in missing), missing  # which is tied
    with atomic_folder(out) as new:
        model.save_pretrained(new)
        tokenizer.save_pretrained(new)
        (new / "tokenizer.json").write_text(cut_tokenizer(tokenizer, kept), encoding="utf-8")
    compare(source, out, corpus)


@torch.inference_mode()
def compare(source: Path, cut: Path, corpus: Path) -> None:
    """Print what is the same as before, on held-out lines."""
    old, new = (AutoTokenizer.from_pretrained(folder) for folder in (source, cut))
    before, after = (AutoModel.from_pretrained(folder).eval() for folder in (source, cut))
    known = new.get_vocab()
    print(f"{len(known):,} of {len(old):,} pieces")
    print("language  tokens kept  tokens now  unknown  pieces as before  states as before")
    for code in LANGUAGES:
        texts = lines(corpus, code, held_out=True)
        was = [old.convert_ids_to_tokens(ids) for ids in pieces_of(old, texts)]
        now = [new.convert_ids_to_tokens(ids) for ids in pieces_of(new, texts)]
        whole = [i for i, row in enumerate(was) if all(piece in known for piece in row)]
        same = sum(was[i] == now[i] for i in whole)
        tokens = sum(map(len, was))
        some = [texts[i] for i in whole[:16]]
        states = [
            model(**tokenizer(some, padding=True, return_tensors="pt")).last_hidden_state
            for tokenizer, model in ((old, before), (new, after))
        ]
        kept = sum(piece in known for row in was for piece in row)
        unknown = sum(row.count("<unk>") for row in now)
        apart = (states[0] - states[1]).abs().max()
        print(
            f"{code:8}  {kept / tokens:11.1%}  {sum(map(len, now)) / tokens:10.3f}  {unknown:7}"
            f"  {same:8} of {len(whole):4}  {apart:16.1e}"
        )


def tasks(data: Path, out: Path) -> None:
    """Write the small sets of `xtreme.py`, of four tasks in our languages."""
    with tempfile.TemporaryDirectory() as carved, atomic_folder(out) as new:
        carve(data, Path(carved))
        for task in ("udpos", "panx", "xnli", "tatoeba"):
            (new / task).mkdir()
            for path in sorted((Path(carved) / task).iterdir()):
                # test-sw.tsv, sw-en.sw
                first, _, second = path.stem.partition("-")
                if (first if task == "tatoeba" else second) in LANGUAGES:
                    shutil.copyfile(path, new / task / path.name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["make", "tasks"])
    parser.add_argument("folder", type=Path, help="of text (<lang>.txt, <lang>.dev.txt) or tasks")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pieces", type=int, default=32_000)
    chosen = parser.parse_args()
    if chosen.what == "make":
        make(chosen.folder, chosen.out, chosen.pieces)
    else:
        tasks(chosen.folder, chosen.out)


if __name__ == "__main__":
    main()
