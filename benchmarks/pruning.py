"""Scores against a training step, and the gates of a hundred languages: `make bench`.

Goals: importance of all 37,776 components of XLM-R base in at most 0.9 of a plain training step on
the same batch; gates, penalties and their gradients for (100, 37,776) in at most 0.5 s a step.
"""

import os

import torch
from encoder import XLM_R_BASE
from timing import clock, interleaved, record
from transformers import XLMRobertaConfig, logging

import polyprune as pp
from polyprune import ComponentWeights
from polyprune.parts import (
    TENTHS,
    DynamicGating,
    Gating,
    LearnedGating,
    PolypruneForMaskedLM,
    boundaries,
    component_counts,
    diversity,
    family_prior,
    known_languages,
    masked_lm_loss,
    our_config,
    random_scores,
    sparsity_constraint,
)

EXAMPLES, TOKENS = 16, 64


def main() -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    logging.disable_progress_bar()
    torch.manual_seed(0)
    model = xlm_r_base()
    shape = model.shape
    results = importance_results(model)
    del model
    counts, weights = component_counts(shape), ComponentWeights.of(shape)
    start = boundaries(random_scores(shape), weights, grid=TENTHS)
    start = tuple(part.map(lambda x: x.expand(100, -1).clone()) for part in start)
    for name, gating in (
        ("learned", LearnedGating(counts, rows=100)),
        ("learned dynamic", DynamicGating(*start, learned=True, least_share=0.1)),
    ):
        results.append(bank_result(name, gating, torch.cat(weights.spread(counts).leaves())))
    record("pruning", results)


def xlm_r_base() -> PolypruneForMaskedLM:
    """Random weights, its word table split into Ê and P so that ranks are components too."""
    model = PolypruneForMaskedLM(our_config(XLMRobertaConfig(**XLM_R_BASE), "masked-lm", False))
    return pp.factorize(model)


def importance_results(model: PolypruneForMaskedLM) -> list[dict]:
    """Scoring a batch against training on it, with and without the optimizer's own work."""
    print(f"{EXAMPLES} × {TOKENS:<27} {'step':>11} {'importance':>11}   faster")
    batch, results = masked_batch(EXAMPLES, TOKENS), []
    for what, step, rounds in steps(model, batch):
        ratio = interleaved(step, lambda: pp.importance(model, [batch]), rounds, warmup=1)
        print(f"{what:32} {ratio}   costs {1 / ratio.ratio:.2f} of it", flush=True)
        results.append({"what": "importance", "against": what, **vars(ratio)})
    return results


def masked_batch(examples: int, tokens: int) -> dict[str, torch.Tensor]:
    ids = torch.randint(5, 250_000, (examples, tokens))
    labels = ids.where(torch.rand(ids.shape) < 0.15, -100)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": labels}


def steps(model: PolypruneForMaskedLM, batch: dict) -> list[tuple]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-9)

    def plain() -> None:
        """What a user's own loop does: all logits, all gradients, one update."""
        model.train()
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    def lean() -> None:
        """The least a step can do: logits of masked words alone, and no update."""
        model.train()
        masked_lm_loss(model, batch, pp.open_gates(model.shape)).mean().backward()
        model.zero_grad(set_to_none=True)

    # A plain step takes twenty seconds on two cores: all its logits and its update are slow.
    return [("plain step", plain, 4), ("lean step, no update", lean, 8)]


def bank_result(name: str, gating: Gating, weights: torch.Tensor) -> dict:
    """One step over the gates of all languages: sample, penalties, gradients."""
    prior = family_prior(list(known_languages().values()))
    noise = torch.rand(100, len(weights))

    def step() -> None:
        gates = gating.flat(0.5, noise)
        expected = gating.expected_open(0.5)
        loss = 128 * sparsity_constraint(expected, weights.float(), 0.5) + diversity(gates, prior)
        (loss + gates.mean()).backward()
        gating.zero_grad(set_to_none=True)

    step()
    seconds = sorted(clock(step) for _ in range(10))[5]
    print(f"gates of 100 languages, {name:16} {seconds:.2f} s a step")
    return {"what": "bank", "gating": name, "rows": 100, "seconds": seconds}


if __name__ == "__main__":
    main()
