"""What a card tells of losses, speed and exactness; what was not measured, and how it would be."""

from .card_facts import CardFacts, Compared
from .card_words import base_of, language
from .markdown import code, command, fenced, plain, table

NOTHING = "–"


def losses(facts: CardFacts) -> str:
    """The dense model beside this one, language by language."""
    head = "## What each language lost"
    if not facts.compared:
        retrieval = facts.readout in ("masked-lm", "hidden-states")
        task = "tatoeba" if retrieval else "TASK"
        asked = command("polyprune", "evaluate", base_of(facts), facts.name, "--task", task)
        told = command("polyprune", "report", "scores.json", "--card", facts.name)
        lines = f"{asked} --data XTREME --json > scores.json\n{told}"
        how = "**Not measured yet.** These measure it, and put it here:"
        return f"{head}\n\n{how}\n\n{fenced(lines, 'sh')}"
    return "\n\n".join([head, *(_compared(facts, each) for each in facts.compared)])


def _compared(facts: CardFacts, each: Compared) -> str:
    rows = [[language(facts, c), *_three(*pair)] for c, pair in sorted(each.languages.items())]
    rows.append(["**mean**", *_three(*each.mean)])
    head = ["language", "dense", "this model", "difference"]
    return f"### {plain(each.title)}\n\n{plain(each.metric)}, in percent\n\n{table(head, rows)}"


def _three(dense: float | None, own: float | None) -> list[str]:
    shown = [NOTHING if value is None else f"{value:.1f}" for value in (dense, own)]
    lost = None if dense is None or own is None else own - dense
    return [*shown, NOTHING if lost is None else f"{lost:+.1f}"]


def speed(facts: CardFacts) -> str:
    """How many times as fast as the original."""
    found = facts.speed
    if found is None:
        asked = command("polyprune", "measure", base_of(facts), facts.name, "--speed", "--json")
        told = command("polyprune", "report", "speed.json", "--card", facts.name)
        lines = fenced(f"{asked} > speed.json\n{told}", "sh")
        how = "**Not measured yet.** These measure it on your machine, and put it here:"
        return f"## Speed\n\n{how}\n\n{lines}"
    known = found.low is not None and found.high is not None
    between = f" (95 % interval {found.low:.2f} to {found.high:.2f})" if known else ""
    where = f" on {plain(found.where)}" if found.where else ""
    return (
        f"## Speed\n\n**{found.faster:.2f} times as fast** as the original{between}{where}, both "
        "measured in turns. On other machines it is another number."
    )


def certificate(facts: CardFacts) -> str:
    """How exactly this is what was cut, and what `polyprune check` looks at."""
    check = code(command("polyprune", "check", facts.name))
    hashes = (
        f"{check} compares every file with its hash in `certificate.json`, and the weights with "
        "`config.json`."
    )
    if not facts.differences:
        return f"## Certificate\n\n{hashes}"
    worst = max(facts.differences, key=lambda name: facts.differences[name])
    compared = (
        "The original and this folder with all gates open"
        if facts.gating
        else "The original with these gates and the model that was cut"
    )
    rows = [[language(facts, c), f"{d:.1e}"] for c, d in sorted(facts.differences.items())]
    return (
        f"## Certificate\n\n{compared} read the same sentences when this was written. Their "
        f"outputs differ by at most {facts.differences[worst]:.1e} ({language(facts, worst)}): "
        "cutting loses what was cut and nothing else.\n\n"
        "<details><summary>Largest difference in each language</summary>\n\n"
        f"{table(['language', 'difference'], rows)}\n\n</details>\n\n{hashes}"
    )
