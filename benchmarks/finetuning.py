"""Fine-tuning and evaluation against transformers' own example scripts, on pairs like XNLI's.

The same weights, pairs, batches of 32, AdamW, dropout and clipping. Their scripts pad every example
to 128 tokens and give it to the Trainer; with `--padding longest`, batches to their longest, which
they can. Polyprune's batches differ in length, so a turn of training is a few of them, evenly
spaced from short ones to long ones, always the same examples. Goal: twice as fast.

    python benchmarks/finetuning.py [--model e5-small] [--data FOLDER] [--rounds 5]
"""

import argparse
import os
import tempfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from datasets import Dataset
from timing import Ratio, interleaved, record

import polyprune as pp
from polyprune import EncoderShape
from polyprune.parts import (
    TASKS,
    TOKENS_PER_BATCH,
    FineTuneConfig,
    SavingConfig,
    SentencePair,
    StepReport,
    TaskMaterial,
    Trial,
    batch_by_length,
    encode_training,
    encoder_multiply_adds,
    epoch_batches,
    finetuning_run,
    fitting_tokenizer,
    predict,
    prepare_for_task,
    train_steps,
)

XNLI = TASKS["xnli"]
BATCH, EVALUATED, SEED, RATE = 32, 192, 1, 2e-5
EPOCH = 50 * BATCH
"""Pairs that polyprune sorts by length together, where there are as many."""
PREMISE, HYPOTHESIS = (25.4, 11.6), (12.5, 4.4)
"""Tokens, mean and deviation, in XNLI's 2490 English dev pairs with e5's tokenizer; both are close
to gamma distributions. With the four tokens around them, pairs have 41.9 ± 13.0."""
NEVER = 10**9


@dataclass(frozen=True)
class Cost:
    """What batches ask of a model: tokens with and without padding, multiply–adds of a forward."""

    tokens: int
    computed: int
    multiply_adds: int

    @classmethod
    def of(cls, groups: list[np.ndarray], shape: EncoderShape, width: int | None = None) -> "Cost":
        """Batches of these lengths, padded to a width, or each to its longest."""
        sizes = [(len(group), width or int(group.max())) for group in groups]
        return cls(
            sum(int(group.sum()) for group in groups),
            sum(examples * longest for examples, longest in sizes),
            sum(examples * encoder_multiply_adds(shape, longest) for examples, longest in sizes),
        )

    @property
    def padding(self) -> float:
        return 1 - self.tokens / self.computed


@dataclass(frozen=True)
class Both:
    """One model as both libraries have it."""

    options: argparse.Namespace
    work: Path
    ours: Any
    theirs: transformers.PreTrainedModel
    tokenizer: Any

    @property
    def preprocessing(self) -> Any:
        return XNLI.kind.fitted(self.ours)

    @property
    def width(self) -> int | None:
        """What they pad to; None if to the longest of a batch."""
        return None if self.options.padding == "longest" else self.preprocessing.longest

    def encode(self, pairs: Sequence[SentencePair]) -> tuple[list, np.ndarray]:
        """Inputs and their lengths."""
        encoded = list(self.preprocessing.encode(pairs, self.tokenizer))
        return encoded, np.array([len(each.ids) for each in encoded])

    def their_cost(self, lengths: np.ndarray) -> Cost:
        """Of batches in the order of the data, which is random."""
        groups = [lengths[i : i + BATCH] for i in range(0, len(lengths), BATCH)]
        return Cost.of(groups, self.ours.shape, self.width)

    def rows(self, pairs: Sequence[SentencePair]) -> Dataset:
        """What their scripts make of pairs."""
        encoded = self.tokenizer(
            [pair.first for pair in pairs],
            [pair.second for pair in pairs],
            padding="max_length" if self.width else False,
            max_length=self.preprocessing.longest,
            truncation=True,
        )
        labels = [XNLI.labels.index(pair.label or "") for pair in pairs]
        return Dataset.from_dict(dict(encoded) | {"labels": labels})

    def trainer(self, rows: Dataset) -> transformers.Trainer:
        arguments = transformers.TrainingArguments(
            str(self.work / "trainer"),
            per_device_train_batch_size=BATCH,
            per_device_eval_batch_size=BATCH,  # 8 is what they have, unless told
            learning_rate=RATE,
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
        )
        collator = None if self.width else transformers.DataCollatorWithPadding(self.tokenizer)
        return transformers.Trainer(self.theirs, arguments, collator, train_dataset=rows)


def make_both(options: argparse.Namespace, work: Path) -> Both:
    prepare_for_task(options.model, XNLI, None, work / "start", SEED)
    ours = pp.load(work / "start")
    return Both(options, work, ours, pp.to_transformers(ours), fitting_tokenizer(ours, strict=True))


def make_pairs(tokenizer: Any, number: int, dice: np.random.Generator) -> list[SentencePair]:
    """Pairs of random words, as long as XNLI's; nothing has to be learned from them here."""
    words = words_of(tokenizer, dice)

    def sentences(mean: float, deviation: float) -> list[str]:
        scale = deviation**2 / mean
        lengths = np.rint(dice.gamma(mean / scale, scale, number)).astype(int).clip(1)
        return [" ".join(words[i] for i in dice.integers(0, len(words), n)) for n in lengths]

    labels = [XNLI.labels[i] for i in dice.integers(0, len(XNLI.labels), number)]
    return list(map(SentencePair, sentences(*PREMISE), sentences(*HYPOTHESIS), labels))


def words_of(tokenizer: Any, dice: np.random.Generator) -> list[str]:
    """Words that are one token each, so that a sentence has as many tokens as words."""
    some = dice.permutation(len(tokenizer))[:20_000].tolist()
    words = sorted(filter(str.isalpha, {tokenizer.decode([i]).strip() for i in some}))
    pieces = tokenizer(words, add_special_tokens=False)["input_ids"]
    return [word for word, ids in zip(words, pieces, strict=True) if len(ids) == 1]


def read_pairs(data: str, number: int, dice: np.random.Generator) -> list[SentencePair]:
    """English pairs of a folder in XTREME's layout: those to train on or, without, those of dev."""
    split = "train" if XNLI.reader.languages(data, "train", ["en"]) else "dev"
    pairs = list(XNLI.reader.read(data, split, "en"))
    assert len(pairs) >= number, f"{data} has {len(pairs)} pairs; {number} are needed."
    return [pairs[i] for i in dice.permutation(len(pairs))[:number]]


def compare_evaluation(both: Both, pairs: list[SentencePair]) -> dict:
    (encoded, lengths), rows = both.encode(pairs), both.rows(pairs)
    assert sum(map(sum, rows["attention_mask"])) == lengths.sum()
    trainer = both.trainer(rows)

    def ours() -> np.ndarray:
        return np.stack(predict(both.ours, encoded, both.tokenizer))

    def theirs() -> np.ndarray:
        return trainer.predict(rows).predictions

    # Both say the same; this has warmed them up, too.
    np.testing.assert_allclose(ours(), theirs(), atol=1e-3)
    ratio = interleaved(theirs, ours, both.options.rounds, warmup=0)
    groups = [
        lengths[group] for group in batch_by_length(lengths.tolist(), TOKENS_PER_BATCH["cpu"])
    ]
    costs = both.their_cost(lengths), Cost.of(groups, both.ours.shape)
    return report("evaluation", "pairs", len(pairs), ratio, costs)


def compare_training(both: Both, pairs: list[SentencePair]) -> dict:
    turn, (_, lengths) = both.options.batches, both.encode(pairs)
    groups = spread(lengths, turn)
    # In random order; sorted by themselves they are these very batches again.
    chosen = np.random.default_rng(0).permutation(np.concatenate(groups))
    some = [pairs[i] for i in chosen]
    # Ours first: Accelerate keeps one state a process, which each of them sets up anew.
    own = our_steps(both, some)
    advance(own, turn)
    others = their_steps(both.trainer(both.rows(some)))
    advance(others, turn)
    turns = partial(advance, others, turn), partial(advance, own, turn)
    ratio = interleaved(*turns, both.options.rounds, warmup=0)
    own.close()
    costs = both.their_cost(lengths[chosen]), Cost.of([lengths[i] for i in groups], both.ours.shape)
    result = report("training", "steps", turn, ratio, costs)
    epoch = Cost.of([lengths[i] for i in epoch_batches(lengths, BATCH, SEED, 0)], both.ours.shape)
    whole = both.their_cost(lengths).multiply_adds / epoch.multiply_adds
    print(f"  all {len(lengths) // BATCH} batches: padding {epoch.padding:.1%}, ideal {whole:.2f}×")
    return result | {"all_batches": {"padding": epoch.padding, "ideal_multiply_adds": whole}}


def spread(lengths: np.ndarray, number: int) -> list[np.ndarray]:
    """A few of an epoch's batches that stand for all, from short ones to long ones."""
    groups = sorted(
        epoch_batches(lengths, BATCH, SEED, epoch=0), key=lambda group: lengths[group].max()
    )
    # Those in the middle of each part would be 3 % less work than all are, in our favour.
    return [groups[int((i + 0.6) * len(groups) / number)] for i in range(number)]


def our_steps(both: Both, pairs: list[SentencePair]) -> Generator[StepReport, None, None]:
    """What `polyprune finetune` does, without a look at dev or a checkpoint on the way."""
    path, examples = both.work / "xnli" / "train-en.tsv", both.work / "examples.arrow"
    path.parent.mkdir()
    lines = (f"{pair.first}\t{pair.second}\t{pair.label}\n" for pair in pairs)
    path.write_text("".join(lines), encoding="utf-8")
    setup = FineTuneConfig(str(both.work / "start"), XNLI, str(both.work))
    encode_training(setup, examples)
    # The first epoch warms up; the last never runs, since its end would be saved.
    setting = Trial(RATE, 1 + both.options.rounds + 1, SEED, BATCH)
    saving = SavingConfig(every=NEVER, held_out_every=NEVER)
    planned = replace(finetuning_run(setup, setting, len(pairs)), saving=saving)
    yield from train_steps(planned, both.work / "run", material=TaskMaterial(setup, examples))


def their_steps(trainer: transformers.Trainer) -> Iterator[None]:
    """What `Trainer.train` does, a step at a time, without its callbacks, logs and counts."""
    loader = trainer.get_train_dataloader()
    trainer.create_optimizer()
    model, trainer.optimizer = trainer.accelerator.prepare(trainer.model, trainer.optimizer)
    scheduler = trainer.create_scheduler(NEVER)
    trainer.current_gradient_accumulation_steps = 1
    for epoch in count():
        loader.set_epoch(epoch)
        rows = iter(loader)
        for _ in range(len(loader)):
            (inputs,), items = trainer.get_batch_samples(rows, 1, trainer.args.device)
            trainer.training_step(model, inputs, items)
            trainer.accelerator.clip_grad_norm_(model.parameters(), trainer.args.max_grad_norm)
            trainer.optimizer.step()
            scheduler.step()
            model.zero_grad()
            yield


def advance(steps: Iterator, number: int) -> None:
    for _ in range(number):
        next(steps)


def report(what: str, unit: str, number: int, ratio: Ratio, costs: tuple[Cost, Cost]) -> dict:
    """Print and return a comparison; `number` and the costs are those of a turn."""
    theirs, ours = costs
    assert theirs.tokens == ours.tokens
    tokens, work = theirs.computed / ours.computed, theirs.multiply_adds / ours.multiply_adds
    rates = {
        f"{unit} a second": [number / seconds for seconds in ratio.seconds],
        "tokens a second": [ours.tokens / seconds for seconds in ratio.seconds],
        "padding %": [100 * theirs.padding, 100 * ours.padding],
    }
    print(f"\n{f'{what}, {number} {unit}':22} {'transformers':>11} {'polyprune':>11}   faster")
    print(f"{'':22} {ratio}")
    for name, (first, second) in rates.items():
        print(f"  {name:20} {first:11,.2f} {second:11,.2f}")
    print(f"  ideal: {tokens:.2f}× by tokens, {work:.2f}× by multiply–adds", flush=True)
    ideal = {"ideal_tokens": tokens, "ideal_multiply_adds": work}
    return {"what": what, unit: number, **vars(ratio), **rates, **ideal}


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", default="e5-small", help="a folder, a hub id or e5-small")
    parser.add_argument("--data", help="a folder in XTREME's layout; random words unless given")
    parser.add_argument("--padding", choices=("max", "longest"), default="max", help="theirs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=4, help="steps of a turn")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def main() -> None:
    options = read_options()
    torch.set_num_threads(options.threads)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as temporary:
        both = make_both(options, Path(temporary))
        read, source = (read_pairs, options.data) if options.data else (make_pairs, both.tokenizer)
        pairs = read(source, EVALUATED + EPOCH, np.random.default_rng(0))
        results = [
            compare_evaluation(both, pairs[:EVALUATED]),
            compare_training(both, pairs[EVALUATED:]),
        ]
    told = vars(options) | {"model": Path(options.model).name, "data": bool(options.data)}
    record("finetuning", [result | {"options": told} for result in results])


if __name__ == "__main__":
    main()
