"""What a card tells of losses, speed and exactness; what was not measured, and how it would be."""

from .card_facts import CardFacts, TaskComparison
from .card_words import base_of, language
from .markdown import code, command, fenced, plain, table

NOTHING = "–"
NOT_YET = "**Not measured yet.**"


def losses(facts: CardFacts) -> str:
    """The dense model beside this one, language by language."""
    head = "## What each language lost"
    if not facts.compared:
        how = "These measure it, and its speed, and put them here:"
        return f"{head}\n\n{NOT_YET} {how}\n\n{_how(facts)}"
    return "\n\n".join([head, *(_compared(facts, each) for each in facts.compared)])


def _how(facts: CardFacts) -> str:
    """Commands that measure all of it and fill the card: with a part alone the rest would go."""
    retrieval = facts.readout in ("masked-lm", "hidden-states")
    task = "tatoeba" if retrieval else "TASK"
    asked = command("polyprune", "evaluate", base_of(facts), facts.name, "--task", task)
    timed = command("polyprune", "measure", base_of(facts), facts.name, "--speed", "--json")
    told = command("polyprune", "report", "scores.json", "speed.json", "--card", facts.name)
    lines = f"{asked} --data XTREME --json > scores.json\n{timed} > speed.json\n{told}"
    return fenced(lines, "sh")


def _compared(facts: CardFacts, each: TaskComparison) -> str:
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
        how = f"These measure it on your machine, and put it here:\n\n{_how(facts)}"
        above = "What measures the losses above measures it too, on your machine."
        return f"## Speed\n\n{NOT_YET} {how if facts.compared else above}"
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
