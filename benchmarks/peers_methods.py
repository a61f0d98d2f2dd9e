"""All methods that are compared, each in the same two parts: making a model, bringing it back."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from peers_onnx import onnx_way
from peers_others import text_pruner, torch_pruning
from peers_ready import Ready, Way, ready, ready_stock
from peers_shelf import Outside, bring, bring_stock, keep, stock_of
from peers_subjects import BATCH, ENGLISH, SENTENCES, Subject
from torch import Tensor

import polyprune as pp
from polyprune.parts import Ranker, ScoreSheet, Sparsity, load_scores, with_ranks

SIZES = (0.1, 0.3, 0.5, 0.7, 0.9)
STEPS = 40
"""Of recovery."""


def ways() -> list[Way]:
    """In the order of the table; the first is what all others are compared with."""
    nothing, some = (0.0,), (0.3, 0.5, 0.7)
    chosen = Way("polyprune, second order", SIZES, make_chosen, _bring)
    pruned = Way("polyprune", SIZES, make_pruned, _bring)
    recovered = recovery_of(pruned, SIZES)
    masked = Way("TextPruner", SIZES, make_masked, _bring)
    whole = lambda subject, _: subject.original  # noqa: E731
    return [
        Way("dense", nothing, _nothing, lambda subject, *_: ready(subject.original)),
        Way("transformers", nothing, _nothing, _bring_transformers),
        chosen,
        recovery_of(chosen, (0.5, 0.7)),
        pruned,
        recovered,
        masked,
        recovery_of(masked, (0.5, 0.7)),
        *(
            Way(f"Torch-Pruning, {by}", SIZES, partial(make_thinned, by=by), _bring_thinned)
            for by in ("magnitude", "taylor")
        ),
        Way("vocabulary", nothing, make_trimmed, bring_trimmed),
        onnx_way("ONNX", nothing, whole),
        onnx_way("ONNX int8", nothing, whole),
        onnx_way("polyprune + int8", some, partial(made_by, pruned)),
        onnx_way(
            "polyprune + recovery + int8",
            some,
            partial(made_by, recovered),
            as_fast_as="polyprune + int8",
        ),
    ]


def recovery_of(way: Way, sizes: tuple[float, ...]) -> Way:
    """The same models, each trained for a little while."""
    make = partial(make_recovered, source=way)
    return Way(f"{way.name} + recovery", sizes, make, _bring, as_fast_as=way.name)


def made_by(way: Way, subject: Subject, size: float) -> Any:
    """The model that a method made, made now if it is not there."""
    return bring(way.made(subject, size), subject.original)[0]


def sheet_of(subject: Subject) -> ScoreSheet:
    """Our scores, taken once for all sizes."""
    path = subject.work / "scores.safetensors"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        parallel = None if subject.guesses_words else ENGLISH
        pp.score(
            subject.original,
            corpus=subject.seen_text(),
            languages=[code for code in subject.lines if code != parallel],
            sentences=SENTENCES,
            parallel=parallel,
            batch_size=BATCH,
            out=path,
        )
    return load_scores(path)


def make_chosen(subject: Subject, size: float, path: Path) -> None:
    """Second order in rounds, on the lines that may be looked at: what `polyprune prune` does."""
    found = pp.prune(
        subject.original,
        corpus=subject.seen_text(),
        sparsity=size,
        batch_size=BATCH,
        progress=False,
    )
    keep(path, found.model, subject.original)


def make_pruned(subject: Subject, size: float, path: Path) -> None:
    """Gradients of gates, one ranking for all languages: what `polyprune prune --scores` does."""
    sheet = sheet_of(subject)
    base = with_ranks(subject.original, sheet.about.table)
    gates = Sparsity(size).select(base, Ranker(sheet=sheet)).gates
    keep(path, pp.shrink(base, gates), subject.original)


def make_recovered(subject: Subject, size: float, path: Path, source: Way) -> None:
    """What another method made, trained as `polyprune prune --recover` does, on the seen lines."""
    result = pp.recover(
        made_by(source, subject, size),
        teacher=subject.original,
        corpus=subject.seen_text(),
        parallel=None if subject.guesses_words else ENGLISH,
        steps=STEPS,
        batch_size=32,
        held_out=0,
        progress=False,
    )
    keep(path, result.model, subject.original, steps=STEPS)


def make_masked(subject: Subject, size: float, path: Path) -> None:
    """TextPruner's masks, cut as ours are."""
    keep(path, pp.shrink(subject.original, text_pruner(subject, size)), subject.original)


def make_thinned(subject: Subject, size: float, path: Path, by: str) -> None:
    """Torch-Pruning's layers, as they came out."""
    keep(path, torch_pruning(subject, size, by), stock_of(subject.original))


def make_trimmed(subject: Subject, size: float, path: Path) -> None:
    """Without the words that the sample never uses: the fewest that one could keep for it."""
    original = subject.original
    prefix = subject.batching.prefix
    texts = [prefix + line for lines in subject.lines.values() for line in lines]
    used = {token for ids in subject.tokenizer(texts)["input_ids"] for token in ids}
    used |= set(subject.tokenizer.all_special_ids) | {original.config.pad_token_id or 0}
    rows = torch.tensor(sorted(used))
    whole = original.shape.vocab_size
    state = {
        # The word table, and the bias that a masked LM has for every word.
        name: tensor[rows] if len(tensor) == whole else tensor
        for name, tensor in original.state_dict().items()
    }
    shape = replace(original.shape, vocab_size=len(rows))
    model = original.rebuilt(shape, state)
    keep(path, model, original, rows=rows.tolist())


def bring_trimmed(subject: Subject, size: float, path: Path) -> Ready:
    """With a table from the tokenizer's numbers to those of the rows that are left."""
    model, about = bring(path, subject.original)
    whole, rows = subject.original.shape.vocab_size, torch.tensor(about["rows"])
    # Masking puts words in by chance, of which some are gone.
    unknown = int((rows == subject.tokenizer.unk_token_id).nonzero()[0])
    numbers = torch.full((whole,), unknown)
    numbers[rows] = torch.arange(len(rows))

    def logits(ids: Tensor, mask: Tensor) -> Tensor:
        found = model(numbers[ids], mask).logits
        return found.new_full((*ids.shape, whole), -torch.inf).index_copy_(-1, rows, found)

    hidden = lambda ids, mask: model.encoder(numbers[ids], mask.bool())  # noqa: E731
    asked = Outside(subject.original, hidden, logits)
    return ready(model, asked, renumber=lambda ids: numbers[ids])


def _nothing(subject: Subject, size: float, path: Path) -> None:
    """It is there already."""


def _bring(subject: Subject, size: float, path: Path) -> Ready:
    return ready(bring(path, subject.original)[0])


def _bring_transformers(subject: Subject, size: float, path: Path) -> Ready:
    return ready_stock(stock_of(subject.original), subject)


def _bring_thinned(subject: Subject, size: float, path: Path) -> Ready:
    return ready_stock(bring_stock(path, subject.original), subject)
