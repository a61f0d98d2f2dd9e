"""What a cut left, as tables and sentences."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from ..corpora.languages import language
from ..model.network.components import Gates
from ..pruning.selection.audit import Audit
from ..pruning.subnetworks import by_family, hamming
from ..quantities import readable
from ..reporting.tables.table import Table
from .result import make_table


def size_table(audit: Audit) -> Table:
    """Return parameters, bytes and multiply–adds before and after."""
    rows = (
        ("parameters", audit.parameters_before, audit.parameters, ""),
        ("weights", audit.bytes_before, audit.bytes, "B"),
        ("multiply–adds", audit.multiply_adds_before, audit.multiply_adds, ""),
    )
    return make_table(
        ["", "before", "after", "kept"],
        [
            [what, readable(old, unit), readable(new, unit), f"{new / old:.1%}"]
            for what, old, new, unit in rows
        ],
    )


def describe_request(audit: Audit) -> str:
    """Say what was asked for, and what came out."""
    lost = f"the layers lost {audit.encoder_sparsity:.2%} of theirs."
    if audit.requested_sparsity is not None:
        asked = f"sparsity {audit.requested_sparsity:.2%}, got {audit.gate_sparsity:.2%}"
    elif audit.requested_parameters is not None:
        asked = f"{audit.requested_parameters:,} parameters, got {audit.parameters:,}"
    else:
        return f"The sparsity is {audit.gate_sparsity:.2%}; {lost}"
    return f"Asked for {asked}; {lost}"


def describe_layers(audit: Audit) -> Iterator[str]:
    """Say how many heads and units every layer has, and the rank of the words."""
    yield f"Heads by layer: {' '.join(map(str, audit.heads))}."
    yield f"Units by layer: {' '.join(map(str, audit.units))}. Rank: {audit.rank}."


def describe_differences(differences: Mapping[str, float]) -> str:
    """Say how exactly the smaller model computes what the gated one does."""
    worst = max(differences, key=differences.__getitem__)
    return (
        f"Largest difference to the gated model in {len(differences)} probes: "
        f"{differences[worst]:.1e} ({worst})."
    )


def describe_place(out: Path | None) -> Iterator[str]:
    """Say where something was written, if it was."""
    if out is not None:
        yield f"Written to {out}."


def language_table(audits: Mapping[str, Audit]) -> Table:
    """Return one row per language: the size of its subnetwork."""
    return make_table(
        ["language", "sparsity", "heads", "units", "rank", "parameters"],
        [
            [
                name,
                f"{audit.gate_sparsity:.2%}",
                sum(audit.heads),
                sum(audit.units),
                audit.rank,
                readable(audit.parameters),
            ]
            for name, audit in audits.items()
        ],
    )


def describe_kinship(gates: Gates, languages: list[str]) -> str:
    """Say how much the gates of languages differ, within families and between them."""
    kin, strangers = by_family(hamming(gates), [language(name) for name in languages])
    parts = [
        f"{share:.1%} between languages of {which}"
        for share, which in ((kin, "one family"), (strangers, "different ones"))
        if share is not None
    ]
    return f"Gates that differ: {', '.join(parts)}."
