"""What a cut left, for people."""

from collections.abc import Iterable

import typer

from ...quantities import readable
from ..terminal import show_table


def show_sizes(rows: Iterable[tuple[str, int, int, str]]) -> None:
    """A table of what, before, after and unit."""
    show_table(
        ["", "before", "after", "kept"],
        [
            [what, readable(old, unit), readable(new, unit), f"{new / old:.1%}"]
            for what, old, new, unit in rows
        ],
    )


def show_differences(differences: dict[str, float], out) -> None:
    """How exactly the folder computes what the gated model did."""
    worst = max(differences, key=differences.__getitem__)
    typer.echo(
        f"Largest difference to the gated model in {len(differences)} probes: "
        f"{differences[worst]:.1e} ({worst}). Written to {out}."
    )


def show_report(report) -> None:
    """One model, or an elastic folder and the subnetworks of its languages."""
    if len(report.audits) == 1:
        _show_audit(*report.audits.values())
    elif report.audits:
        _show_languages(report)
    if report.elastic:
        typer.echo(
            f"Every size for {', '.join(report.languages)} is in {report.out}. Take one out: "
            f"polyprune shrink {report.out} --sparsity 0.5 --out small"
        )
    else:
        show_differences(report.differences, report.out)


def _show_audit(audit) -> None:
    show_sizes(
        [
            ("parameters", audit.parameters_before, audit.parameters, ""),
            ("weights", audit.bytes_before, audit.bytes, "B"),
            ("multiply–adds", audit.multiply_adds_before, audit.multiply_adds, ""),
        ]
    )
    show_asked(audit)
    typer.echo(f"Heads by layer: {' '.join(map(str, audit.heads))}.")
    typer.echo(f"Units by layer: {' '.join(map(str, audit.units))}. Rank: {audit.rank}.\n")


def show_asked(audit) -> None:
    """What was asked for, and what came out."""
    lost = f"the layers lost {audit.encoder_sparsity:.2%} of theirs."
    if audit.requested_sparsity is not None:
        asked = f"sparsity {audit.requested_sparsity:.2%}, got {audit.gate_sparsity:.2%}"
    elif audit.requested_parameters is not None:
        asked = f"{audit.requested_parameters:,} parameters, got {audit.parameters:,}"
    else:
        typer.echo(f"The sparsity is {audit.gate_sparsity:.2%}; {lost}")
        return
    typer.echo(f"Asked for {asked}; {lost}")


def _show_languages(report) -> None:
    from ...corpora.languages import language
    from ...pruning.subnetworks import by_family, hamming

    show_table(
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
            for name, audit in report.audits.items()
        ],
    )
    known = [language(name) for name in report.audits]
    kin, strangers = by_family(hamming(report.gates), known)
    parts = [
        f"{share:.1%} between languages of {which}"
        for share, which in ((kin, "one family"), (strangers, "different ones"))
        if share is not None
    ]
    typer.echo(f"Gates that differ: {', '.join(parts)}.\n")
