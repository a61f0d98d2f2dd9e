"""What a cut left, as tables and sentences."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from ..corpora.languages import language
from ..model.footprint import footprint_of
from ..model.network.components import Gates
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..pruning.selection.audit import Audit
from ..pruning.subnetworks import by_family, hamming
from ..quantities import readable
from ..reporting.tables.table import Table
from .result import make_table, wrapped

WORDY = 0.5
"""The share of words in what is left from which on they are what keeps a model large."""

BINDING = {
    ("sparsity",): "What binds is the sparsity: it is smaller than it had to be.",
    ("parameters",): "What binds is the size: more went than the sparsity asks for.",
    ("sparsity", "parameters"): "Sparsity and size both bind.",
}
"""Which of two limits decided."""


def size_table(audit: Audit, seconds: tuple[float, float] | None = None) -> Table:
    """Return parameters, bytes, multiply–adds and measured seconds, before and after."""
    rows = [
        ("parameters", audit.parameters_before, audit.parameters, ""),
        ("file of weights", audit.bytes_before, audit.bytes, "B"),
        ("multiply–adds", audit.multiply_adds_before, audit.multiply_adds, ""),
    ]
    cells = [
        [what, readable(old, unit), readable(new, unit), f"{new / old:.1%}"]
        for what, old, new, unit in rows
    ]
    if seconds is not None:
        times = (f"{1e3 * each:.3g} ms" for each in seconds)
        cells.append(["measured time", *times, f"{seconds[1] / seconds[0]:.1%}"])
    return make_table(["size", "before", "after", "kept"], cells)


def describe_request(audit: Audit, binds: tuple[str, ...] = ()) -> str:
    """Say what was asked for, what came out, and which of two limits decided."""
    lost = f"the layers lost {audit.encoder_sparsity:.2%} of theirs."
    limits = []
    if audit.requested_sparsity is not None:
        asked, got = f"{audit.requested_sparsity:.2%}", f"{audit.gate_sparsity:.2%}"
        limits.append(f"sparsity {asked}, got {got}")
    if audit.requested_parameters is not None:
        asked, got = f"{audit.requested_parameters:,}", f"{audit.parameters:,}"
        limits.append(f"{asked} parameters, got {got}")
    if not limits:
        return f"The sparsity is {audit.gate_sparsity:.2%}; {lost}"
    told = f"Asked for {' and for '.join(limits)}; {lost}"
    if len(limits) == 2:
        told += " " + BINDING.get(binds, "Neither binds: no component had to go.")
    return told


def describe_smaller(model: PolyprunePreTrainedModel, audit: Audit) -> Iterator[str]:
    """Say why a file is hardly smaller although much was cut, and what would make it smaller."""
    words = footprint_of(model.config, model.readout_kind).embedding_parameters / audit.parameters
    kept = audit.bytes / audit.bytes_before
    if words < WORDY or kept <= audit.density:
        return
    half = max(1, audit.bytes // 2_000_000)
    budget = "" if audit.requested_parameters else f"`size={half}MB` cuts their rank too; "
    yield wrapped(
        f"The file keeps {kept:.0%}, as {words:.0%} of what is left are words, which a sparsity "
        f"hardly counts: {budget}polyprune export in fp16 halves the file, in int8 it is a quarter."
    )


def describe_layers(audit: Audit) -> Iterator[str]:
    """Say how many heads and units every layer has, and the rank of the words."""
    yield f"Heads by layer: {' '.join(map(str, audit.heads))}."
    yield f"Units by layer: {' '.join(map(str, audit.units))}. Rank: {audit.rank}."


def describe_differences(differences: Mapping[str, float]) -> str:
    """Say how exactly the smaller model computes what the gated one does: that is no quality."""
    worst = max(differences, key=differences.__getitem__)
    return wrapped(
        f"Cutting was exact: in {len(differences)} probes, what the model computes and what its "
        f"gates computed differ by {differences[worst]:.1e} at most ({worst})."
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
